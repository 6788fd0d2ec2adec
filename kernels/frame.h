// What a frame is: its format, the memory layout of its planes, and views of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace framelane {

enum class ColorModel : std::uint8_t { kGray, kYuv, kGbr };
enum class ColorMatrix : std::uint8_t { kBt601, kBt709, kBt2020, kSmpte240m, kFcc };
enum class ColorRange : std::uint8_t { kLimited, kFull };

inline constexpr int kMaxPlanes = 4;

/** A planar format: 8 to 16 bits a sample (over 8: 16-bit little-endian words, value in the low bits).
 *  Plane order: Y | Y,U,V | G,B,R, then alpha. Chroma planes are ceil(size >> shift) samples large. */
struct PixelFormat {
  ColorModel model = ColorModel::kYuv;
  int depth_bits = 8;
  int chroma_shift_x = 1;  ///< log2 of the horizontal subsampling; 0 for gray and GBR
  int chroma_shift_y = 1;
  bool alpha = false;

  constexpr int color_planes() const { return model == ColorModel::kGray ? 1 : 3; }
  constexpr int plane_count() const { return color_planes() + (alpha ? 1 : 0); }
  constexpr int bytes_per_sample() const { return depth_bits > 8 ? 2 : 1; }
  constexpr int max_code() const { return (1 << depth_bits) - 1; }
  /** True for U and V; gray, luma, GBR and alpha planes are full size. */
  constexpr bool is_chroma(int plane) const { return model == ColorModel::kYuv && (plane == 1 || plane == 2); }
  constexpr bool is_alpha(int plane) const { return alpha && plane == color_planes(); }
  bool operator==(const PixelFormat&) const = default;
};

/** Shape of a sample: width to height; 0:1 when unknown. */
struct AspectRatio {
  int num = 0;
  int den = 1;
  bool operator==(const AspectRatio&) const = default;
};

/** Everything that decides a frame's memory and the meaning of its codes. */
struct FrameFormat {
  PixelFormat pixel;
  int width = 0;
  int height = 0;
  ColorMatrix matrix = ColorMatrix::kBt601;
  ColorRange range = ColorRange::kLimited;
  AspectRatio sample_aspect = {};

  constexpr int plane_width(int plane) const {
    return scaled(width, pixel.is_chroma(plane) ? pixel.chroma_shift_x : 0);
  }
  constexpr int plane_height(int plane) const {
    return scaled(height, pixel.is_chroma(plane) ? pixel.chroma_shift_y : 0);
  }
  constexpr std::size_t row_bytes(int plane) const {
    return static_cast<std::size_t>(plane_width(plane)) * static_cast<std::size_t>(pixel.bytes_per_sample());
  }
  bool operator==(const FrameFormat&) const = default;

 private:
  static constexpr int scaled(int size, int shift) { return (size + (1 << shift) - 1) >> shift; }
};

/** One plane in host or device memory; does not own it. */
struct PlaneView {
  std::byte* data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
  int width = 0;  ///< samples
  int height = 0;

  template <typename Sample>
  Sample* row(int y) const {
    return reinterpret_cast<Sample*>(data + y * pitch_bytes);
  }
  bool operator==(const PlaneView&) const = default;
};

/** A frame's planes in host or device memory; does not own them. A function that takes a source as
 *  `const FrameView&` never writes through it. */
struct FrameView {
  FrameFormat format;
  std::array<PlaneView, kMaxPlanes> planes;
  bool operator==(const FrameView&) const = default;
};

/** Where a frame's planes lie in one contiguous block. */
struct FrameLayout {
  std::array<std::size_t, kMaxPlanes> offset{};
  std::array<std::ptrdiff_t, kMaxPlanes> pitch_bytes{};
  std::size_t bytes = 0;
};

/** Pitches and plane offsets are multiples of this: wide enough for AVX-512 and for 16-byte GPU accesses, and a
 *  divisor of the common row sizes, so that a frame travels over PCIe as one copy with no padding. */
inline constexpr std::size_t kPitchAlignment = 64;

/** The layout that every buffer of framelane has for `format`. */
FrameLayout frame_layout(const FrameFormat& format);

/** Views `base` (frame_layout(format).bytes large) as a frame. */
FrameView view_frame(const FrameFormat& format, std::byte* base);

/** Luma weights of a matrix: R' and B' shares of Y' (ITU-R BT.601-7, BT.709-6, BT.2020-2; SMPTE 240M; FCC 73.682). */
struct LumaWeights {
  double kr;
  double kb;
};
LumaWeights luma_weights(ColorMatrix matrix);

/** BT.709 from 1280 wide or over 576 high, else BT.601: what players guess for an untagged stream. */
ColorMatrix guess_matrix(int width, int height);

/** For messages: "1920x1080 yuv420p10". */
std::string describe(const FrameFormat& format);
/** ffmpeg's name of the format: "yuv420p10". */
std::string describe(const PixelFormat& pixel);

}  // namespace framelane
