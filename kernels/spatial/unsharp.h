// unsharp: what its CPU and CUDA halves share.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/filter.h"

namespace framelane {

/** How one plane is sharpened. The blur's weights along an axis are the binomial coefficients of order 2 * radius. */
struct PlaneSharpening {
  int row_radius = 0;  ///< 1 to 11
  int column_radius = 0;
  int amount_q16 = 0;  ///< times 65536; negative blurs; 0: the plane is copied

  /** The blurred sample is an integer sum shifted right by this. */
  constexpr int sum_bits() const { return 2 * (row_radius + column_radius); }
  /** Whether such sums of `depth_bits` codes, scaled to the codes' own range, are exact in float (24 bits). */
  constexpr bool is_exact_in_float(int depth_bits) const { return depth_bits + sum_bits() <= 24; }
};

using FrameSharpening = std::array<PlaneSharpening, kMaxPlanes>;

/** Row 2 * radius of Pascal's triangle, whose sum is 4^radius; {1} for radius 0. */
inline std::vector<std::uint32_t> binomial_coefficients(int radius) {
  std::vector<std::uint32_t> row{1};
  for (int order = 0; order < 2 * radius; ++order) {
    row.push_back(1);
    for (std::size_t i = row.size() - 2; i > 0; --i) row[i] += row[i - 1];
  }
  return row;
}

/** unsharp on CUDA for frames of `format`. Edge samples are replicated. */
std::unique_ptr<CompiledFilter> compile_unsharp_cuda(const FrameFormat& format, const FrameSharpening& planes);

}  // namespace framelane
