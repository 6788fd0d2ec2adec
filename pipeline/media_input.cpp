// [demux, decode] > ring > submit > encode > mux.  Thread: decoder.
#include "pipeline/media_input.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string_view>
#include <vector>

#include "kernels/errors.h"
#include "pipeline/av_compat.h"
#include "pipeline/decoder.h"
#include "pipeline/demuxer.h"
#include "pipeline/side_packets.h"
#include "pipeline/timeline.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>
}

namespace framelane {
namespace {

constexpr double kMicrosecond = 1.0 / AV_TIME_BASE;
constexpr double kFallbackRate = 25;  // what FFmpeg gives raw streams, which have no clock

/** Side streams of badly interleaved files are followed this far beyond the video, not to the end of the file. */
constexpr double kInterleaveSlack_s = 5;

std::int64_t microseconds(double seconds) { return std::llround(seconds * AV_TIME_BASE); }

bool is_attached_picture(const AVStream& stream) { return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0; }

/** The largest picture, the default one before others: ffmpeg's rule. */
AVStream& choose_video_stream(AVFormatContext& context, const std::string& name) {
  constexpr std::int64_t kDefaultBonus = 5'000'000;
  AVStream* best = nullptr;
  std::int64_t best_score = -1;
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    AVStream& stream = *context.streams[i];
    if (stream.codecpar->codec_type != AVMEDIA_TYPE_VIDEO || is_attached_picture(stream)) continue;
    const std::int64_t score = std::int64_t{stream.codecpar->width} * stream.codecpar->height +
                               ((stream.disposition & AV_DISPOSITION_DEFAULT) != 0 ? kDefaultBonus : 0);
    if (score > best_score) {
      best = &stream;
      best_score = score;
    }
  }
  if (best == nullptr) throw InputError(fmt::format("{}: no video stream", name));
  if (best->codecpar->width <= 0 && best->codecpar->codec_id != AV_CODEC_ID_WRAPPED_AVFRAME) {
    throw InputError(
        fmt::format("{}: the {} video in it cannot be read", name, avcodec_get_name(best->codecpar->codec_id)));
  }
  return *best;
}

/** Sources that go on whether we read or not. */
bool is_live_source(const InputSource& source) {
  constexpr std::array<std::string_view, 5> kLive{"rtsp:", "rtsps:", "rtp:", "udp:", "srt:"};
  return source.kind == SourceKind::kCamera ||
         std::ranges::any_of(kLive, [&](std::string_view scheme) { return source.url.starts_with(scheme); });
}

bool has_free_clock(const AVFormatContext& context) { return (context.iformat->flags & AVFMT_TS_DISCONT) != 0; }

/** A little before 0 is where many containers put what a sound decoder needs to warm up; only where the clock is any
 *  does a negative start mean anything (a 33-bit wrap soon after the start). */
std::int64_t start_us(const AVFormatContext& context) {
  if (context.start_time == AV_NOPTS_VALUE) return 0;
  return has_free_clock(context) ? context.start_time : std::max<std::int64_t>(0, context.start_time);
}

std::int64_t shift_us(const AVFormatContext& context, const MediaInputOptions& options) {
  return start_us(context) + microseconds(options.start_s.value_or(0));
}

TimeJumps time_jumps(const AVFormatContext& context) {
  return has_free_clock(context) ? TimeJumps::kClose : TimeJumps::kKeep;
}

/** Known, not guessed from the bit rate. */
std::optional<double> container_length_s(const AVFormatContext& context) {
  if (context.duration <= 0 || context.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE) return std::nullopt;
  return static_cast<double>(context.duration) * kMicrosecond;
}

}  // namespace

struct MediaInput::State {
  State(const MediaInputOptions& given, std::shared_ptr<HostPool> given_pool);

  AvFrame read_frame();
  AvFrame next_decoded();
  void feed_decoder();
  AvPacket read_packet();
  void take_side_packet(AvPacket packet);
  bool side_streams_reached(double time_s) const;
  void drain_side_packets(double until_s);
  void complete_time(AVFrame& frame);
  bool wait_until_due(std::int64_t pts);
  void check_length();
  void finish();
  double seconds(std::int64_t pts) const { return static_cast<double>(pts) * av_q2d(video.time_base); }
  double rate() const { return av_q2d(av_guess_frame_rate(&demuxer.context(), &video, nullptr)); }

  const MediaInputOptions options;
  std::shared_ptr<HostPool> pool;
  mutable Demuxer demuxer;  // FFmpeg's queries take it as not const
  AVStream& video;
  const std::int64_t time_shift_us;
  const bool live;
  VideoDecoder decoder;
  Timeline timeline;
  SidePackets side_packets;
  std::vector<double> reached_s;  ///< by stream: time of its latest packet

  std::atomic<std::int64_t> corrupt_packets{0};
  std::atomic<bool> cut_short{false};
  bool end_of_packets = false;
  bool ended = false;
  std::exception_ptr broken;  ///< what made reading stop; told after the frames before it
  std::int64_t frames = 0;
  std::optional<std::int64_t> next_pts;

