// Beside the frame's way: FFmpeg's pixel formats and colour tags in our terms.
#include "pipeline/pixel_format.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {
namespace {

// Samples over 8 bits are read as native words; FFmpeg's formats that we take are the little-endian ones.
static_assert(std::endian::native == std::endian::little);

constexpr int kMaxDepth = 16;

bool has_flag(const AVPixFmtDescriptor& descriptor, std::uint64_t flag) { return (descriptor.flags & flag) != 0; }

std::string_view name_of(const AVPixFmtDescriptor& descriptor) { return descriptor.name; }

bool is_full_range_name(const AVPixFmtDescriptor& descriptor) { return name_of(descriptor).starts_with("yuvj"); }

/** Each component alone in its plane, in whole words, value in the low bits. */
bool is_planar(const AVPixFmtDescriptor& descriptor) {
  constexpr std::uint64_t kOther = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                                   AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
  if (has_flag(descriptor, kOther) || descriptor.nb_components == 0) return false;
  const int depth = descriptor.comp[0].depth;
  if (depth < 8 || depth > kMaxDepth) return false;
  unsigned planes_seen = 0;
  for (int i = 0; i < descriptor.nb_components; ++i) {
    const AVComponentDescriptor& component = descriptor.comp[i];
    const bool alone = component.step == (depth > 8 ? 2 : 1) && component.offset == 0 && component.shift == 0;
    if (!alone || component.depth != depth) return false;
    planes_seen |= 1U << component.plane;
  }
  return planes_seen == (1U << descriptor.nb_components) - 1;
}

/** Our model of a planar format whose planes lie in our order. */
std::optional<ColorModel> planar_model(const AVPixFmtDescriptor& descriptor) {
  const bool rgb = has_flag(descriptor, AV_PIX_FMT_FLAG_RGB);
  if (descriptor.nb_components == 1) return ColorModel::kGray;
  if (descriptor.nb_components == 2) return std::nullopt;
  if (!rgb) return ColorModel::kYuv;
  const bool gbr = descriptor.comp[0].plane == 2 && descriptor.comp[1].plane == 0 && descriptor.comp[2].plane == 1;
  return gbr ? std::optional(ColorModel::kGbr) : std::nullopt;
}

struct KnownFormat {
  PixelFormat pixel;
  AVPixelFormat av;
};

/** All of FFmpeg's formats that are ours, in the non-J form. */
const std::vector<KnownFormat>& known_formats() {
  static const std::vector<KnownFormat> formats = [] {
    std::vector<KnownFormat> found;
    for (const AVPixFmtDescriptor* entry = av_pix_fmt_desc_next(nullptr); entry != nullptr;
         entry = av_pix_fmt_desc_next(entry)) {
      const AVPixelFormat id = av_pix_fmt_desc_get_id(entry);
      const std::optional<PixelFormat> pixel = planar_format(id);
      if (pixel && !is_full_range_name(*entry)) found.push_back({*pixel, id});
    }
    return found;
  }();
  return formats;
}

int max_component_depth(const AVPixFmtDescriptor& descriptor) {
  int depth = 0;
  for (int i = 0; i < descriptor.nb_components; ++i) depth = std::max(depth, descriptor.comp[i].depth);
  return depth;
}

/** What a frame of a format that is not planar holds, in our terms; FFmpeg may have no planar format like it. */
PixelFormat content_of(const AVPixFmtDescriptor& descriptor) {
  PixelFormat content{ColorModel::kYuv, max_component_depth(descriptor), descriptor.log2_chroma_w,
                      descriptor.log2_chroma_h, has_flag(descriptor, AV_PIX_FMT_FLAG_ALPHA)};
  // A Bayer pattern's descriptor counts the bits that a pixel has on average, and a palette's those of its index.
  if (has_flag(descriptor, AV_PIX_FMT_FLAG_BAYER)) content.depth_bits = av_get_bits_per_pixel(&descriptor);
  if (has_flag(descriptor, AV_PIX_FMT_FLAG_PAL)) content.alpha = true;
  if (has_flag(descriptor, AV_PIX_FMT_FLAG_FLOAT)) content.depth_bits = kMaxDepth;
  content.depth_bits = std::clamp(content.depth_bits, 8, kMaxDepth);
  const bool coloured_rgb = has_flag(descriptor, AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER) ||
                            name_of(descriptor).starts_with("xyz");
  const int components = descriptor.nb_components;
  if (coloured_rgb && (components > 2 || has_flag(descriptor, AV_PIX_FMT_FLAG_PAL))) {
    content.model = ColorModel::kGbr;
  } else if (components <= 2) {
    // FFmpeg has no planar gray with alpha; GBR holds both exactly.
    content.model = content.alpha ? ColorModel::kGbr : ColorModel::kGray;
  }
  if (content.model != ColorModel::kYuv) content.chroma_shift_x = content.chroma_shift_y = 0;
  return content;
}

/** True when a frame of `content` fits into `pixel` without loss. */
bool holds(const PixelFormat& pixel, const PixelFormat& content) {
  return pixel.model == content.model && pixel.depth_bits >= content.depth_bits && pixel.alpha >= content.alpha &&
         pixel.chroma_shift_x <= content.chroma_shift_x && pixel.chroma_shift_y <= content.chroma_shift_y;
}

int bits_a_pixel(const PixelFormat& pixel) {
  const int chroma = pixel.model == ColorModel::kGray ? 0 : (2 * 16 >> (pixel.chroma_shift_x + pixel.chroma_shift_y));
  return pixel.depth_bits * (16 + chroma + (pixel.alpha ? 16 : 0));
}

std::optional<ColorMatrix> matrix_of(int colorspace) {
  switch (colorspace) {
    case AVCOL_SPC_BT709:
      return ColorMatrix::kBt709;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
      return ColorMatrix::kBt601;
    case AVCOL_SPC_SMPTE240M:
      return ColorMatrix::kSmpte240m;
    case AVCOL_SPC_FCC:
      return ColorMatrix::kFcc;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return ColorMatrix::kBt2020;
    default:
      return std::nullopt;
  }
}

AVColorSpace colorspace_of(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBt601:
      return AVCOL_SPC_SMPTE170M;
    case ColorMatrix::kBt709:
      return AVCOL_SPC_BT709;
    case ColorMatrix::kBt2020:
      return AVCOL_SPC_BT2020_NCL;
    case ColorMatrix::kSmpte240m:
      return AVCOL_SPC_SMPTE240M;
    case ColorMatrix::kFcc:
      return AVCOL_SPC_FCC;
  }
  return AVCOL_SPC_UNSPECIFIED;
}

