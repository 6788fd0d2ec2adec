// The .cube file format for 3D colour tables (Adobe's Cube LUT Specification 1.0, and Resolve's variant of it).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/color/lut3d.h"

namespace framelane {

/** A 3D table as the file states it. */
struct CubeLut {
  int size = 0;  ///< grid points along each axis, 2..256
  std::array<float, 3> domain_min{0, 0, 0};
  std::array<float, 3> domain_max{1, 1, 1};
  std::vector<LutEntry> entries;  ///< size^3, red varying fastest, then green
};

/** Parses a .cube file's text: TITLE, LUT_3D_SIZE, DOMAIN_MIN, DOMAIN_MAX, LUT_3D_INPUT_RANGE, # comments, blank
 *  lines, any line ends; other keywords in capitals are skipped. Throws UsageError that names `name`, the line and
 *  what is wrong with it. */
CubeLut parse_cube(std::string_view text, const std::string& name);

/** Reads and parses the file at `path`; throws UsageError. */
CubeLut read_cube_file(const std::string& path);

}  // namespace framelane
