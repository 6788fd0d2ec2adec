// submit > [encode] > mux.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/encoder_input.h"
#include "pipeline/media_output.h"

extern "C" {
#include <libavutil/rational.h>
}

struct AVCodecContext;
struct AVOutputFormat;

namespace framelane {

/** The time that frames carry, and what the input says about their rate (0:1 when unknown). */
struct EncoderTiming {
  AVRational time_base;
  AVRational rate;
};

/** Encodes one video stream.
 *  Thread: one at a time. Owns: the codec. Keeps references to frames while the codec looks at them. */
class VideoEncoder {
 public:
  using PacketSink = std::function<void(AVPacket&)>;

  /** Chooses and opens the encoder for frames like `first`. `name`: the output's, for messages. Throws UsageError for
   *  options that the encoder does not have or refuses, OutputError where it does not open. */
  VideoEncoder(const MediaOutputOptions& options, const AVOutputFormat& muxer, const std::string& name,
               const AVFrame& first, EncoderTiming timing);
  ~VideoEncoder();
  VideoEncoder(const VideoEncoder&) = delete;
  VideoEncoder& operator=(const VideoEncoder&) = delete;

  /** Takes a frame and hands on the packets that come out, their times in context().time_base. Throws OutputError. */
  void encode(const AVFrame& frame, const PacketSink& sink);
  /** Hands on all packets that are still inside; no frame may follow. */
  void flush(const PacketSink& sink);

  const AVCodecContext& context() const { return *context_; }
  /** Frames whose time did not rise and was moved. */
  std::int64_t moved_frames() const { return moved_frames_; }

 private:
  void describe_video(const AVFrame& first, EncoderTiming timing);
  void open(const MediaOutputOptions& options);
  std::int64_t rising_pts(std::int64_t pts);
  void send(const AVFrame* frame);
  void receive(const PacketSink& sink);
  void hand_on(AVPacket& packet, const PacketSink& sink);

  std::string name_;
  AVRational input_time_base_;
  AVCodecContext* context_ = nullptr;
  std::unique_ptr<EncoderInput> input_;
  std::optional<std::int64_t> last_pts_;
  std::map<std::int64_t, std::int64_t> durations_;  ///< by pts, of frames inside; many encoders forget them
  AvPacket held_;  ///< where packets are not in the order of their times: the latest one, which may be the last
  std::int64_t first_pts_ = INT64_MAX;
  std::int64_t end_pts_ = INT64_MIN;
  std::optional<std::int64_t> first_dts_;
  std::int64_t moved_frames_ = 0;
};

}  // namespace framelane