ColorRange range_of(const AVFrame& frame, const AVPixFmtDescriptor& descriptor) {
  if (frame.color_range == AVCOL_RANGE_JPEG || is_full_range_name(descriptor)) return ColorRange::kFull;
  if (frame.color_range == AVCOL_RANGE_MPEG) return ColorRange::kLimited;
  return has_flag(descriptor, AV_PIX_FMT_FLAG_RGB) ? ColorRange::kFull : ColorRange::kLimited;
}

}  // namespace

std::optional<PixelFormat> planar_format(int av_pixel_format) {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(av_pixel_format));
  if (descriptor == nullptr || !is_planar(*descriptor)) return std::nullopt;
  const std::optional<ColorModel> model = planar_model(*descriptor);
  if (!model) return std::nullopt;
  const bool subsampled = *model == ColorModel::kYuv;
  return PixelFormat{*model, descriptor->comp[0].depth, subsampled ? descriptor->log2_chroma_w : 0,
                     subsampled ? descriptor->log2_chroma_h : 0, has_flag(*descriptor, AV_PIX_FMT_FLAG_ALPHA)};
}

int arrival_format(int av_pixel_format) {
  if (planar_format(av_pixel_format)) return av_pixel_format;
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(av_pixel_format));
  if (descriptor == nullptr || has_flag(*descriptor, AV_PIX_FMT_FLAG_HWACCEL)) return AV_PIX_FMT_NONE;
  const PixelFormat content = content_of(*descriptor);
  const KnownFormat* best = nullptr;
  for (const KnownFormat& candidate : known_formats()) {
    if (!holds(candidate.pixel, content)) continue;
    if (best == nullptr || bits_a_pixel(candidate.pixel) < bits_a_pixel(best->pixel)) best = &candidate;
  }
  return best == nullptr ? AV_PIX_FMT_NONE : best->av;
}

int av_pixel_format(const PixelFormat& format) {
  const auto found = std::ranges::find(known_formats(), format, &KnownFormat::pixel);
  return found == known_formats().end() ? AV_PIX_FMT_NONE : found->av;
}

FrameFormat frame_format(const AVFrame& frame) {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  FrameFormat format;
  format.pixel = planar_format(frame.format).value();
  format.width = frame.width;
  format.height = frame.height;
  format.matrix = matrix_of(frame.colorspace).value_or(guess_matrix(frame.width, frame.height));
  format.range = range_of(frame, *descriptor);
  if (frame.sample_aspect_ratio.num > 0 && frame.sample_aspect_ratio.den > 0) {
    format.sample_aspect = {frame.sample_aspect_ratio.num, frame.sample_aspect_ratio.den};
  }
  return format;
}

FrameView view_frame(const AVFrame& frame) {
  FrameView view{frame_format(frame), {}};
  for (int plane = 0; plane < view.format.pixel.plane_count(); ++plane) {
    view.planes[plane] = {reinterpret_cast<std::byte*>(frame.data[plane]), frame.linesize[plane],
                          view.format.plane_width(plane), view.format.plane_height(plane)};
  }
  return view;
}

void tag_frame(AVFrame& frame, const FrameFormat& format) {
  frame.color_range = format.range == ColorRange::kFull ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  if (format.pixel.model == ColorModel::kGbr) {
    frame.colorspace = AVCOL_SPC_RGB;
  } else if (matrix_of(frame.colorspace) != format.matrix) {  // keeps which of two names for one matrix it was
    frame.colorspace = colorspace_of(format.matrix);
  }
}

}  // namespace framelane
