// submit > [convert] > encode.  Thread: encoder.
#include "pipeline/encoder_input.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <string_view>

#include "pipeline/pixel_format.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {
namespace {

bool has_alpha(int format) {
  return (av_pix_fmt_desc_get(static_cast<AVPixelFormat>(format))->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
}

bool is_rgb(AVPixelFormat format) { return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB) != 0; }

/** H.264 and HEVC could crop, but their encoders refuse to; so does SVT-AV1. */
bool refuses_odd_sizes(const AVCodec& encoder) {
  return encoder.id == AV_CODEC_ID_H264 || encoder.id == AV_CODEC_ID_HEVC ||
         std::string_view(encoder.name) == "libsvtav1";
}

int rounded_up(int size, int shift) { return (size + (1 << shift) - 1) >> shift << shift; }

/** JPEG (JFIF) means BT.601 whatever a tag says; anything else keeps its matrix. */
AVColorSpace output_colorspace(const AVFrame& frame, AVCodecID codec, AVPixelFormat format) {
  if (is_rgb(format)) return AVCOL_SPC_RGB;
  if (codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_LJPEG) return AVCOL_SPC_BT470BG;
  if (frame.colorspace != AVCOL_SPC_RGB) return frame.colorspace;
  return guess_matrix(frame.width, frame.height) == ColorMatrix::kBt709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

AVColorRange output_range(const AVFrame& frame, AVCodecID codec, AVPixelFormat format) {
  if (is_rgb(format) || is_full_range_only(codec)) return AVCOL_RANGE_JPEG;
  if (is_rgb(static_cast<AVPixelFormat>(frame.format))) return AVCOL_RANGE_MPEG;
  return frame_format(frame).range == ColorRange::kFull ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
}

void tell_conversion(const AVFrame& frame, const AVCodec& encoder, AVPixelFormat format, const std::string& name) {
  const auto own = static_cast<AVPixelFormat>(frame.format);
  const int loss = av_get_pix_fmt_loss(format, own, has_alpha(own) ? 1 : 0);
  std::string lost;
  if ((loss & FF_LOSS_DEPTH) != 0) lost += ", with fewer bits a sample";
  if ((loss & FF_LOSS_RESOLUTION) != 0) lost += ", with less chroma resolution";
  if ((loss & FF_LOSS_CHROMA) != 0) lost += ", without colour";
  if ((loss & FF_LOSS_ALPHA) != 0) lost += ", with transparency on black";
  spdlog::log(lost.empty() ? spdlog::level::info : spdlog::level::warn, "{}: {} does not take {}: converting to {}{}",
              name, encoder.name, av_get_pix_fmt_name(own), av_get_pix_fmt_name(format), lost);
}

/** Puts one plane on a background: code + (sample - code) * alpha. */
template <typename Sample>
void blend_rows(const PlaneView& plane, const PlaneView& alpha, int shift_x, int shift_y, int background, int max) {
  for (int y = 0; y < plane.height; ++y) {
    auto* row = plane.row<Sample>(y);
    const auto* opacity = alpha.row<Sample>(std::min(y << shift_y, alpha.height - 1));
    for (int x = 0; x < plane.width; ++x) {
      const int weight = opacity[std::min(x << shift_x, alpha.width - 1)];
      const std::int64_t difference = std::int64_t{row[x]} - background;
      const std::int64_t scaled = difference * 2 * weight + (difference < 0 ? -max : max);
      row[x] = static_cast<Sample>(background + scaled / (std::int64_t{2} * max));
    }
  }
}

/** Puts a planar frame with alpha on black, in place. */
void blend_on_black(const AVFrame& frame) {
  const FrameView view = view_frame(frame);
  const PixelFormat& pixel = view.format.pixel;
  const int scale = 1 << (pixel.depth_bits - 8);
  const PlaneView& alpha = view.planes[static_cast<std::size_t>(pixel.color_planes())];
  for (int plane = 0; plane < pixel.color_planes(); ++plane) {
    const bool limited = pixel.model != ColorModel::kGbr && view.format.range == ColorRange::kLimited;
    const int background = pixel.is_chroma(plane) ? 128 * scale : limited ? 16 * scale : 0;
    const int shift_x = pixel.is_chroma(plane) ? pixel.chroma_shift_x : 0;
    const int shift_y = pixel.is_chroma(plane) ? pixel.chroma_shift_y : 0;
    const auto blend = pixel.bytes_per_sample() == 1 ? blend_rows<std::uint8_t> : blend_rows<std::uint16_t>;
    blend(view.planes[static_cast<std::size_t>(plane)], alpha, shift_x, shift_y, background, pixel.max_code());
  }
}

/** Repeats the last column and row of a picture of `width` x `height` samples to fill `plane`. */
template <typename Sample>
void repeat_edges(const PlaneView& plane, int width, int height) {
  for (int y = 0; y < height; ++y) {
    auto* row = plane.row<Sample>(y);
    std::fill(row + width, row + plane.width, row[width - 1]);
  }
  const auto* last = plane.row<Sample>(height - 1);
  for (int y = height; y < plane.height; ++y) std::copy_n(last, plane.width, plane.row<Sample>(y));
}

}  // namespace

EncoderInput::EncoderInput(const AVFrame& first, const AVCodec& encoder, AVPixelFormat format, const std::string& name)
    : format_(format),
      width_(first.width),
      height_(first.height),
      colorspace_(output_colorspace(first, encoder.id, format)),
      range_(output_range(first, encoder.id, format)) {
  const bool same_planes = planar_format(first.format) == planar_format(format) && planar_format(format).has_value();
  const FrameFormat own = frame_format(first);
  const bool same_range = is_rgb(format) || (own.range == ColorRange::kFull) == (range_ == AVCOL_RANGE_JPEG);
  const bool jpeg_matrix = colorspace_ != AVCOL_SPC_BT470BG || own.matrix == ColorMatrix::kBt601;
  converts_ = !same_planes || !same_range || (own.pixel.model == ColorModel::kYuv && !jpeg_matrix);
  loses_alpha_ = has_alpha(first.format) && !has_alpha(format);
  if (!same_planes) tell_conversion(first, encoder, format, name);
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(format);
  if (!refuses_odd_sizes(encoder) || !planar_format(format)) return;  // hardware encoders pad their nv12 by themselves
  width_ = rounded_up(first.width, descriptor.log2_chroma_w);
  height_ = rounded_up(first.height, descriptor.log2_chroma_h);
  if (width_ != first.width || height_ != first.height) {
    spdlog::warn("{}: {} takes only even sizes in {}: {}x{} becomes {}x{}, by repeating the last {}", name,
                 encoder.name, av_get_pix_fmt_name(format), first.width, first.height, width_, height_,
                 width_ == first.width     ? "row"
                 : height_ == first.height ? "column"
                                           : "row and column");
  }
}

AvFrame EncoderInput::empty_frame(const AVFrame& like, int width, int height) {
  AvFrame frame = make_frame();
  frame->format = format_;
  frame->width = width;
  frame->height = height;
  if (av_frame_get_buffer(frame.get(), 0) < 0 || av_frame_copy_props(frame.get(), &like) < 0) throw std::bad_alloc();
  frame->colorspace = colorspace_;
  frame->color_range = range_;
  return frame;
}

AvFrame EncoderInput::converted(const AVFrame& frame) {
  AvFrame target = empty_frame(frame, frame.width, frame.height);
  if (!loses_alpha_) {
    converter_.convert(*target, frame);
    return target;
  }
  AvFrame opaque = make_frame();
  opaque->format = frame.format;
  opaque->width = frame.width;
  opaque->height = frame.height;
  if (av_frame_get_buffer(opaque.get(), 0) < 0 || av_frame_copy(opaque.get(), &frame) < 0 ||
      av_frame_copy_props(opaque.get(), &frame) < 0) {
    throw std::bad_alloc();
  }
  blend_on_black(*opaque);
  converter_.convert(*target, *opaque);
  return target;
}

AvFrame EncoderInput::extended(const AVFrame& frame) {
  AvFrame target = empty_frame(frame, width_, height_);
  av_image_copy(target->data, target->linesize, const_cast<const std::uint8_t**>(frame.data), frame.linesize, format_,
                frame.width, frame.height);
  const FrameView view = view_frame(*target);
  const PixelFormat& pixel = view.format.pixel;
  const FrameFormat own{pixel, frame.width, frame.height, {}, {}, {}};
  for (int plane = 0; plane < pixel.plane_count(); ++plane) {
    const auto repeat = pixel.bytes_per_sample() == 1 ? repeat_edges<std::uint8_t> : repeat_edges<std::uint16_t>;
    repeat(view.planes[static_cast<std::size_t>(plane)], own.plane_width(plane), own.plane_height(plane));
  }
  return target;
}

AvFrame EncoderInput::prepare(const AVFrame& frame) {
  AvFrame prepared = converts_ ? converted(frame) : reference(frame);
  prepared->format = format_;  // the yuvj name, or the plain one, for the same samples
  if (width_ != frame.width || height_ != frame.height) prepared = extended(*prepared);
  return prepared;
}

}  // namespace framelane
