// demux > [timestamps] > decode.  Thread: decoder.
#include "pipeline/timeline.h"

#include <spdlog/spdlog.h>

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>
}

namespace framelane {
namespace {

constexpr AVRational kMicroseconds{1, AV_TIME_BASE};
constexpr std::int64_t kBackUs = -AV_TIME_BASE / 10;
constexpr std::int64_t kAheadUs = 10 * std::int64_t{AV_TIME_BASE};

bool is_jump(std::int64_t delta_us) { return delta_us < kBackUs || delta_us > kAheadUs; }

void add(std::int64_t& timestamp, std::int64_t offset) {
  if (timestamp != AV_NOPTS_VALUE) timestamp += offset;
}

}  // namespace

void Timeline::close_jump(StreamLine& line, std::int64_t dts_us) {
  if (!line.next_us || !is_jump(dts_us + *line.offset_us - *line.next_us)) return;
  // Another stream may have met this jump first: both then move by the same amount.
  if (is_jump(dts_us + offset_us_ - *line.next_us)) {
    spdlog::info("timestamps jump by {:.3f} s: closed up",
                 static_cast<double>(dts_us + *line.offset_us - *line.next_us) / AV_TIME_BASE);
    offset_us_ = *line.next_us - dts_us;
  }
  line.offset_us = offset_us_;
}

void Timeline::correct(AVPacket& packet, const AVStream& stream) {
  const auto index = static_cast<std::size_t>(stream.index);
  if (index >= streams_.size()) streams_.resize(index + 1);
  StreamLine& line = streams_[index];
  if (!line.offset_us) line.offset_us = offset_us_;

  const AVMediaType type = stream.codecpar->codec_type;
  const bool steady = type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO;
  if (jumps_ == TimeJumps::kClose && steady && packet.dts != AV_NOPTS_VALUE) {
    const std::int64_t dts_us = av_rescale_q(packet.dts, stream.time_base, kMicroseconds);
    close_jump(line, dts_us);
    line.next_us = dts_us + *line.offset_us + av_rescale_q(packet.duration, stream.time_base, kMicroseconds);
  }
  const std::int64_t offset = av_rescale_q(*line.offset_us, kMicroseconds, stream.time_base);
  add(packet.pts, offset);
  add(packet.dts, offset);
}

}  // namespace framelane
