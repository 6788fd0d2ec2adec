// decode > [preprocess] > ring > submit > encode > [convert] > mux.
#include "pipeline/frame_converter.h"

#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include "kernels/frame.h"
#include "pipeline/av.h"
#include "pipeline/component_copy.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace framelane {
namespace {

int colorspace_of(const AVFrame& frame) {
  if (frame.colorspace != AVCOL_SPC_UNSPECIFIED && frame.colorspace != AVCOL_SPC_RGB) return frame.colorspace;
  return guess_matrix(frame.width, frame.height) == ColorMatrix::kBt709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

/** libswscale knows the yuvj formats by name only; a range tag says the same for the others. */
bool is_full_range(const AVFrame& frame) {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  if ((descriptor->flags & AV_PIX_FMT_FLAG_RGB) != 0) return true;
  switch (frame.format) {
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ444P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ411P:
      return true;
    default:
      return frame.color_range == AVCOL_RANGE_JPEG;
  }
}

bool is_rgb_or_gray(const AVFrame& frame) {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  constexpr std::uint64_t kRgb = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL;
  return (descriptor->flags & kRgb) != 0 || descriptor->nb_components < 3;
}

/** True when equal codes mean equal colours on both sides. Next to RGB, gray counts as full range: libswscale reads it
 *  so in any case. */
bool same_meaning(const AVFrame& dst, const AVFrame& src) {
  if (is_rgb_or_gray(dst) && is_rgb_or_gray(src)) return true;
  return is_full_range(src) == is_full_range(dst) && colorspace_of(src) == colorspace_of(dst);
}

int scaler_flags(ConversionQuality quality) {
  if (quality == ConversionQuality::kQuick) return SWS_BILINEAR | SWS_ACCURATE_RND;
  return SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;
}

}  // namespace

FrameConverter::~FrameConverter() { sws_freeContext(context_); }

void FrameConverter::convert(AVFrame& dst, const AVFrame& src) {
  if (same_meaning(dst, src) && copy_components(dst, src)) return;
  const auto src_format = static_cast<AVPixelFormat>(src.format);
  const auto dst_format = static_cast<AVPixelFormat>(dst.format);
  context_ = sws_getCachedContext(context_, src.width, src.height, src_format, dst.width, dst.height, dst_format,
                                  scaler_flags(quality_), nullptr, nullptr, nullptr);
  if (context_ == nullptr) {
    throw std::runtime_error(fmt::format("libswscale cannot convert {} to {}", av_get_pix_fmt_name(src_format),
                                         av_get_pix_fmt_name(dst_format)));
  }
  constexpr int kOne = 1 << 16;  // contrast and saturation of 1 in libswscale's 16.16
  sws_setColorspaceDetails(context_, sws_getCoefficients(colorspace_of(src)), is_full_range(src) ? 1 : 0,
                           sws_getCoefficients(colorspace_of(dst)), is_full_range(dst) ? 1 : 0, 0, kOne, kOne);
  if (sws_scale(context_, src.data, src.linesize, 0, src.height, dst.data, dst.linesize) < 0) {
    throw std::runtime_error(fmt::format("conversion from {} to {} failed", av_get_pix_fmt_name(src_format),
                                         av_get_pix_fmt_name(dst_format)));
  }
}

}  // namespace framelane
