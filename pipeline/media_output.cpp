// demux, decode > ring > submit > encode > [mux].  Thread: encoder; side packets come from the decoder's.
#include "pipeline/media_output.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <string_view>

#include "kernels/errors.h"
#include "pipeline/av_log.h"
#include "pipeline/encoder.h"
#include "pipeline/encoder_choice.h"
#include "pipeline/output_target.h"
#include "pipeline/stream_copy.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {
namespace {

bool is_mp4_family(const AVOutputFormat& muxer) {
  const std::string_view name = muxer.name;
  return name == "mp4" || name == "mov" || name == "ipod" || name == "3gp" || name == "3g2";
}

/** The rate that frames are laid out at where the container holds only constant ones: the finest one that meets all
 *  timestamps, unless that is some clock's own. */
AVRational layout_rate(const AVOutputFormat& muxer, const AVStream& video, AVRational average) {
  constexpr double kHighestRate_hz = 240;
  const AVRational finest = video.r_frame_rate;
  return has_constant_rate(muxer) && finest.num > 0 && av_q2d(finest) <= kHighestRate_hz ? finest : average;
}

AVRational input_rate(const MediaInput& input) {
  // FFmpeg's query takes the context as not const, but reads only.
  auto& context = const_cast<AVFormatContext&>(input.format_context());
  return av_guess_frame_rate(&context, const_cast<AVStream*>(&input.video_stream()), nullptr);
}

std::string input_name(const MediaInput& input) {
  return input.format_context().url == nullptr ? "" : input.format_context().url;
}

}  // namespace

struct MediaOutput::State {
  State(const MediaOutputOptions& given, const MediaInput& input, const AVFrame& first);
  ~State() { close(); }

  void add_video(const MediaInput& input, const AVFrame& first);
  void open_file();
  void write_header();
  void write(AVPacket& packet);
  void write_video(AVPacket& packet);
  void check(int status, const char* what) const;
  void encode(const AVFrame& frame);
  void write_side_packet(AVPacket& packet, int input_stream);
  void finish();
  void abort() noexcept;
  void close();
  std::string description() const;

  const MediaOutputOptions options;
  const OutputTarget target;
  AVFormatContext* muxer = nullptr;
  AVStream* video = nullptr;
  std::unique_ptr<VideoEncoder> encoder;
  std::unique_ptr<StreamCopy> copy;
  std::mutex mutex;  ///< guards the muxer and `copy`: packets come from two threads
  std::string copy_description;
  bool opened = false;
  bool one_image = false;
  std::atomic<std::int64_t> frames{0};
  std::atomic<std::int64_t> bytes{0};
};

MediaOutput::State::State(const MediaOutputOptions& given, const MediaInput& input, const AVFrame& first)
    : options(given), target(find_target(given, input_name(input))) {
  route_av_log();
  if (target.kind == TargetKind::kNull) return;
  if (avformat_alloc_output_context2(&muxer, target.muxer, nullptr, target.url.c_str()) < 0) throw std::bad_alloc();
  try {
    // What is experimental or unofficial in a container (TrueHD in MP4, 10 bits in YUV4MPEG2) beats losing it.
    muxer->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    add_video(input, first);
    copy = std::make_unique<StreamCopy>(*muxer, input.format_context(), input.video_stream(), target.name);
    copy_description = copy->description();
    copy_descriptions(*muxer, *video, input.format_context(), input.video_stream(), first);
    copy_chapters(*muxer, input.format_context(), input.time_shift_us(), input.duration_limit_s());
    open_file();
    write_header();
  } catch (...) {
    const bool created = opened;
    close();
    if (created) remove_written_file(target);
    throw;
  }
}

void MediaOutput::State::add_video(const MediaInput& input, const AVFrame& first) {
  const auto [num, den] = input.time_base();
  const AVRational rate = layout_rate(*target.muxer, input.video_stream(), input_rate(input));
  encoder = std::make_unique<VideoEncoder>(options, *target.muxer, target.name, first, EncoderTiming{{num, den}, rate});
  video = avformat_new_stream(muxer, nullptr);
  if (video == nullptr || avcodec_parameters_from_context(video->codecpar, &encoder->context()) < 0) {
    throw std::bad_alloc();
  }
  video->time_base = encoder->context().time_base;
  video->avg_frame_rate = rate;
  video->sample_aspect_ratio = encoder->context().sample_aspect_ratio;
}

void MediaOutput::State::open_file() {
  if ((target.muxer->flags & AVFMT_NOFILE) != 0) return;
  check(avio_open2(&muxer->pb, target.url.c_str(), AVIO_FLAG_WRITE, nullptr, nullptr), "cannot be opened");
  opened = true;
}

