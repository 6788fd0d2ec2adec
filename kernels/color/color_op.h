// One operation of a colour program: what the colour filters append and what the fused pass interprets, for each
// pixel in registers, on the CPU and in a CUDA kernel. A new colour filter adds its operation here.
#pragma once

#include "kernels/color/color_math.h"
#include "kernels/color/eq.h"
#include "kernels/color/lut3d.h"
#include "kernels/color/negate.h"
#include "kernels/filter.h"

namespace framelane {

enum class ColorOpKind : std::uint8_t {
  // plane-wise, in codes: a plane's new code depends on its old code alone
  kEq,
  kNegate,
  // in rgb
  kSaturation,
  kLut3d,
  // between the two, put in by compile_color_program
  kYuvToRgb,
  kRgbToYuv,
  kGrayToRgb,
  kRgbToGray,
  kGbrToRgb,
  kRgbToGbr,
};

/** An operation with its parameters; plain memory that a kernel reads as it is. */
struct ColorOp {
  ColorOp(const EqOp& op) : kind(ColorOpKind::kEq), eq(op) {}                          // NOLINT: converts by intent
  ColorOp(const NegateOp& op) : kind(ColorOpKind::kNegate), negate(op) {}              // NOLINT
  ColorOp(const SaturationOp& op) : kind(ColorOpKind::kSaturation), saturation(op) {}  // NOLINT
  ColorOp(const Lut3dOp& op) : kind(ColorOpKind::kLut3d), lut3d(op) {}                 // NOLINT
  ColorOp(ColorOpKind direction, const YuvConversion& conversion) : kind(direction), yuv(conversion) {}
  ColorOp(ColorOpKind direction, const GbrConversion& conversion) : kind(direction), gbr(conversion) {}

  ColorOpKind kind;
  union {
    EqOp eq;
    NegateOp negate;
    SaturationOp saturation;
    Lut3dOp lut3d;
    YuvConversion yuv;
    GbrConversion gbr;
  };
};

/** True where one plane's result depends on that plane alone: such operations fold into tables. */
constexpr bool is_plane_wise(ColorOpKind kind) { return kind == ColorOpKind::kEq || kind == ColorOpKind::kNegate; }

constexpr WorkingSpace working_space(ColorOpKind kind) {
  return is_plane_wise(kind) ? WorkingSpace::kCodes : WorkingSpace::kRgb;
}

/** One code through a plane-wise operation. */
FRAMELANE_HOST_DEVICE inline float apply_to_component(const ColorOp& op, int component, float code) {
  return op.kind == ColorOpKind::kEq ? apply_to_component(op.eq, component, code)
                                     : apply_to_component(op.negate, component, code);
}

/** Neighbouring pixels through any operation. The switch is outside the loops over pixels, and all threads of a warp
 *  take the same branch. */
template <int kPixels>
FRAMELANE_HOST_DEVICE void apply_to_pixels(const ColorOp& op, Pixels<kPixels>& pixels) {
  switch (op.kind) {
    case ColorOpKind::kEq:
    case ColorOpKind::kNegate:
      FRAMELANE_UNROLL
      for (int c = 0; c < 3; ++c) {
        FRAMELANE_UNROLL
        for (int i = 0; i < kPixels; ++i) {
          pixels.component[c][i] = apply_to_component(op, c, pixels.component[c][i]);
        }
      }
      break;
    case ColorOpKind::kSaturation:
      apply_to_pixels(op.saturation, pixels);
      break;
    case ColorOpKind::kLut3d:
      apply_to_pixels(op.lut3d, pixels);
      break;
    case ColorOpKind::kYuvToRgb:
      yuv_to_rgb(op.yuv, pixels);
      break;
    case ColorOpKind::kRgbToYuv:
      rgb_to_yuv(op.yuv, pixels);
      break;
    case ColorOpKind::kGrayToRgb:
      gray_to_rgb(op.yuv, pixels);
      break;
    case ColorOpKind::kRgbToGray:
      rgb_to_gray(op.yuv, pixels);
      break;
    case ColorOpKind::kGbrToRgb:
      gbr_to_rgb(op.gbr, pixels);
      break;
    case ColorOpKind::kRgbToGbr:
      rgb_to_gbr(op.gbr, pixels);
      break;
  }
}

}  // namespace framelane
