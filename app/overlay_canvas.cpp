// Beside the frame's way.  Thread: encoder.
#include "app/overlay_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/imgproc.hpp>

namespace framelane {
namespace {

/** Code `level` of plane `plane` at 8 bits; levels are 0 to 1, of chroma -0.5 to 0.5. */
double code_of(const FrameFormat& format, int plane, double level) {
  const bool full = format.range == ColorRange::kFull;
  if (format.pixel.is_chroma(plane)) return 128 + level * (full ? 255 : 224);
  return full ? 255 * level : 16 + 219 * level;
}

cv::Vec3d levels_of(const FrameFormat& format, const Rgb& color) {
  if (format.pixel.model == ColorModel::kGbr) return {color.g, color.b, color.r};
  const auto [kr, kb] = luma_weights(format.matrix);
  const double luma = kr * color.r + (1 - kr - kb) * color.g + kb * color.b;
  return {luma, (color.b - luma) / (2 * (1 - kb)), (color.r - luma) / (2 * (1 - kr))};
}

void mix(Ink& pixel, const Ink& ink, int coverage) {
  const int keep = 255 - ink[3] * coverage / 255;
  for (int i = 0; i < 4; ++i) {
    pixel[i] = static_cast<std::uint8_t>(std::min((pixel[i] * keep + ink[i] * coverage + 127) / 255, 255));
  }
}

/** How much of the pixel [at, at + 1) lies in [begin, end): 0 to 1. */
double covered(int at, double begin, double end) {
  return std::clamp(std::min<double>(at + 1, end) - std::max<double>(at, begin), 0.0, 1.0);
}

/** Compiled twice, for AVX2 too, and chosen at start: the widest part of the overlay's time. The sanitizers' run-time
 *  libraries are not ready when that choice is made. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FRAMELANE_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define FRAMELANE_WIDE_VECTORS
#endif

/** sample * (1 - opacity) + code, rounded. `Wide` holds every intermediate result: 16 bits suffice for 8-bit samples,
 *  which halves the work, because code <= opacity. */
template <typename Sample, typename Wide>
[[gnu::always_inline]] inline void mix_row(Sample* samples, const std::uint8_t* codes, const std::uint8_t* opacity,
                                           int width, int depth_bits) {
  const int shift = sizeof(Sample) == 1 ? 8 : depth_bits;  // known beforehand where speed counts most
  for (int x = 0; x < width; ++x) {
    const Wide keep = static_cast<Wide>(256 - opacity[x] - (opacity[x] >> 7));
    const Wide kept = static_cast<Wide>(samples[x] * keep);
    const Wide added = static_cast<Wide>((static_cast<Wide>(codes[x]) << shift) + 128);
    samples[x] = static_cast<Sample>(static_cast<Wide>(kept + added) >> 8);
  }
}

FRAMELANE_WIDE_VECTORS void mix_row_of_bytes(std::uint8_t* samples, const std::uint8_t* codes,
                                             const std::uint8_t* opacity, int width) {
  mix_row<std::uint8_t, std::uint16_t>(samples, codes, opacity, width, 8);
}

FRAMELANE_WIDE_VECTORS void mix_row_of_words(std::uint16_t* samples, const std::uint8_t* codes,
                                             const std::uint8_t* opacity, int width, int depth_bits) {
  mix_row<std::uint16_t, std::uint32_t>(samples, codes, opacity, width, depth_bits);
}

/** Rows are short and far apart, and lie in the cache of the core that filtered them: the processor's own prefetching
 *  sets in too late. */
constexpr int kRowsAhead = 4;
void prefetch(const PlaneView& plane, int y, std::ptrdiff_t left_bytes, std::ptrdiff_t right_bytes) {
  constexpr std::ptrdiff_t kCacheLine_bytes = 64;
  if (y >= plane.height) return;
  const std::byte* row = plane.data + y * plane.pitch_bytes;
  for (std::ptrdiff_t at = left_bytes; at < right_bytes; at += kCacheLine_bytes) __builtin_prefetch(row + at, 1);
}

template <typename Sample>
void make_opaque(Sample* samples, const std::uint8_t* opacity, int width, int max_code) {
  for (int x = 0; x < width; ++x) {
    if (opacity[x] > 0) samples[x] = static_cast<Sample>(max_code);
  }
}

}  // namespace

OverlayCanvas::OverlayCanvas(const FrameFormat& format, cv::Size size)
    : format_(format), pixels_(size, Ink::all(0)), saved_(size, Ink::all(0)) {
  CV_Assert(size.width % kGrid == 0 && size.height % kGrid == 0);
}

Ink OverlayCanvas::ink(const Rgb& color, double opacity) const {
  const double level = format_.pixel.depth_bits > 8 ? kDeepLevel : 1;
  const cv::Vec3d levels = levels_of(format_, {color.r * level, color.g * level, color.b * level});
  Ink ink(0, 0, 0, cv::saturate_cast<std::uint8_t>(255 * opacity));
  for (int plane = 0; plane < format_.pixel.color_planes(); ++plane) {
    // Not above the opacity: the 16-bit sums of mix_row() rely on it.
    ink[plane] = std::min(cv::saturate_cast<std::uint8_t>(code_of(format_, plane, levels[plane]) * opacity), ink[3]);
  }
  return ink;
}

void OverlayCanvas::fill(const cv::Rect2d& area, const Ink& ink) {
  const int top = std::max(static_cast<int>(std::floor(area.y)), 0);
  const int left = std::max(static_cast<int>(std::floor(area.x)), 0);
  const int bottom = std::min(static_cast<int>(std::ceil(area.y + area.height)), pixels_.rows);
  const int right = std::min(static_cast<int>(std::ceil(area.x + area.width)), pixels_.cols);
  const auto whole_left = std::clamp(static_cast<int>(std::ceil(area.x)), left, std::max(left, right));
  const auto whole_right =
      std::clamp(static_cast<int>(std::floor(area.x + area.width)), whole_left, std::max(whole_left, right));
  for (int y = top; y < bottom; ++y) {
    const double rows = 255 * covered(y, area.y, area.y + area.height);
    const auto mix_columns = [&, row = pixels_[y]](int begin, int end) {
      for (int x = begin; x < end; ++x) mix(row[x], ink, cvRound(rows * covered(x, area.x, area.x + area.width)));
    };
    if (rows < 255 || ink[3] < 255) {
      mix_columns(left, right);
      continue;
    }
    mix_columns(left, whole_left);
    std::fill(pixels_[y] + whole_left, pixels_[y] + whole_right, ink);
    mix_columns(whole_right, right);
  }
}

void OverlayCanvas::fill_rounded(const cv::Rect& area, double radius_px, const Ink& ink) {
  const cv::Rect inside = area & cv::Rect({0, 0}, pixels_.size());
  for (int y = inside.y; y < inside.br().y; ++y) {
    const double dy = std::max({area.y + radius_px - (y + 0.5), y + 0.5 - (area.br().y - radius_px), 0.0});
    Ink* row = pixels_[y];
    for (int x = inside.x; x < inside.br().x; ++x) {
      const double dx = std::max({area.x + radius_px - (x + 0.5), x + 0.5 - (area.br().x - radius_px), 0.0});
      const double distance = dx > 0 && dy > 0 ? std::hypot(dx, dy) : std::max(dx, dy);
      mix(row[x], ink, cvRound(255 * std::clamp(radius_px + 0.5 - distance, 0.0, 1.0)));
    }
  }
}

void OverlayCanvas::fill_mask(const cv::Mat1b& coverage, cv::Point origin, const Ink& ink) {
  const cv::Rect inside = cv::Rect(origin, coverage.size()) & cv::Rect({0, 0}, pixels_.size());
  for (int y = inside.y; y < inside.br().y; ++y) {
    const std::uint8_t* mask = coverage[y - origin.y] - origin.x;
    Ink* row = pixels_[y];
    for (int x = inside.x; x < inside.br().x; ++x) {
      if (mask[x] != 0) mix(row[x], ink, mask[x]);
    }
  }
}

void OverlayCanvas::finish() {
  std::array<cv::Mat1b, 4> channels;
  cv::split(pixels_, channels.data());
  for (int plane = 0; plane < format_.pixel.color_planes(); ++plane) {
    Layer& layer = layers_[plane];
    if (!format_.pixel.is_chroma(plane)) {
      channels[plane].copyTo(layer.codes);
      channels[3].copyTo(layer.opacity);
      continue;
    }
    const cv::Size size(pixels_.cols >> format_.pixel.chroma_shift_x, pixels_.rows >> format_.pixel.chroma_shift_y);
    cv::resize(channels[plane], layer.codes, size, 0, 0, cv::INTER_AREA);
    cv::resize(channels[3], layer.opacity, size, 0, 0, cv::INTER_AREA);
    // Rounding apart must not lift a code above its opacity.
    cv::min(cv::InputArray(layer.codes), cv::InputArray(layer.opacity), cv::OutputArray(layer.codes));
  }
}

void OverlayCanvas::blend(const FrameView& frame, cv::Point origin) const {
  const int depth_bits = format_.pixel.depth_bits;
  for (int plane = 0; plane < format_.pixel.plane_count(); ++plane) {
    const bool chroma = format_.pixel.is_chroma(plane);
    const bool alpha = format_.pixel.is_alpha(plane);
    const Layer& layer = layers_[alpha ? 0 : plane];
    const PlaneView& view = frame.planes[plane];
    const cv::Point at(chroma ? origin.x >> format_.pixel.chroma_shift_x : origin.x,
                       chroma ? origin.y >> format_.pixel.chroma_shift_y : origin.y);
    const cv::Rect area = cv::Rect(at, layer.opacity.size()) & cv::Rect(0, 0, view.width, view.height);
    const std::ptrdiff_t left_bytes = static_cast<std::ptrdiff_t>(area.x) * format_.pixel.bytes_per_sample();
    const std::ptrdiff_t right_bytes = static_cast<std::ptrdiff_t>(area.br().x) * format_.pixel.bytes_per_sample();
    for (int y = area.y; y < area.br().y; ++y) {
      prefetch(view, y + kRowsAhead, left_bytes, right_bytes);
      const int row = y - at.y;
      const std::uint8_t* opacity = layer.opacity[row] + (area.x - at.x);
      const std::uint8_t* codes = layer.codes[row] + (area.x - at.x);
      if (depth_bits > 8) {
        std::uint16_t* samples = view.row<std::uint16_t>(y) + area.x;
        alpha ? make_opaque(samples, opacity, area.width, format_.pixel.max_code())
              : mix_row_of_words(samples, codes, opacity, area.width, depth_bits);
      } else {
        std::uint8_t* samples = view.row<std::uint8_t>(y) + area.x;
        alpha ? make_opaque(samples, opacity, area.width, format_.pixel.max_code())
              : mix_row_of_bytes(samples, codes, opacity, area.width);
      }
    }
  }
}

}  // namespace framelane
