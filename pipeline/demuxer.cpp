// [demux] > decode > ring > submit > encode > mux.  Thread: decoder.
#include "pipeline/demuxer.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <string_view>
#include <thread>

#include "kernels/errors.h"
#include "pipeline/av_log.h"

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
}

namespace framelane {
namespace {

/** A camera that gives no frame for this long is gone. */
constexpr std::chrono::seconds kCameraTimeout{3};
constexpr std::chrono::milliseconds kCameraPoll{1};

int is_stopped(void* stop) { return *static_cast<const std::atomic<bool>*>(stop) ? 1 : 0; }

/** FFmpeg takes any text for ANSI art when its name ends in .txt. */
bool is_text(const AVFormatContext& context) { return std::string_view(context.iformat->name) == "tty"; }

/** Known by its name only (Targa), or broken: no content has been recognised yet. */
bool is_named_image(const AVFormatContext& context) { return std::string_view(context.iformat->name) == "image2"; }

}  // namespace

Demuxer::Demuxer(InputSource source, const MediaInputOptions& options) : source_(std::move(source)) {
  route_av_log();
  try {
    open(options);
  } catch (...) {
    close();
    throw;
  }
}

Demuxer::~Demuxer() { close(); }

void Demuxer::close() {
  avformat_close_input(&context_);
  avio_closep(&file_);
  pipe_.reset();
}

/** FFmpeg's reason for a failure, without the password that its text may hold. */
std::string Demuxer::reason(AvLogCapture& log, const std::string& otherwise) const {
  std::string text = log.reason(otherwise);
  if (const std::size_t url = text.find(source_.url); url != std::string::npos && source_.kind == SourceKind::kUrl) {
    text.replace(url, source_.url.size(), source_.name);
  }
  return text;
}

void Demuxer::open(const MediaInputOptions& options) {
  AvLogCapture log;
  const std::string& name = source_.name;
  if (source_.kind == SourceKind::kFile) open_file();
  if (source_.kind == SourceKind::kPipe) open_pipe();
  const int status = open_context(options);
  if (status == AVERROR_EXIT) throw InputError(fmt::format("{}: interrupted", name));
  if (status == AVERROR_INVALIDDATA) {
    throw InputError(
        fmt::format("{}: not a media file, or a damaged one ({})", name, reason(log, av_error_text(status))));
  }
  if (status < 0) {
    const std::string error = av_error_text(status);
    const std::string cause = reason(log, error);
    throw InputError(fmt::format("{}: cannot be opened: {}{}", name, error, cause == error ? "" : " (" + cause + ")"));
  }
  if (is_text(*context_) && options.format.empty()) {
    throw InputError(fmt::format("{}: not a media file, but text", name));
  }
  probe_streams();
  if (is_named_image(*context_) && context_->streams[0]->codecpar->width <= 0) {
    throw InputError(fmt::format("{}: not a media file, or a damaged one ({})", name, reason(log, "no picture")));
  }
}

void Demuxer::open_file() {
  const AVIOInterruptCB interrupt{is_stopped, &stop_};
  const std::string url = "file:" + source_.url;
  const int status = avio_open2(&file_, url.c_str(), AVIO_FLAG_READ, &interrupt, nullptr);
  if (status < 0) throw InputError(fmt::format("{}: {}", source_.name, av_error_text(status)));
}

void Demuxer::open_pipe() {
  if (source_.url == "-") {
    pipe_ = std::make_unique<PolledIo>(STDIN_FILENO, PolledIo::Closing::kKeepOpen, stop_);
    return;
  }
  const int descriptor = ::open(source_.url.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw InputError(fmt::format("{}: {}", source_.name, std::strerror(errno)));
  pipe_ = std::make_unique<PolledIo>(descriptor, PolledIo::Closing::kClose, stop_);
}

int Demuxer::open_context(const MediaInputOptions& options) {
  context_ = avformat_alloc_context();
  if (context_ == nullptr) throw std::bad_alloc();
  context_->interrupt_callback = {is_stopped, &stop_};
  if (pipe_) context_->pb = pipe_->context();
  if (file_ != nullptr) context_->pb = file_;
  if (source_.kind == SourceKind::kCamera) context_->flags |= AVFMT_FLAG_NONBLOCK;
  AVDictionary* dictionary = nullptr;
  for (const auto& [key, value] : source_.demuxer_options) av_dict_set(&dictionary, key.c_str(), value.c_str(), 0);
  const int status = avformat_open_input(&context_, source_.url.c_str(), source_.demuxer, &dictionary);
  const AVDictionaryEntry* unknown = av_dict_get(dictionary, "", nullptr, AV_DICT_IGNORE_SUFFIX);
  const std::string unknown_key =
      unknown != nullptr && options.demuxer_options.contains(unknown->key) ? unknown->key : "";
  av_dict_free(&dictionary);
  if (status >= 0 && !unknown_key.empty()) {
    throw UsageError(
        fmt::format("{}: input format {} has no option '{}'", source_.name, context_->iformat->name, unknown_key));
  }
  return status;
}

void Demuxer::probe_streams() {
  const int status = avformat_find_stream_info(context_, nullptr);
  if (stop_) throw InputError(fmt::format("{}: interrupted", source_.name));
  if (status < 0) throw InputError(fmt::format("{}: cannot be read: {}", source_.name, av_error_text(status)));
}

AvPacket Demuxer::read() {
  AvPacket packet = make_packet();
  const auto give_up = std::chrono::steady_clock::now() + kCameraTimeout;
  while (!stop_) {
    const int status = av_read_frame(context_, packet.get());
    if (status >= 0) return packet;
    if (status != AVERROR(EAGAIN)) return end_of_input(status);
    if (source_.kind == SourceKind::kCamera && std::chrono::steady_clock::now() > give_up) {
      throw InputError(fmt::format("{}: no frame for {} s (camera unplugged?)", source_.url, kCameraTimeout.count()));
    }
    std::this_thread::sleep_for(kCameraPoll);  // V4L2 offers no wait that can be interrupted through libavdevice
  }
  return nullptr;
}

AvPacket Demuxer::end_of_input(int status) {
  if (stop_ || status == AVERROR_EXIT) return nullptr;
  if (status == AVERROR_EOF && (context_->pb == nullptr || context_->pb->error == 0)) return nullptr;
  const std::string reason = av_error_text(status == AVERROR_EOF ? context_->pb->error : status);
  if (source_.kind == SourceKind::kUrl || source_.kind == SourceKind::kCamera) {
    throw InputError(fmt::format("{}: reading failed: {}", source_.name, reason));
  }
  spdlog::warn("{}: breaks off: {}", source_.name, reason);
  cut_short_ = true;
  return nullptr;
}

bool Demuxer::seek(std::int64_t timestamp_us) {
  if (source_.kind == SourceKind::kPipe && (context_->pb->seekable & AVIO_SEEKABLE_NORMAL) == 0) return false;
  return avformat_seek_file(context_, -1, INT64_MIN, timestamp_us, timestamp_us, 0) >= 0;
}

}  // namespace framelane
