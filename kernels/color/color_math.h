// Stored codes to R'G'B' and back, one source for CPU and CUDA.
#pragma once

#include "kernels/frame.h"

#ifdef __CUDACC__
#define FRAMELANE_HOST_DEVICE __host__ __device__
#else
#define FRAMELANE_HOST_DEVICE
#endif
// Before a loop over pixels in registers: unrolled on the GPU, where a register cannot be indexed by a variable.
#ifdef __CUDA_ARCH__
#define FRAMELANE_UNROLL _Pragma("unroll")
#else
#define FRAMELANE_UNROLL
#endif

namespace framelane {

/** `value` within [low, high]; NaN becomes low. Unlike fminf and fmaxf two instructions on every compiler. */
FRAMELANE_HOST_DEVICE inline float clamped(float value, float low, float high) {
  value = value > low ? value : low;
  return value < high ? value : high;
}

/** The code nearest to `value`, within [0, max_code]; halves go up. */
FRAMELANE_HOST_DEVICE inline int rounded_code(float value, float max_code) {
  return static_cast<int>(clamped(value, 0.0F, max_code) + 0.5F);
}

/** Components of a pixel: 0, 1 and 2 are the colour planes in their order; alpha is this one in every format. */
inline constexpr int kAlphaComponent = 3;

/** Neighbouring pixels in registers, component by component. In working space "codes" the components are the stored
 *  planes in their order (Y,U,V or G,B,R) as real-valued codes; in "rgb" they are R',G',B' with 0 black and 1 white. */
template <int kPixels>
struct Pixels {
  float component[3][kPixels];
};

/** Between Y,U,V codes and R',G',B' (ITU-T H.273, equations 8-3..8-8 and 26-28 of its clause 8.3): with y in 0..1 and
 *  u, v in -0.5..0.5,
 *    y = kr r + (1-kr-kb) g + kb b,  u = (b - y) / (2 (1-kb)),  v = (r - y) / (2 (1-kr)).
 *  Codes outside the nominal range give r, g, b outside 0..1 and come back unchanged: in float32 there and back moves
 *  a 16-bit code by less than 0.1, so that rounding restores it. */
struct YuvConversion {
  float luma_offset;
  float luma_scale;  ///< codes from black to white
  float chroma_offset;
  float chroma_scale;  ///< codes for u or v from -0.5 to 0.5
  float r_of_v;
  float g_of_u;
  float g_of_v;
  float b_of_u;
  float kr;
  float kg;
  float kb;
};

/** For YUV and gray: limited range is 16..235 (chroma 16..240) times 2^(depth-8), full is 0..2^depth-1; the chroma
 *  centre is 2^(depth-1) in both. */
inline YuvConversion yuv_conversion(const FrameFormat& format) {
  const LumaWeights weights = luma_weights(format.matrix);
  const double kg = 1 - weights.kr - weights.kb;
  const double unit = 1 << (format.pixel.depth_bits - 8);
  const bool limited = format.range == ColorRange::kLimited;
  const double max_code = format.pixel.max_code();
  const double r_of_v = 2 * (1 - weights.kr);
  const double b_of_u = 2 * (1 - weights.kb);
  return {
      .luma_offset = static_cast<float>(limited ? 16 * unit : 0),
      .luma_scale = static_cast<float>(limited ? 219 * unit : max_code),
      .chroma_offset = static_cast<float>(128 * unit),
      .chroma_scale = static_cast<float>(limited ? 224 * unit : max_code),
      .r_of_v = static_cast<float>(r_of_v),
      .g_of_u = static_cast<float>(-weights.kb * b_of_u / kg),
      .g_of_v = static_cast<float>(-weights.kr * r_of_v / kg),
      .b_of_u = static_cast<float>(b_of_u),
      .kr = static_cast<float>(weights.kr),
      .kg = static_cast<float>(kg),
      .kb = static_cast<float>(weights.kb),
  };
}

template <int kPixels>
FRAMELANE_HOST_DEVICE void yuv_to_rgb(const YuvConversion& conversion, Pixels<kPixels>& pixels) {
  const float per_luma = 1.0F / conversion.luma_scale;
  const float per_chroma = 1.0F / conversion.chroma_scale;
  FRAMELANE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const float y = (pixels.component[0][i] - conversion.luma_offset) * per_luma;
    const float u = (pixels.component[1][i] - conversion.chroma_offset) * per_chroma;
    const float v = (pixels.component[2][i] - conversion.chroma_offset) * per_chroma;
    pixels.component[0][i] = y + conversion.r_of_v * v;
    pixels.component[1][i] = y + conversion.g_of_u * u + conversion.g_of_v * v;
    pixels.component[2][i] = y + conversion.b_of_u * u;
  }
}

