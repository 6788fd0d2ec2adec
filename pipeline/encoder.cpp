// submit > [encode] > mux.  Thread: encoder, and libavcodec's own.
#include "pipeline/encoder.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>

#include "kernels/errors.h"
#include "pipeline/av_compat.h"
#include "pipeline/av_log.h"
#include "pipeline/encoder_choice.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {
namespace {

/** SVT-AV1 prints its settings to stderr unless told otherwise by the environment. */
void quiet_encoder(const AVCodec& encoder) {
  if (std::string_view(encoder.name) == "libsvtav1") setenv("SVT_LOG", "1", 0);
}

void mark_interlaced(AVCodecContext& context, const AVFrame& first) {
  const bool codec_has_fields = context.codec_id == AV_CODEC_ID_H264 || context.codec_id == AV_CODEC_ID_MPEG2VIDEO ||
                                context.codec_id == AV_CODEC_ID_MPEG4;
  if (!is_interlaced(first) || !codec_has_fields) {
    context.field_order = AV_FIELD_PROGRESSIVE;
    return;
  }
  context.flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME;
  context.field_order = is_top_field_first(first) ? AV_FIELD_TT : AV_FIELD_BB;
}

}  // namespace

VideoEncoder::VideoEncoder(const MediaOutputOptions& options, const AVOutputFormat& muxer, const std::string& name,
                           const AVFrame& first, EncoderTiming timing)
    : name_(name), input_time_base_(timing.time_base) {
  const AVCodec& codec = choose_encoder(options, muxer);
  quiet_encoder(codec);
  context_ = avcodec_alloc_context3(&codec);
  if (context_ == nullptr) throw std::bad_alloc();
  try {
    context_->pix_fmt = choose_pixel_format(codec, muxer, first);
    input_ = std::make_unique<EncoderInput>(first, codec, context_->pix_fmt, name);
    context_->time_base = encoder_time_base(codec, muxer, timing.time_base, timing.rate);
    if ((muxer.flags & AVFMT_GLOBALHEADER) != 0) context_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    describe_video(first, timing);
    open(options);
  } catch (...) {
    avcodec_free_context(&context_);
    throw;
  }
}

VideoEncoder::~VideoEncoder() { avcodec_free_context(&context_); }

void VideoEncoder::describe_video(const AVFrame& first, EncoderTiming timing) {
  context_->width = input_->width();
  context_->height = input_->height();
  context_->framerate = timing.rate;
  context_->sample_aspect_ratio = first.sample_aspect_ratio;
  context_->colorspace = input_->colorspace();
  context_->color_range = input_->range();
  context_->color_primaries = first.color_primaries;
  context_->color_trc = first.color_trc;
  context_->chroma_sample_location = first.chroma_location;
  mark_interlaced(*context_, first);
}

void VideoEncoder::open(const MediaOutputOptions& options) {
  context_->thread_count = options.encoder_threads;
  const std::map<std::string, std::string> settings = encoder_settings(*context_, options);
  AVDictionary* dictionary = nullptr;
  for (const auto& [key, value] : settings) av_dict_set(&dictionary, key.c_str(), value.c_str(), 0);
  const char* encoder = context_->codec->name;  // a failure clears context_->codec
  AvLogCapture log;
  const int status = avcodec_open2(context_, context_->codec, &dictionary);
  const AVDictionaryEntry* entry = av_dict_get(dictionary, "", nullptr, AV_DICT_IGNORE_SUFFIX);
  const std::string unknown = entry != nullptr ? entry->key : "";
  av_dict_free(&dictionary);
  if (status >= 0 && unknown.empty()) return;
  if (status >= 0) throw UsageError(fmt::format("--encoder-opt {}: encoder {} has no such option", unknown, encoder));
  const std::string reason = log.reason(av_error_text(status));
  const bool users_settings = !options.encoder_options.empty() || !options.preset.empty();
  if (status == AVERROR(EINVAL) && users_settings) {
    throw UsageError(fmt::format("{}: encoder {} refuses its settings: {}", name_, encoder, reason));
  }
  throw OutputError(fmt::format("{}: encoder {} does not open for {}x{} {}: {}", name_, encoder, context_->width,
                                context_->height, av_get_pix_fmt_name(context_->pix_fmt), reason));
}

std::int64_t VideoEncoder::rising_pts(std::int64_t pts) {
  if (last_pts_ && pts <= *last_pts_) {
    if (moved_frames_ == 0) {
      spdlog::warn(
          "{}: the time of a frame does not rise (at {:.3f} s): such frames follow a tick after the one before", name_,
          static_cast<double>(pts) * av_q2d(context_->time_base));
    }
    ++moved_frames_;
    pts = *last_pts_ + 1;
  }
  last_pts_ = pts;
  return pts;
}

void VideoEncoder::encode(const AVFrame& frame, const PacketSink& sink) {
  AvFrame input = input_->prepare(frame);
  input->pts = rising_pts(av_rescale_q(frame.pts, input_time_base_, context_->time_base));
  input->pict_type = AV_PICTURE_TYPE_NONE;  // else the encoder repeats the input's choice of key frames
  if (const std::int64_t duration = frame_duration(frame); duration > 0) {
    durations_[input->pts] = av_rescale_q(duration, input_time_base_, context_->time_base);
  }
  send(input.get());
  receive(sink);
}

void VideoEncoder::flush(const PacketSink& sink) {
  send(nullptr);
  receive(sink);
  if (!held_) return;
  // A container's track is as long as its packets' steps in decoding order and the last one's duration: with uneven
  // times, only this duration makes that the length of what is shown.
  held_->duration = std::max<std::int64_t>(1, end_pts_ - first_pts_ - (held_->dts - *first_dts_));
  sink(*held_);
  held_.reset();
}

/** The codec has room: receive() emptied it. */
void VideoEncoder::send(const AVFrame* frame) {
  const int status = avcodec_send_frame(context_, frame);
  if (status < 0 && status != AVERROR_EOF) {
    throw OutputError(fmt::format("{}: encoder {} failed: {}", name_, context_->codec->name, av_error_text(status)));
  }
}

void VideoEncoder::receive(const PacketSink& sink) {
  const AvPacket packet = make_packet();
  for (;;) {
    const int status = avcodec_receive_packet(context_, packet.get());
    if (status == AVERROR(EAGAIN) || status == AVERROR_EOF) return;
    if (status < 0) {
      throw OutputError(fmt::format("{}: encoder {} failed: {}", name_, context_->codec->name, av_error_text(status)));
    }
    if (auto duration = durations_.extract(packet->pts); !duration.empty() && packet->duration <= 0) {
      packet->duration = duration.mapped();
    }
    hand_on(*packet, sink);
  }
}

void VideoEncoder::hand_on(AVPacket& packet, const PacketSink& sink) {
  if (!first_dts_) first_dts_ = packet.dts;
  first_pts_ = std::min(first_pts_, packet.pts);
  end_pts_ = std::max(end_pts_, packet.pts + packet.duration);
  if (context_->has_b_frames == 0) return sink(packet);
  if (held_) sink(*held_);
  held_ = make_packet();
  av_packet_move_ref(held_.get(), &packet);
}

}  // namespace framelane
