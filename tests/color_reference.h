// The colour filters once more, in float64 and written apart from kernels/: what the tests compare with.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/plane_fixture.h"

namespace framelane::testing {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<Vector3, 3>;

/** Changes one pixel's codes, Y,U,V or G,B,R, real-valued and not cut to their range. */
using ReferenceOp = std::function<void(Vector3& codes, const FrameFormat& format)>;

/** By plane, row by row: what the codes are before rounding. */
using ReferencePlanes = std::vector<std::vector<double>>;

inline Vector3 multiply(const Matrix3& m, const Vector3& v) {
  Vector3 out{};
  for (int i = 0; i < 3; ++i) out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return out;
}

inline Matrix3 inverse(const Matrix3& m) {
  const auto minor_of = [&](int r, int c) {
    const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
    return m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
  };
  const double determinant = m[0][0] * minor_of(0, 0) + m[0][1] * minor_of(0, 1) + m[0][2] * minor_of(0, 2);
  Matrix3 out{};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) out[c][r] = minor_of(r, c) / determinant;
  }
  return out;
}

/** R'G'B' to Y'PbPr by the constants as the standards print them. */
inline Matrix3 rgb_to_ypbpr(ColorMatrix matrix) {
  double kr = 0;
  double kb = 0;
  switch (matrix) {
    case ColorMatrix::kBt601:
      kr = 0.299, kb = 0.114;
      break;  // BT.601-7, 2.5.1
    case ColorMatrix::kBt709:
      kr = 0.2126, kb = 0.0722;
      break;  // BT.709-6, 3.2
    case ColorMatrix::kBt2020:
      kr = 0.2627, kb = 0.0593;
      break;  // BT.2020-2, table 4
    case ColorMatrix::kSmpte240m:
      kr = 0.212, kb = 0.087;
      break;
    case ColorMatrix::kFcc:
      kr = 0.30, kb = 0.11;
      break;
  }
  const double kg = 1 - kr - kb;
  return {Vector3{kr, kg, kb}, Vector3{-kr / (2 * (1 - kb)), -kg / (2 * (1 - kb)), 0.5},
          Vector3{0.5, -kg / (2 * (1 - kr)), -kb / (2 * (1 - kr))}};
}

/** Offsets and lengths of the codes' ranges (ITU-T H.273): Y, then U and V. */
struct ReferenceScale {
  Vector3 offset;
  Vector3 length;
};

inline ReferenceScale reference_scale(const FrameFormat& format) {
  const double max_code = std::pow(2, format.pixel.depth_bits) - 1;
  const double unit = std::pow(2, format.pixel.depth_bits - 8);
  if (format.range == ColorRange::kFull) return {{0, 128 * unit, 128 * unit}, {max_code, max_code, max_code}};
  return {{16 * unit, 128 * unit, 128 * unit}, {219 * unit, 224 * unit, 224 * unit}};
}

inline Vector3 reference_to_rgb(const Vector3& codes, const FrameFormat& format) {
  const double max_code = format.pixel.max_code();
  if (format.pixel.model == ColorModel::kGbr) return {codes[2] / max_code, codes[0] / max_code, codes[1] / max_code};
  const ReferenceScale scale = reference_scale(format);
  Vector3 ypbpr{};
  for (int i = 0; i < 3; ++i) ypbpr[i] = (codes[i] - scale.offset[i]) / scale.length[i];
  return multiply(inverse(rgb_to_ypbpr(format.matrix)), ypbpr);
}

inline Vector3 reference_from_rgb(const Vector3& rgb, const FrameFormat& format) {
  const double max_code = format.pixel.max_code();
  if (format.pixel.model == ColorModel::kGbr) return {rgb[1] * max_code, rgb[2] * max_code, rgb[0] * max_code};
  const ReferenceScale scale = reference_scale(format);
  Vector3 codes = multiply(rgb_to_ypbpr(format.matrix), rgb);
  for (int i = 0; i < 3; ++i) codes[i] = codes[i] * scale.length[i] + scale.offset[i];
  return codes;
}

/** `change` on R'G'B'. */
inline ReferenceOp on_rgb(std::function<Vector3(const Vector3&)> change) {
  return [change = std::move(change)](Vector3& codes, const FrameFormat& format) {
    codes = reference_from_rgb(change(reference_to_rgb(codes, format)), format);
  };
}

/** eq's parameters with their defaults. */
struct EqReference {
  double contrast = 1, brightness = 0, saturation = 1, gamma = 1, gamma_r = 1, gamma_g = 1, gamma_b = 1, weight = 1;

