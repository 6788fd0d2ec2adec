// demux, decode > ring > submit > [encode] > mux.
#include "pipeline/encoder_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "kernels/edit_distance.h"
#include "kernels/errors.h"
#include "pipeline/pixel_format.h"

extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {
namespace {

/** Quality and speed where the user names none: visually close to the input, and fast enough to follow a filter. */
struct EncoderDefaults {
  std::string_view encoder;
  double crf;
  double max_crf;
  const char* preset;  ///< null: has no presets
  std::vector<std::pair<const char*, const char*>> options;
};

const std::vector<EncoderDefaults>& encoder_defaults() {
  static const std::vector<EncoderDefaults> table{
      {"libx264", 20, 51, "veryfast", {}},
      {"libx264rgb", 20, 51, "veryfast", {}},
      // libx265 prints to stderr by itself. Its crf 24 is about as good as libx264's 20.
      {"libx265", 24, 51, "veryfast", {{"x265-params", "log-level=error"}}},
      {"libvpx-vp9", 31, 63, nullptr, {{"b", "0"}, {"deadline", "good"}, {"cpu-used", "4"}, {"row-mt", "1"}}},
      // libvpx's VP8 takes crf as a bound below a bit rate, so that has to be out of the way.
      {"libvpx", 10, 63, nullptr, {{"b", "20M"}, {"deadline", "good"}, {"cpu-used", "4"}}},
      {"libaom-av1", 30, 63, nullptr, {{"b", "0"}, {"cpu-used", "6"}, {"row-mt", "1"}}},
      {"libsvtav1", 30, 63, "8", {}},
  };
  return table;
}

const EncoderDefaults* defaults_of(const AVCodec& encoder) {
  const auto found = std::ranges::find(encoder_defaults(), encoder.name, &EncoderDefaults::encoder);
  return found == encoder_defaults().end() ? nullptr : &*found;
}

/** MPEG-1 to -4 and their like have no crf; FFmpeg's default for them is 200 kbit/s at any size. */
std::optional<int> default_quantiser(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_MJPEG:
      return 2;
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_MSMPEG4V2:
    case AV_CODEC_ID_MSMPEG4V3:
    case AV_CODEC_ID_H263:
    case AV_CODEC_ID_H263P:
    case AV_CODEC_ID_FLV1:
    case AV_CODEC_ID_WMV1:
    case AV_CODEC_ID_WMV2:
      return 3;
    default:
      return std::nullopt;
  }
}

std::string nearest_encoder(const std::string& name) {
  constexpr std::size_t kTypos = 3;
  std::size_t best = kTypos + 1;
  std::string nearest;
  void* position = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&position)) {
    if (av_codec_is_encoder(codec) == 0 || codec->type != AVMEDIA_TYPE_VIDEO) continue;
    const std::size_t distance = edit_distance(name, codec->name);
    if (distance < best) {
      best = distance;
      nearest = codec->name;
    }
  }
  return nearest;
}

const AVCodec& encoder_by_name(const std::string& name) {
  if (name == "copy") throw UsageError("--video-codec copy: filtered frames have to be encoded; name an encoder");
  const AVCodec* encoder = avcodec_find_encoder_by_name(name.c_str());
  if (encoder == nullptr) {  // "h264", "hevc": a codec's name, for which FFmpeg has a first choice
    const AVCodecDescriptor* codec = avcodec_descriptor_get_by_name(name.c_str());
    encoder = codec == nullptr ? nullptr : avcodec_find_encoder(codec->id);
  }
  if (encoder != nullptr && encoder->type == AVMEDIA_TYPE_VIDEO) return *encoder;
  const std::string nearest = nearest_encoder(name);
  throw UsageError(fmt::format("--video-codec {}: this FFmpeg has no such video encoder{}", name,
                               nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest)));
}

/** libavformat knows no codec table for MPEG-TS. */
bool takes_h264(const AVOutputFormat& muxer) {
  return avformat_query_codec(&muxer, AV_CODEC_ID_H264, FF_COMPLIANCE_NORMAL) == 1 ||
         std::string_view(muxer.name) == "mpegts";
}

bool is_raw_only(const AVOutputFormat& muxer) {
  return muxer.video_codec == AV_CODEC_ID_RAWVIDEO || muxer.video_codec == AV_CODEC_ID_WRAPPED_AVFRAME;
}

std::vector<AVPixelFormat> terminated_list(const AVPixelFormat* list) {
  std::vector<AVPixelFormat> formats;
  for (; list != nullptr && *list != AV_PIX_FMT_NONE; ++list) formats.push_back(*list);
  return formats;
}

std::vector<AVPixelFormat> encoder_formats(const AVCodec& encoder) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
  const void* list = nullptr;
  avcodec_get_supported_config(nullptr, &encoder, AV_CODEC_CONFIG_PIX_FORMAT, 0, &list, nullptr);
  return terminated_list(static_cast<const AVPixelFormat*>(list));