  std::mutex mutex;  ///< guards the wait of `realtime`
  std::condition_variable interrupted;
  std::optional<std::chrono::steady_clock::time_point> first_due;
  std::int64_t first_pts = 0;
  std::chrono::steady_clock::duration held_back{};
};

MediaInput::State::State(const MediaInputOptions& given, std::shared_ptr<HostPool> given_pool)
    : options(given),
      pool(std::move(given_pool)),
      demuxer(find_source(given), given),
      video(choose_video_stream(demuxer.context(), demuxer.source().name)),
      time_shift_us(shift_us(demuxer.context(), given)),
      live(is_live_source(demuxer.source())),
      decoder(video, demuxer.source().name, pool, given.decoder_threads,
              live ? DecoderDelay::kLow : DecoderDelay::kAny),
      timeline(-time_shift_us, time_jumps(demuxer.context())),
      reached_s(demuxer.context().nb_streams, -std::numeric_limits<double>::infinity()) {
  if (options.start_s && *options.start_s > 0 && !demuxer.seek(time_shift_us)) {
    spdlog::info("{}: cannot be sought in: decoding from the start", demuxer.source().name);
  }
}

AvPacket MediaInput::State::read_packet() {
  AvPacket packet = demuxer.read();
  if (!packet) return nullptr;
  const AVStream& stream = *demuxer.context().streams[packet->stream_index];
  timeline.correct(*packet, stream);
  const std::int64_t time = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
  const auto index = static_cast<std::size_t>(packet->stream_index);
  if (index >= reached_s.size()) reached_s.resize(index + 1, -std::numeric_limits<double>::infinity());
  if (time != AV_NOPTS_VALUE) reached_s[index] = static_cast<double>(time) * av_q2d(stream.time_base);
  return packet;
}

void MediaInput::State::take_side_packet(AvPacket packet) {
  const int index = packet->stream_index;
  const AVStream& stream = *demuxer.context().streams[index];
  if (is_attached_picture(stream)) return;
  const std::int64_t pts = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
  if (pts != AV_NOPTS_VALUE) {
    const double begin_s = static_cast<double>(pts) * av_q2d(stream.time_base);
    if (options.start_s && begin_s < 0) return;
    if (options.duration_s && begin_s >= *options.duration_s) return;
  }
  side_packets.add(std::move(packet), index, reached_s[static_cast<std::size_t>(index)]);
}

void MediaInput::State::feed_decoder() {
  try {
    if (AvPacket packet = read_packet(); !packet) {
      end_of_packets = true;
    } else if (packet->stream_index == video.index) {
      if ((packet->flags & AV_PKT_FLAG_CORRUPT) != 0) ++corrupt_packets;
      decoder.send(packet.get());
    } else {
      take_side_packet(std::move(packet));
    }
  } catch (const InputError&) {
    broken = std::current_exception();
    end_of_packets = true;
  }
  if (end_of_packets) decoder.send(nullptr);
}

AvFrame MediaInput::State::next_decoded() {
  while (!demuxer.interrupted()) {
    if (AvFrame frame = decoder.receive()) return frame;
    if (decoder.ended()) return nullptr;
    if (!end_of_packets) feed_decoder();
  }
  return nullptr;
}

/** Gives a frame the pts it must have, where the stream left it out from the one before. */
void MediaInput::State::complete_time(AVFrame& frame) {
  frame.pts = frame.best_effort_timestamp != AV_NOPTS_VALUE ? frame.best_effort_timestamp : next_pts.value_or(0);
  const double frame_s = 1 / (rate() > 0 ? rate() : kFallbackRate);
  const std::int64_t duration = frame_duration(frame);
  next_pts = frame.pts + (duration > 0 ? duration : std::max(1LL, std::llround(frame_s / av_q2d(video.time_base))));
}

/** False when interrupted. */
bool MediaInput::State::wait_until_due(std::int64_t pts) {
  std::unique_lock lock(mutex);
  if (!first_due) {
    first_due = std::chrono::steady_clock::now();
    first_pts = pts;
  }
  const std::chrono::duration<double> after_first(seconds(pts - first_pts));
  const auto due = *first_due + std::chrono::duration_cast<std::chrono::steady_clock::duration>(after_first);
  const auto begin = std::chrono::steady_clock::now();
  interrupted.wait_until(lock, due, [&] { return demuxer.interrupted(); });
  held_back = std::chrono::steady_clock::now() - begin;
  return !demuxer.interrupted();
}

AvFrame MediaInput::State::read_frame() {
  while (!ended) {
    AvFrame frame = next_decoded();
    if (!frame) break;
    complete_time(*frame);
    if (options.start_s && frame->pts < 0) continue;
    if (options.duration_s && seconds(frame->pts) >= *options.duration_s) {
      drain_side_packets(*options.duration_s);
      break;
    }
    if (options.realtime && !wait_until_due(frame->pts)) break;
    ++frames;
    side_packets.release_before(seconds(*next_pts));
    return frame;
  }
  if (!ended) finish();
  return nullptr;
}

