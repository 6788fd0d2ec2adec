// eq's arithmetic, one source for CPU and CUDA.
#pragma once

#include <cmath>

#include "kernels/color/color_math.h"

namespace framelane {

/** One plane's curve over v = code / max_code: v = contrast (v - 1/2) + 1/2 + brightness, cut to 0..1, then
 *  gamma_weight v^(1/gamma) + (1 - gamma_weight) v. */
struct EqCurve {
  float contrast;
  float brightness;
  float inverse_gamma;
  float gamma_weight;
};

/** Plane-wise, in codes; leaves alpha alone. */
struct EqOp {
  EqCurve curve[3];  ///< Y,U,V or G,B,R
  float max_code;
};

FRAMELANE_HOST_DEVICE inline float apply_to_component(const EqOp& op, int component, float code) {
  if (component == kAlphaComponent) return code;
  const EqCurve& curve = op.curve[component];
  const float stretched = curve.contrast * (code / op.max_code - 0.5F) + 0.5F + curve.brightness;
  const float v = clamped(stretched, 0.0F, 1.0F);
  if (curve.inverse_gamma == 1.0F) return v * op.max_code;
  const float bent = powf(v, curve.inverse_gamma);
  return (v + curve.gamma_weight * (bent - v)) * op.max_code;
}

/** eq's saturation where there are no chroma planes to stretch, in rgb: each component's distance from luma is
 *  multiplied, which is what the contrast of U and V does in YUV. */
struct SaturationOp {
  float saturation;
  float kr;
  float kg;
  float kb;
};

template <int kPixels>
FRAMELANE_HOST_DEVICE void apply_to_pixels(const SaturationOp& op, Pixels<kPixels>& pixels) {
  FRAMELANE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const float luma = op.kr * pixels.component[0][i] + op.kg * pixels.component[1][i] + op.kb * pixels.component[2][i];
    FRAMELANE_UNROLL
    for (int c = 0; c < 3; ++c) {
      pixels.component[c][i] = luma + op.saturation * (pixels.component[c][i] - luma);
    }
  }
}

}  // namespace framelane