#else
  return terminated_list(encoder.pix_fmts);
#endif
}

std::vector<AVRational> encoder_rates(const AVCodec& encoder) {
  const AVRational* list = nullptr;
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
  const void* untyped = nullptr;
  avcodec_get_supported_config(nullptr, &encoder, AV_CODEC_CONFIG_FRAME_RATE, 0, &untyped, nullptr);
  list = static_cast<const AVRational*>(untyped);
#else
  list = encoder.supported_framerates;
#endif
  std::vector<AVRational> rates;
  for (; list != nullptr && list->num != 0; ++list) rates.push_back(*list);
  return rates;
}

/** What the YUV4MPEG2 header can name (FFmpeg's own extension for more than 8 bits included). */
std::vector<AVPixelFormat> yuv4mpeg_formats() {
  return {AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,   AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUV411P,   AV_PIX_FMT_GRAY8,
          AV_PIX_FMT_GRAY10,    AV_PIX_FMT_GRAY12,    AV_PIX_FMT_GRAY16,    AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10,
          AV_PIX_FMT_YUV444P10, AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12, AV_PIX_FMT_YUV420P14,
          AV_PIX_FMT_YUV422P14, AV_PIX_FMT_YUV444P14, AV_PIX_FMT_YUV420P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16};
}

bool is_full_range_name(AVPixelFormat format) {
  return std::string_view(av_get_pix_fmt_name(format)).starts_with("yuvj");
}

bool is_jpeg(AVCodecID codec) { return codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_LJPEG; }

std::vector<AVPixelFormat> candidates(const AVCodec& encoder, const AVOutputFormat& muxer) {
  std::vector<AVPixelFormat> formats =
      std::string_view(muxer.name) == "yuv4mpegpipe" ? yuv4mpeg_formats() : encoder_formats(encoder);
  std::erase_if(formats, [&](AVPixelFormat format) {
    const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format);
    const bool other_range =
        (descriptor->flags & AV_PIX_FMT_FLAG_RGB) == 0 && is_full_range_name(format) != is_jpeg(encoder.id);
    return (descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0 || (descriptor->nb_components > 1 && other_range);
  });
  return formats;
}

/** The yuvj format's plain twin. */
AVPixelFormat plain(AVPixelFormat format) {
  const std::optional<PixelFormat> pixel = planar_format(format);
  return pixel ? static_cast<AVPixelFormat>(av_pixel_format(*pixel)) : format;
}

bool has_option(const AVCodecContext& context, const char* name) {
  return context.priv_data != nullptr && av_opt_find(context.priv_data, name, nullptr, 0, 0) != nullptr;
}

double max_crf(const AVCodecContext& context, const EncoderDefaults* defaults) {
  if (defaults != nullptr) return defaults->max_crf;
  return av_opt_find(context.priv_data, "crf", nullptr, 0, 0)->max;
}

void check_user_settings(const AVCodecContext& context, const MediaOutputOptions& options,
                         const EncoderDefaults* defaults) {
  const char* name = context.codec->name;
  if (options.crf && !has_option(context, "crf")) {
    throw UsageError(fmt::format("--crf: encoder {} has no constant rate factor; try --bitrate", name));
  }
  if (options.crf && (*options.crf < 0 || *options.crf > max_crf(context, defaults))) {
    throw UsageError(fmt::format("Value {} for parameter 'crf' out of range [0 - {}] (encoder {})", *options.crf,
                                 max_crf(context, defaults), name));
  }
  if (!options.preset.empty() && !has_option(context, "preset")) {
    throw UsageError(fmt::format("--preset: encoder {} has no presets", name));
  }
  if (options.bitrate && (*options.bitrate <= 0 || *options.bitrate > std::numeric_limits<int>::max())) {
    throw UsageError(fmt::format("Value {} for parameter 'bitrate' out of range [1 - {}]", *options.bitrate,
                                 std::numeric_limits<int>::max()));
  }
}

/** True when the user decided on rate or quality in some way. */
bool controls_rate(const MediaOutputOptions& options) {
  static constexpr std::array kKeys{"crf", "qp", "cq", "b", "global_quality", "q", "lossless"};
  return options.crf || options.bitrate ||
         std::ranges::any_of(kKeys, [&](const char* key) { return options.encoder_options.contains(key); });
}

}  // namespace