  /** ffmpeg's curve (its documentation and its output at 8 bits), v in 0..1. */
  static double curve(double v, double c, double b, double g, double w) {
    v = c * (v - 0.5) + 0.5 + b;
    if (v <= 0) return 0;
    if (v >= 1) return 1;
    return v * (1 - w) + std::pow(v, 1 / g) * w;
  }

  ReferenceOp op() const {
    return [*this](Vector3& codes, const FrameFormat& format) {
      const double max_code = format.pixel.max_code();
      const bool gbr = format.pixel.model == ColorModel::kGbr;
      const Vector3 part{gamma_g, gamma_b, gamma_r};
      for (int i = 0; i < 3; ++i) {
        const bool luma_like = gbr || i == 0;
        const double g = luma_like ? gamma * part[i] : std::sqrt(part[i] / gamma_g);
        codes[i] = max_code *
                   curve(codes[i] / max_code, luma_like ? contrast : saturation, luma_like ? brightness : 0, g, weight);
      }
      if (!gbr) return;
      const Vector3 row = rgb_to_ypbpr(format.matrix)[0];
      const double luma = row[0] * codes[2] + row[1] * codes[0] + row[2] * codes[1];
      for (double& code : codes) code = luma + saturation * (code - luma);
    };
  }
};

inline ReferenceOp negate_reference() {
  return [](Vector3& codes, const FrameFormat& format) {
    for (double& code : codes) code = format.pixel.max_code() - code;
  };
}

/** A 3D table and its look-up. */
class CubeReference {
 public:
  CubeReference(int size, const std::function<Vector3(const Vector3&)>& formula, double domain_min = 0,
                double domain_max = 1)
      : size_(size), min_(domain_min), max_(domain_max) {
    for (int b = 0; b < size; ++b) {
      for (int g = 0; g < size; ++g) {
        for (int r = 0; r < size; ++r) entries_.push_back(formula({at(r), at(g), at(b)}));
      }
    }
  }

  void write(std::ostream& file) const {
    file << "LUT_3D_SIZE " << size_ << std::setprecision(9) << "\nDOMAIN_MIN " << min_ << ' ' << min_ << ' ' << min_
         << "\nDOMAIN_MAX " << max_ << ' ' << max_ << ' ' << max_ << '\n';
    for (const Vector3& entry : entries_) file << entry[0] << ' ' << entry[1] << ' ' << entry[2] << '\n';
  }

  /** `interp` is the parameter of lut3d. Colours out of 0..1 go on along the table's slope, as lut3d.h defines. */
  ReferenceOp op(const std::string& interp) const {
    return on_rgb([*this, interp](const Vector3& rgb) {
      Vector3 surface{};
      Vector3 inside{};
      for (int i = 0; i < 3; ++i) {
        surface[i] = std::clamp(rgb[i], std::min(0.0, min_), std::max(1.0, max_));
        inside[i] = surface[i] - (rgb[i] - surface[i]) / 2;
      }
      const Vector3 here = look_up(surface, interp);
      const Vector3 behind = look_up(inside, interp);
      return Vector3{3 * here[0] - 2 * behind[0], 3 * here[1] - 2 * behind[1], 3 * here[2] - 2 * behind[2]};
    });
  }

 private:
  double at(int index) const { return min_ + (max_ - min_) * index / (size_ - 1); }
  const Vector3& entry(const std::array<int, 3>& i) const { return entries_[i[0] + size_ * (i[1] + size_ * i[2])]; }

  Vector3 look_up(const Vector3& rgb, const std::string& interp) const {
    std::array<int, 3> cell{};
    Vector3 f{};
    for (int i = 0; i < 3; ++i) {
      const double x = (std::clamp(rgb[i], min_, max_) - min_) / (max_ - min_) * (size_ - 1);
      cell[i] = std::min(static_cast<int>(x), size_ - 2);
      f[i] = x - cell[i];
    }
    if (interp == "nearest") return entry({cell[0] + (f[0] >= .5), cell[1] + (f[1] >= .5), cell[2] + (f[2] >= .5)});
    if (interp == "trilinear") return trilinear(cell, f);
    return tetrahedral(cell, f);
  }

  /** Along one axis after the other. */
  Vector3 trilinear(std::array<int, 3> cell, const Vector3& f, int axis = 0) const {
    if (axis == 3) return entry(cell);
    const Vector3 low = trilinear(cell, f, axis + 1);
    ++cell[axis];
    const Vector3 high = trilinear(cell, f, axis + 1);
    Vector3 out{};
    for (int i = 0; i < 3; ++i) out[i] = low[i] + (high[i] - low[i]) * f[axis];
    return out;
  }

