// decode > [preprocess] > ring > submit > encode > [convert] > mux.
#include "pipeline/component_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "kernels/parallel_rows.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {
namespace {

bool has_flag(const AVPixFmtDescriptor& descriptor, std::uint64_t flag) { return (descriptor.flags & flag) != 0; }

int color_components(const AVPixFmtDescriptor& descriptor) {
  return descriptor.nb_components - (has_flag(descriptor, AV_PIX_FMT_FLAG_ALPHA) ? 1 : 0);
}

int sample_bytes(const AVComponentDescriptor& component) { return component.depth + component.shift > 8 ? 2 : 1; }

/** Formats whose descriptor says where every sample is. */
bool is_described(const AVPixFmtDescriptor& descriptor) {
  constexpr std::uint64_t kNot = AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                                 AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
  const std::string_view name = descriptor.name;
  return !has_flag(descriptor, kNot) && name != "uyyvyy411" && !name.starts_with("xyz");
}

/** True when each sample has its bytes for itself, and no other bytes are left: what can be written one by one. */
bool is_separable(const AVPixFmtDescriptor& descriptor) {
  for (int i = 0; i < descriptor.nb_components; ++i) {
    const AVComponentDescriptor& own = descriptor.comp[i];
    int bytes_in_step = 0;
    for (int j = 0; j < descriptor.nb_components; ++j) {
      const AVComponentDescriptor& other = descriptor.comp[j];
      if (other.plane != own.plane) continue;
      if (other.step != own.step) return false;  // yuyv422 and its like
      if (i != j && other.offset < own.offset + sample_bytes(own) && own.offset < other.offset + sample_bytes(other)) {
        return false;
      }
      bytes_in_step += sample_bytes(other);
    }
    if (bytes_in_step != own.step) return false;
  }
  return true;
}

bool same_samples(const AVPixFmtDescriptor& dst, const AVPixFmtDescriptor& src) {
  const bool gray_to_rgb = color_components(src) == 1 && has_flag(dst, AV_PIX_FMT_FLAG_RGB);
  if (!gray_to_rgb) {
    if (color_components(dst) != color_components(src)) return false;
    if (has_flag(dst, AV_PIX_FMT_FLAG_RGB) != has_flag(src, AV_PIX_FMT_FLAG_RGB)) return false;
    if (dst.log2_chroma_w != src.log2_chroma_w || dst.log2_chroma_h != src.log2_chroma_h) return false;
  }
  if (has_flag(src, AV_PIX_FMT_FLAG_ALPHA) && !has_flag(dst, AV_PIX_FMT_FLAG_ALPHA)) return false;
  for (int i = 0; i < src.nb_components; ++i) {
    if (src.comp[i].depth != dst.comp[0].depth) return false;
  }
  for (int i = 1; i < dst.nb_components; ++i) {
    if (dst.comp[i].depth != dst.comp[0].depth) return false;
  }
  return true;
}

/** One component's samples in a frame's memory. */
struct Samples {
  std::uint8_t* data;
  std::ptrdiff_t pitch_bytes;
  std::ptrdiff_t step_bytes;
  int bytes;
  int shift;
  bool big_endian;

  std::uint8_t* row(int y) const { return data + y * pitch_bytes; }
};

Samples samples_of(const AVFrame& frame, const AVPixFmtDescriptor& descriptor, int component) {
  const AVComponentDescriptor& place = descriptor.comp[component];
  return {frame.data[place.plane] + place.offset,
          frame.linesize[place.plane],
          place.step,
          sample_bytes(place),
          place.shift,
          has_flag(descriptor, AV_PIX_FMT_FLAG_BE)};
}

/** In the host's byte order, which is little-endian (see pixel_format.cpp). */
std::uint16_t load(const std::uint8_t* at, bool swap) {
  std::uint16_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return swap ? __builtin_bswap16(word) : word;
}

void store(std::uint8_t* at, std::uint16_t word, bool swap) {
  if (swap) word = __builtin_bswap16(word);
  std::memcpy(at, &word, sizeof word);
}

void copy_bytes(const Samples& dst, const Samples& src, int y, int width) {
  std::uint8_t* to = dst.row(y);
  const std::uint8_t* from = src.row(y);
  if (dst.step_bytes == 1 && src.step_bytes == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(width));
    return;
  }
  for (int x = 0; x < width; ++x) to[x * dst.step_bytes] = from[x * src.step_bytes];
}