const AVCodec& choose_encoder(const MediaOutputOptions& options, const AVOutputFormat& muxer) {
  if (!options.video_codec.empty()) {
    const AVCodec& encoder = encoder_by_name(options.video_codec);
    if (avformat_query_codec(&muxer, encoder.id, FF_COMPLIANCE_NORMAL) == 0) {
      throw UsageError(fmt::format("--video-codec {}: container {} cannot hold {} video", options.video_codec,
                                   muxer.name, avcodec_get_name(encoder.id)));
    }
    return encoder;
  }
  if (!is_raw_only(muxer) && takes_h264(muxer)) {
    if (const AVCodec* encoder = avcodec_find_encoder_by_name("libx264")) return *encoder;
  }
  const AVCodecID codec = av_guess_codec(&muxer, nullptr, options.url.c_str(), nullptr, AVMEDIA_TYPE_VIDEO);
  if (codec == AV_CODEC_ID_NONE)
    throw OutputError(fmt::format("{}: container {} holds no video", options.url, muxer.name));
  const AVCodec* encoder = codec == AV_CODEC_ID_VP9 ? avcodec_find_encoder_by_name("libvpx-vp9") : nullptr;
  if (encoder == nullptr) encoder = avcodec_find_encoder(codec);
  if (encoder == nullptr) {
    throw OutputError(fmt::format("{}: this FFmpeg cannot encode {}; choose another with --video-codec", options.url,
                                  avcodec_get_name(codec)));
  }
  return *encoder;
}

AVPixelFormat choose_pixel_format(const AVCodec& encoder, const AVOutputFormat& muxer, const AVFrame& frame) {
  const AVPixelFormat own = plain(static_cast<AVPixelFormat>(frame.format));
  std::vector<AVPixelFormat> formats = candidates(encoder, muxer);
  if (formats.empty()) return own;
  const auto same = std::ranges::find_if(formats, [&](AVPixelFormat format) { return plain(format) == own; });
  if (same != formats.end()) return *same;
  formats.push_back(AV_PIX_FMT_NONE);
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(own);
  const bool alpha = (descriptor->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
  return avcodec_find_best_pix_fmt_of_list(formats.data(), own, alpha ? 1 : 0, nullptr);
}

bool is_full_range_only(AVCodecID codec) {
  constexpr std::array kFull{AV_CODEC_ID_MJPEG, AV_CODEC_ID_LJPEG, AV_CODEC_ID_PNG, AV_CODEC_ID_APNG, AV_CODEC_ID_TIFF,
                             AV_CODEC_ID_BMP,   AV_CODEC_ID_PGM,   AV_CODEC_ID_PPM, AV_CODEC_ID_PAM,  AV_CODEC_ID_GIF};
  return std::ranges::find(kFull, codec) != kFull.end();
}

std::map<std::string, std::string> encoder_settings(AVCodecContext& context, const MediaOutputOptions& options) {
  const EncoderDefaults* defaults = defaults_of(*context.codec);
  check_user_settings(context, options, defaults);
  std::map<std::string, std::string> settings = options.encoder_options;
  if (options.crf) settings.try_emplace("crf", fmt::format("{}", *options.crf));
  if (!options.preset.empty()) settings.try_emplace("preset", options.preset);
  if (options.bitrate) context.bit_rate = *options.bitrate;
  if (defaults != nullptr) {
    if (!controls_rate(options)) settings.try_emplace("crf", fmt::format("{}", defaults->crf));
    if (defaults->preset != nullptr) settings.try_emplace("preset", defaults->preset);
    for (const auto& [key, value] : defaults->options) {
      if (std::string_view(key) != "b" || !options.bitrate) settings.try_emplace(key, value);
    }
  }
  const std::optional<int> quantiser = default_quantiser(context.codec_id);
  if (quantiser && !controls_rate(options)) {
    context.flags |= AV_CODEC_FLAG_QSCALE;
    context.global_quality = FF_QP2LAMBDA * *quantiser;
  }
  return settings;
}

bool has_constant_rate(const AVOutputFormat& muxer) {
  constexpr std::array<std::string_view, 4> kNames{"avi", "yuv4mpegpipe", "ogg", "mxf"};
  return std::ranges::find(kNames, muxer.name) != kNames.end();
}

AVRational encoder_time_base(const AVCodec& encoder, const AVOutputFormat& muxer, AVRational input, AVRational rate) {
  const std::vector<AVRational> rates = encoder_rates(encoder);
  if (!rates.empty() && rate.num > 0) {
    const auto distance = [&](AVRational other) { return std::abs(av_q2d(other) - av_q2d(rate)); };
    return av_inv_q(*std::ranges::min_element(rates, {}, distance));
  }
  if (has_constant_rate(muxer) && rate.num > 0) return av_inv_q(rate);
  constexpr int kMpeg4MaxDenominator = 65535;
  if (encoder.id == AV_CODEC_ID_MPEG4 && input.den > kMpeg4MaxDenominator) {
    // The finest clock that MPEG-4 holds and of which a frame is a whole number of ticks.
    if (rate.num > 0 && rate.num <= kMpeg4MaxDenominator) return {1, kMpeg4MaxDenominator / rate.num * rate.num};
    return {1, kMpeg4MaxDenominator};
  }
  return input;
}

}  // namespace framelane