  /** From the cell's first corner along the axes in the order of their fractions. */
  Vector3 tetrahedral(std::array<int, 3> cell, const Vector3& f) const {
    std::array<int, 3> order{0, 1, 2};
    std::ranges::stable_sort(order, [&](int a, int b) { return f[a] > f[b]; });
    Vector3 out = entry(cell);
    for (const int axis : order) {
      const Vector3 from = entry(cell);
      ++cell[axis];
      for (int i = 0; i < 3; ++i) out[i] += (entry(cell)[i] - from[i]) * f[axis];
    }
    return out;
  }

  int size_;
  double min_;
  double max_;
  std::vector<Vector3> entries_;
};

/** A file in the temporary folder that goes with its owner. */
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    std::string name = (std::filesystem::temp_directory_path() / "framelane-XXXXXX.cube").string();
    const int descriptor = mkstemps(name.data(), 5);
    if (descriptor < 0) throw std::runtime_error("cannot make the file " + name);
    close(descriptor);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  explicit TemporaryFile(const CubeReference& cube) : TemporaryFile(text(cube)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  static std::string text(const CubeReference& cube) {
    std::ostringstream out;
    cube.write(out);
    return out.str();
  }
  std::string path_;
};

/** Smooth, mixes all three components, steepest slope about 2. */
inline Vector3 twisted_look(const Vector3& c) {
  return {0.1 + 0.8 * std::pow(c[0], 1.3) - 0.1 * c[1], 0.5 * c[1] + 0.3 * c[0] * c[2] + 0.1,
          0.9 - 0.7 * c[2] * c[2] + 0.1 * c[0]};
}

inline Vector3 unchanged_look(const Vector3& c) { return c; }

/** Each luma sample of a chroma sample's block takes that chroma through all operations; the block's results' mean is
 *  its new chroma. Gray is a pixel without colour before and after each operation. Alpha is copied. */
inline ReferencePlanes run_reference(const HostFrame& src, const std::vector<ReferenceOp>& ops) {
  const FrameFormat& format = src.format();
  const bool gray = format.pixel.model == ColorModel::kGray;
  const double centre = std::pow(2, format.pixel.depth_bits - 1);
  const int shift_x = format.pixel.is_chroma(1) ? format.pixel.chroma_shift_x : 0;
  const int shift_y = format.pixel.is_chroma(1) ? format.pixel.chroma_shift_y : 0;
  ReferencePlanes out;
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    const std::vector<int> codes = src.plane(plane);
    out.emplace_back(codes.begin(), codes.end());
  }
  std::vector<std::array<double, 3>> sums(gray ? 0 : out[1].size());
  for (int y = 0; y < format.height; ++y) {
    for (int x = 0; x < format.width; ++x) {
      Vector3 codes{static_cast<double>(src.sample(0, x, y)), centre, centre};
      for (int plane = 1; plane < 3 && !gray; ++plane) codes[plane] = src.sample(plane, x >> shift_x, y >> shift_y);
      for (const ReferenceOp& op : ops) {
        op(codes, format);
        if (gray) codes[1] = codes[2] = centre;
      }
      out[0][static_cast<std::size_t>(y) * format.width + x] = codes[0];
      if (gray) continue;
      auto& sum = sums[static_cast<std::size_t>(y >> shift_y) * format.plane_width(1) + (x >> shift_x)];
      sum = {sum[0] + codes[1], sum[1] + codes[2], sum[2] + 1};
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    out[1][i] = sums[i][0] / sums[i][2];
    out[2][i] = sums[i][1] / sums[i][2];
  }
  return out;
}

/** The largest distance of a frame's codes from the reference, cut to the range of codes. Right rounding keeps it
 *  within 0.5. */
inline double worst_distance(const HostFrame& actual, const ReferencePlanes& expected) {
  const double max_code = actual.format().pixel.max_code();
  double worst = 0;
  for (int plane = 0; plane < actual.format().pixel.plane_count(); ++plane) {
    const std::vector<int> codes = actual.plane(plane);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      worst = std::max(worst, std::abs(codes[i] - std::clamp(expected[plane][i], 0.0, max_code)));
    }
  }
  return worst;
}

/** What worst_distance() may be: rounding, and float32's error, which at 16 bits moves a few results over the edge
 *  between two codes (`steepness`: how much the operations stretch it). */
inline double rounding_bound(const FrameFormat& format, double steepness = 1) {
  return 0.5 + 1e-6 * steepness * format.pixel.max_code();
}

}  // namespace framelane::testing