template <int kPixels>
FRAMELANE_HOST_DEVICE void rgb_to_yuv(const YuvConversion& conversion, Pixels<kPixels>& pixels) {
  const float codes_per_u = conversion.chroma_scale / conversion.b_of_u;
  const float codes_per_v = conversion.chroma_scale / conversion.r_of_v;
  FRAMELANE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const float r = pixels.component[0][i];
    const float g = pixels.component[1][i];
    const float b = pixels.component[2][i];
    const float y = conversion.kr * r + conversion.kg * g + conversion.kb * b;
    pixels.component[0][i] = conversion.luma_offset + conversion.luma_scale * y;
    pixels.component[1][i] = conversion.chroma_offset + codes_per_u * (b - y);
    pixels.component[2][i] = conversion.chroma_offset + codes_per_v * (r - y);
  }
}

/** Gray is R' = G' = B' = Y', and stays gray: what comes back is the luma of the result. Components 1 and 2 are not
 *  read and not written. */
template <int kPixels>
FRAMELANE_HOST_DEVICE void gray_to_rgb(const YuvConversion& conversion, Pixels<kPixels>& pixels) {
  const float per_luma = 1.0F / conversion.luma_scale;
  FRAMELANE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const float y = (pixels.component[0][i] - conversion.luma_offset) * per_luma;
    pixels.component[0][i] = y;
    pixels.component[1][i] = y;
    pixels.component[2][i] = y;
  }
}

template <int kPixels>
FRAMELANE_HOST_DEVICE void rgb_to_gray(const YuvConversion& conversion, Pixels<kPixels>& pixels) {
  FRAMELANE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const float y = conversion.kr * pixels.component[0][i] + conversion.kg * pixels.component[1][i] +
                    conversion.kb * pixels.component[2][i];
    pixels.component[0][i] = conversion.luma_offset + conversion.luma_scale * y;
  }
}

/** G,B,R codes are R',G',B' of full range, in another order; no matrix takes part. */
struct GbrConversion {
  float max_code;
};

template <int kPixels>
FRAMELANE_HOST_DEVICE void gbr_to_rgb(const GbrConversion& conversion, Pixels<kPixels>& pixels) {
  const float per_code = 1.0F / conversion.max_code;
  FRAMELANE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const float g = pixels.component[0][i] * per_code;
    const float b = pixels.component[1][i] * per_code;
    pixels.component[0][i] = pixels.component[2][i] * per_code;
    pixels.component[1][i] = g;
    pixels.component[2][i] = b;
  }
}

template <int kPixels>
FRAMELANE_HOST_DEVICE void rgb_to_gbr(const GbrConversion& conversion, Pixels<kPixels>& pixels) {
  FRAMELANE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const float r = pixels.component[0][i] * conversion.max_code;
    pixels.component[0][i] = pixels.component[1][i] * conversion.max_code;
    pixels.component[1][i] = pixels.component[2][i] * conversion.max_code;
    pixels.component[2][i] = r;
  }
}

}  // namespace framelane