/** Some demuxers take a file that breaks off for one that ends. */
void MediaInput::State::check_length() {
  constexpr double kTolerance_s = 1;  // last packets have a length of their own
  const std::optional<double> length = container_length_s(demuxer.context());
  if (!length || demuxer.source().kind != SourceKind::kFile || demuxer.cut_short()) return;
  const double end_s = *std::ranges::max_element(reached_s) + options.start_s.value_or(0);
  if (end_s + kTolerance_s >= *length) return;
  spdlog::warn("{}: breaks off at {:.1f} s of {:.1f} s", demuxer.source().name, end_s, *length);
  cut_short = true;
}

void MediaInput::State::finish() {
  ended = true;
  if (demuxer.interrupted()) return;
  if (decoder.ended()) {
    check_length();
    side_packets.release_all();
  }
  if (broken) std::rethrow_exception(broken);
  if (frames > 0) return;
  const std::string& name = demuxer.source().name;
  if (options.start_s && *options.start_s > 0) {
    throw InputError(fmt::format("{}: has no frame at or after --start {} s", name, *options.start_s));
  }
  const bool piped_mp4 = demuxer.source().kind == SourceKind::kPipe &&
                         std::string_view(demuxer.context().iformat->name).find("mp4") != std::string_view::npos;
  throw InputError(fmt::format("{}: no frame could be decoded{}", name,
                               piped_mp4 ? " (an MP4 with its index at the end cannot come through a pipe)" : ""));
}

bool MediaInput::State::side_streams_reached(double time_s) const {
  const AVFormatContext& context = demuxer.context();
  const double video_s = reached_s[static_cast<std::size_t>(video.index)];
  if (video_s >= time_s + kInterleaveSlack_s) return true;
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    if (context.streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO && reached_s[i] < time_s) return false;
  }
  return video_s >= time_s;
}

void MediaInput::State::drain_side_packets(double until_s) {
  while (!live && !end_of_packets && !side_streams_reached(until_s)) {
    AvPacket packet = read_packet();
    if (!packet) break;
    if (packet->stream_index != video.index) take_side_packet(std::move(packet));
  }
  side_packets.release_before(until_s);
}

MediaInput::MediaInput(const MediaInputOptions& options, std::shared_ptr<HostPool> pool)
    : state_(std::make_unique<State>(options, std::move(pool))) {}

MediaInput::~MediaInput() = default;

AvFrame MediaInput::read_frame() { return state_->read_frame(); }

std::chrono::steady_clock::duration MediaInput::held_back() const { return state_->held_back; }

void MediaInput::interrupt() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->demuxer.interrupt();
  }
  state_->interrupted.notify_all();
}

void MediaInput::set_side_packet_sink(SidePacketSink sink) { state_->side_packets.set_sink(std::move(sink)); }

void MediaInput::drain_side_packets(double until_s) { state_->drain_side_packets(until_s); }

const AVFormatContext& MediaInput::format_context() const { return state_->demuxer.context(); }
const AVStream& MediaInput::video_stream() const { return state_->video; }
std::pair<int, int> MediaInput::time_base() const { return {state_->video.time_base.num, state_->video.time_base.den}; }
double MediaInput::frame_rate() const { return state_->rate(); }
bool MediaInput::is_live() const { return state_->live; }
bool MediaInput::is_stdin() const { return state_->options.url == "-"; }
std::int64_t MediaInput::time_shift_us() const { return state_->time_shift_us; }

std::optional<double> MediaInput::duration_limit_s() const { return state_->options.duration_s; }

std::optional<double> MediaInput::duration_s() const {
  const AVFormatContext& context = state_->demuxer.context();
  std::optional<double> length;
  if (state_->video.duration > 0) {
    const std::int64_t begin = state_->video.start_time == AV_NOPTS_VALUE ? 0 : state_->video.start_time;
    length = state_->seconds(begin + state_->video.duration);
    if (begin != 0) *length -= static_cast<double>(start_us(context)) * kMicrosecond;
  } else {
    length = container_length_s(context);
  }
  const std::optional<double>& cut = state_->options.duration_s;
  if (!length || is_live()) return cut;
  *length = std::max(0.0, *length - state_->options.start_s.value_or(0));
  return cut ? std::min(*length, *cut) : *length;
}

std::optional<std::int64_t> MediaInput::frame_count() const {
  const bool whole = !state_->options.start_s && !state_->options.duration_s;
  if (whole && state_->video.nb_frames > 0) return state_->video.nb_frames;
  const std::optional<double> length = duration_s();
  if (!length || frame_rate() <= 0) return std::nullopt;
  return std::llround(*length * frame_rate());
}

InputDamage MediaInput::damage() const {
  return {state_->decoder.errors() + state_->corrupt_packets, state_->cut_short || state_->demuxer.cut_short()};
}

}  // namespace framelane