void MediaOutput::State::write_header() {
  AVDictionary* dictionary = nullptr;
  for (const auto& [key, value] : options.muxer_options) av_dict_set(&dictionary, key.c_str(), value.c_str(), 0);
  one_image = std::string_view(target.muxer->name) == "image2" && target.kind != TargetKind::kSequence;
  if (one_image) av_dict_set(&dictionary, "update", "1", AV_DICT_DONT_OVERWRITE);
  if (is_mp4_family(*target.muxer) && !target.seekable()) {  // an index at the end needs to be gone back for
    av_dict_set(&dictionary, "movflags", "frag_keyframe+empty_moov+default_base_moof", AV_DICT_DONT_OVERWRITE);
  }
  AvLogCapture log;
  const int status = avformat_write_header(muxer, &dictionary);
  const AVDictionaryEntry* entry = av_dict_get(dictionary, "", nullptr, AV_DICT_IGNORE_SUFFIX);
  const std::string unknown = entry != nullptr ? entry->key : "";
  av_dict_free(&dictionary);
  if (status < 0) {
    throw OutputError(fmt::format("{}: {} takes no such streams: {}", target.name, target.muxer->name,
                                  log.reason(av_error_text(status))));
  }
  if (!unknown.empty()) {
    throw UsageError(fmt::format("{}: container {} has no option '{}'", target.name, target.muxer->name, unknown));
  }
  check(copy->write_attached_pictures(), "write failed");
}

void MediaOutput::State::check(int status, const char* what) const {
  if (status >= 0) return;
  const std::string message = fmt::format("{}: {}: {}", target.name, what, av_error_text(status));
  if (status == AVERROR(EPIPE)) throw BrokenPipe(message);
  throw OutputError(message);
}

void MediaOutput::State::write(AVPacket& packet) {
  const int packet_bytes = packet.size;
  check(av_interleaved_write_frame(muxer, &packet), "write failed");
  bytes = muxer->pb != nullptr ? std::max(bytes.load(), avio_tell(muxer->pb)) : bytes + packet_bytes;
}

void MediaOutput::State::write_video(AVPacket& packet) {
  const std::scoped_lock lock(mutex);
  packet.stream_index = video->index;
  av_packet_rescale_ts(&packet, encoder->context().time_base, video->time_base);
  write(packet);
}

void MediaOutput::State::encode(const AVFrame& frame) {
  if (one_image && frames == 1) {
    spdlog::warn("{}: holds one image: each frame replaces the one before; %04d in the name makes a file a frame",
                 target.name);
  }
  if (encoder) encoder->encode(frame, [this](AVPacket& packet) { write_video(packet); });
  ++frames;
}

void MediaOutput::State::write_side_packet(AVPacket& packet, int input_stream) {
  const std::scoped_lock lock(mutex);
  if (muxer != nullptr && copy->adapt(packet, input_stream)) write(packet);
}

/** Ends the file, with all frames taken; what it throws leaves it closed. */
void MediaOutput::State::finish() {
  try {
    encoder->flush([this](AVPacket& packet) { write_video(packet); });
    const std::scoped_lock lock(mutex);
    check(av_write_trailer(muxer), "write failed");
    if (muxer->pb != nullptr) bytes = std::max(bytes.load(), avio_tell(muxer->pb));
    if (opened) {
      opened = false;
      check(avio_closep(&muxer->pb), "write failed");
    }
  } catch (...) {
    close();
    if (target.replaces()) remove_written_file(target);
    throw;
  }
  close();
  if (encoder->moved_frames() > 1)
    spdlog::warn("{}: {} frames were moved in time", target.name, encoder->moved_frames());
  if (target.replaces()) replace_older_file(target);
}

void MediaOutput::State::abort() noexcept {
  if (muxer == nullptr) return;
  try {
    if (target.replaces() || frames == 0) {
      close();
      remove_written_file(target);
    } else {
      finish();
    }
  } catch (const std::exception& error) {
    spdlog::warn("{}; what is there is incomplete", error.what());
  }
}

void MediaOutput::State::close() {
  if (muxer == nullptr) return;
  const std::scoped_lock lock(mutex);
  if (opened) avio_closep(&muxer->pb);
  opened = false;
  avformat_free_context(muxer);
  muxer = nullptr;
}

std::string MediaOutput::State::description() const {
  if (!encoder) return fmt::format("{} (frames are counted and dropped)", target.name);
  const std::string copied = copy_description.empty() ? "" : ", " + copy_description;
  return fmt::format("{} ({}: {} {}{})", target.name, target.muxer->name, encoder->context().codec->name,
                     av_get_pix_fmt_name(encoder->context().pix_fmt), copied);
}

MediaOutput::MediaOutput(const MediaOutputOptions& options, const MediaInput& input, const AVFrame& first)
    : state_(std::make_unique<State>(options, input, first)) {}

MediaOutput::~MediaOutput() { state_->abort(); }

bool MediaOutput::is_null() const { return state_->target.kind == TargetKind::kNull; }
void MediaOutput::encode(const AVFrame& frame) { state_->encode(frame); }
void MediaOutput::write_side_packet(AvPacket packet, int stream) { state_->write_side_packet(*packet, stream); }
void MediaOutput::finish() {
  if (state_->muxer != nullptr) state_->finish();
}
void MediaOutput::abort() noexcept { state_->abort(); }
OutputTotals MediaOutput::totals() const { return {state_->frames, state_->bytes}; }
std::string MediaOutput::description() const { return state_->description(); }

}  // namespace framelane
