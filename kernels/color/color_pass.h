// The fused pass over pixels, one source for CPU and CUDA: what a pass is made of, and the work on one tile of it.
#pragma once

#include <array>
#include <vector>

#include "kernels/color/color_op.h"
#include "kernels/color/color_program.h"

namespace framelane {

/** A compiled program in host memory: what both backends start from. */
struct ColorPlan {
  /** By plane: code to code, or empty where the plane is copied. All planes of a plane-wise program; else alpha's. */
  std::array<std::vector<std::uint16_t>, kMaxPlanes> code_tables;
  /** Empty for a plane-wise program. From here on: the operations left for the pixel pass, conversions included. */
  std::vector<ColorOp> ops;
  std::vector<LutTable> lut_tables;  ///< beside ops
  /** By colour plane: code to real-valued code, the leading plane-wise operations; all empty where there are none. */
  std::array<std::vector<float>, 3> input_tables;
};

/** A plane as a kernel's argument. */
struct PassPlane {
  const std::byte* src;
  std::byte* dst;
  std::ptrdiff_t src_pitch_bytes;
  std::ptrdiff_t dst_pitch_bytes;
};

/** The pixel pass over one frame. Plain memory; pointers are in the backend's memory. */
struct PixelPass {
  const ColorOp* ops;
  int op_count;
  const float* input_table[3];  ///< null: codes as they are
  int width;
  int height;
  int chroma_shift_y;
  bool has_chroma;  ///< false for gray, whose components 1 and 2 mean nothing
  int max_code;
  PassPlane planes[3];
};

inline PassPlane pass_plane(const FrameView& dst, const FrameView& src, int plane) {
  return {src.planes[plane].data, dst.planes[plane].data, src.planes[plane].pitch_bytes, dst.planes[plane].pitch_bytes};
}

inline PixelPass make_pixel_pass(const FrameView& dst, const FrameView& src) {
  const PixelFormat& pixel = src.format.pixel;
  PixelPass pass{};
  pass.width = src.format.width;
  pass.height = src.format.height;
  pass.chroma_shift_y = pixel.model == ColorModel::kYuv ? pixel.chroma_shift_y : 0;
  pass.has_chroma = pixel.model != ColorModel::kGray;
  pass.max_code = pixel.max_code();
  for (int plane = 0; plane < pixel.color_planes(); ++plane) pass.planes[plane] = pass_plane(dst, src, plane);
  return pass;
}

/** Several samples as one memory access. */
template <typename Sample, int kCount>
struct alignas(sizeof(Sample) * kCount) SamplePack {
  Sample sample[kCount];
};

template <typename Pack, typename Pointer>
FRAMELANE_HOST_DEVICE bool is_aligned_for(Pointer pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Pack) == 0;
}

/** `code` as an index of a table: raw input can hold 16-bit words over the largest code, which count as that. */
template <typename Sample>
FRAMELANE_HOST_DEVICE int legal_code(Sample code, int max_code) {
  if constexpr (sizeof(Sample) == 1) return code;
  return code < max_code ? code : max_code;
}

/** Reads `count` (at most kCount) samples as real-valued codes; the rest of `codes` is any code. */
template <typename Sample, int kCount>
FRAMELANE_HOST_DEVICE void read_codes(float (&codes)[kCount], const Sample* row, int count, int max_code,
                                      const float* table) {
  Sample samples[kCount] = {};
#ifdef __CUDA_ARCH__
  using Pack = SamplePack<Sample, kCount>;
  if (count == kCount && is_aligned_for<Pack>(row)) {
    const Pack pack = *reinterpret_cast<const Pack*>(row);
    FRAMELANE_UNROLL
    for (int i = 0; i < kCount; ++i) samples[i] = pack.sample[i];
    count = 0;
  }
#endif
  FRAMELANE_UNROLL
  for (int i = 0; i < kCount; ++i) {
    if (i < count) samples[i] = row[i];
  }
  FRAMELANE_UNROLL
  for (int i = 0; i < kCount; ++i) {
    const int code = legal_code(samples[i], max_code);
    codes[i] = table == nullptr ? static_cast<float>(code) : table[code];
  }
}