void copy_words(const Samples& dst, const Samples& src, int y, int width, int max_code) {
  std::uint8_t* to = dst.row(y);
  const std::uint8_t* from = src.row(y);
  for (int x = 0; x < width; ++x) {
    const int code = src.bytes == 1 ? from[x * src.step_bytes]
                                    : load(from + x * src.step_bytes, src.big_endian) >> src.shift & max_code;
    if (dst.bytes == 1) {
      to[x * dst.step_bytes] = static_cast<std::uint8_t>(code);
    } else {
      store(to + x * dst.step_bytes, static_cast<std::uint16_t>(code << dst.shift), dst.big_endian);
    }
  }
}

void fill(const Samples& dst, int y, int width, int code) {
  std::uint8_t* to = dst.row(y);
  for (int x = 0; x < width; ++x) {
    if (dst.bytes == 1) {
      to[x * dst.step_bytes] = static_cast<std::uint8_t>(code);
    } else {
      store(to + x * dst.step_bytes, static_cast<std::uint16_t>(code << dst.shift), dst.big_endian);
    }
  }
}

/** A palette's entries are native words, alpha in the highest byte. */
void copy_palette(AVFrame& dst, const AVPixFmtDescriptor& to, const AVFrame& src) {
  constexpr int kShifts[] = {16, 8, 0, 24};  // of R, G, B and A
  for (int i = 0; i < to.nb_components; ++i) {
    const Samples target = samples_of(dst, to, i);
    for (int y = 0; y < dst.height; ++y) {
      const std::uint8_t* indices = src.data[0] + static_cast<std::ptrdiff_t>(y) * src.linesize[0];
      for (int x = 0; x < dst.width; ++x) {
        std::uint32_t color = 0;
        std::memcpy(&color, src.data[1] + std::ptrdiff_t{4} * indices[x], sizeof color);
        target.row(y)[x * target.step_bytes] = static_cast<std::uint8_t>(color >> kShifts[i]);
      }
    }
  }
}

}  // namespace

bool copy_components(AVFrame& dst, const AVFrame& src) {
  const AVPixFmtDescriptor& to = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(dst.format));
  const AVPixFmtDescriptor& from = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(src.format));
  const bool same_size = dst.width == src.width && dst.height == src.height;
  if (same_size && src.format == AV_PIX_FMT_PAL8 && dst.format == AV_PIX_FMT_GBRAP) {
    copy_palette(dst, to, src);
    return true;
  }
  if (!same_size || !is_described(to) || !is_described(from) || !is_separable(to) || !same_samples(to, from)) {
    return false;
  }
  const int max_code = (1 << to.comp[0].depth) - 1;
  for (int i = 0; i < to.nb_components; ++i) {
    const bool is_alpha = i == color_components(to);
    const bool is_chroma = !is_alpha && i > 0 && !has_flag(to, AV_PIX_FMT_FLAG_RGB);
    const int width = is_chroma ? AV_CEIL_RSHIFT(dst.width, to.log2_chroma_w) : dst.width;
    const int height = is_chroma ? AV_CEIL_RSHIFT(dst.height, to.log2_chroma_h) : dst.height;
    const Samples target = samples_of(dst, to, i);
    if (is_alpha && !has_flag(from, AV_PIX_FMT_FLAG_ALPHA)) {
      parallel_rows(height, [&](int first, int last) {
        for (int y = first; y < last; ++y) fill(target, y, width, max_code);
      });
      continue;
    }
    const int component = is_alpha ? color_components(from) : std::min(i, color_components(from) - 1);
    const Samples source = samples_of(src, from, component);
    const bool bytes = target.bytes == 1 && source.bytes == 1 && source.shift == 0;
    parallel_rows(height, [&](int first, int last) {
      for (int y = first; y < last; ++y) {
        if (bytes) {
          copy_bytes(target, source, y, width);
        } else {
          copy_words(target, source, y, width, max_code);
        }
      }
    });
  }
  return true;
}

}  // namespace framelane