/** Rounds and writes `count` (at most kCount) samples. */
template <typename Sample, int kCount>
FRAMELANE_HOST_DEVICE void write_codes(Sample* row, const float (&codes)[kCount], int count, int max_code) {
  Sample samples[kCount];
  FRAMELANE_UNROLL
  for (int i = 0; i < kCount; ++i) {
    samples[i] = static_cast<Sample>(rounded_code(codes[i], static_cast<float>(max_code)));
  }
#ifdef __CUDA_ARCH__
  using Pack = SamplePack<Sample, kCount>;
  if (count == kCount && is_aligned_for<Pack>(row)) {
    Pack pack;
    FRAMELANE_UNROLL
    for (int i = 0; i < kCount; ++i) pack.sample[i] = samples[i];
    *reinterpret_cast<Pack*>(row) = pack;
    return;
  }
#endif
  FRAMELANE_UNROLL
  for (int i = 0; i < kCount; ++i) {
    if (i < count) row[i] = samples[i];
  }
}

template <typename Sample>
FRAMELANE_HOST_DEVICE const Sample* src_row(const PassPlane& plane, int y) {
  return reinterpret_cast<const Sample*>(plane.src + y * plane.src_pitch_bytes);
}

template <typename Sample>
FRAMELANE_HOST_DEVICE Sample* dst_row(const PassPlane& plane, int y) {
  return reinterpret_cast<Sample*>(plane.dst + y * plane.dst_pitch_bytes);
}

/** Row `chroma_y` of chroma samples from luma column `x` (a multiple of kPixels) on: kPixels >> kShiftX of them and
 *  the kPixels by 1 << chroma_shift_y luma samples that they belong to, fewer at the right and bottom edges. */
template <typename Sample, int kShiftX, int kPixels>
FRAMELANE_HOST_DEVICE void filter_tile(const PixelPass& pass, int x, int chroma_y) {
  constexpr int kChroma = kPixels >> kShiftX;
  const int count = pass.width - x < kPixels ? pass.width - x : kPixels;
  const int chroma_x = x >> kShiftX;
  const int chroma_count = (count + (1 << kShiftX) - 1) >> kShiftX;
  const int first_row = chroma_y << pass.chroma_shift_y;
  const int rows_left = pass.height - first_row;
  const int rows = rows_left < 1 << pass.chroma_shift_y ? rows_left : 1 << pass.chroma_shift_y;

  float chroma[2][kChroma];
  float sum[2][kChroma] = {};
  FRAMELANE_UNROLL
  for (int c = 0; c < 2; ++c) {
    if (pass.has_chroma) {
      const Sample* row = src_row<Sample>(pass.planes[1 + c], chroma_y) + chroma_x;
      read_codes<Sample, kChroma>(chroma[c], row, chroma_count, pass.max_code, pass.input_table[1 + c]);
    } else {
      FRAMELANE_UNROLL
      for (int i = 0; i < kChroma; ++i) chroma[c][i] = 0;
    }
  }
  for (int y = first_row; y < first_row + rows; ++y) {
    Pixels<kPixels> pixels;
    read_codes<Sample, kPixels>(pixels.component[0], src_row<Sample>(pass.planes[0], y) + x, count, pass.max_code,
                                pass.input_table[0]);
    FRAMELANE_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      pixels.component[1][i] = chroma[0][i >> kShiftX];
      pixels.component[2][i] = chroma[1][i >> kShiftX];
    }
    for (int op = 0; op < pass.op_count; ++op) apply_to_pixels(pass.ops[op], pixels);
    write_codes<Sample, kPixels>(dst_row<Sample>(pass.planes[0], y) + x, pixels.component[0], count, pass.max_code);
    FRAMELANE_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      if (i >= count) continue;
      sum[0][i >> kShiftX] += pixels.component[1][i];
      sum[1][i >> kShiftX] += pixels.component[2][i];
    }
  }
  if (!pass.has_chroma) return;
  FRAMELANE_UNROLL
  for (int c = 0; c < 2; ++c) {
    FRAMELANE_UNROLL
    for (int i = 0; i < kChroma; ++i) {
      const int columns_left = count - (i << kShiftX);
      const int columns = columns_left < 1 << kShiftX ? columns_left : 1 << kShiftX;
      if (columns > 0) sum[c][i] /= static_cast<float>(columns * rows);
    }
    Sample* row = dst_row<Sample>(pass.planes[1 + c], chroma_y) + chroma_x;
    write_codes<Sample, kChroma>(row, sum[c], chroma_count, pass.max_code);
  }
}

/** Horizontal subsampling as a template argument: calls work.template operator()<kShiftX>(). */
template <typename Work>
auto with_chroma_shift_x(const PixelFormat& pixel, const Work& work) {
  switch (pixel.model == ColorModel::kYuv ? pixel.chroma_shift_x : 0) {
    case 1:
      return work.template operator()<1>();
    case 2:
      return work.template operator()<2>();
    default:
      return work.template operator()<0>();
  }
}

}  // namespace framelane
