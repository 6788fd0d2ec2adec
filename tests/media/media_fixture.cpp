#include "tests/media/media_fixture.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include "pipeline/preprocess.h"

extern "C" {
#include <libavutil/frame.h>
}

/** For -fsanitize=address: libx265 3.5 keeps two small blocks of its own. */
extern "C" const char* __lsan_default_suppressions() { return "leak:x265_malloc\n"; }

namespace framelane::testing {
namespace {

class StringSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit StringSink(std::shared_ptr<std::string> lines) : lines_(std::move(lines)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    lines_->append(message.payload.data(), message.payload.size()).append("\n");
  }
  void flush_() override {}

 private:
  std::shared_ptr<std::string> lines_;
};

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

std::shared_ptr<HostPool> make_pool() { return std::make_shared<HostPool>(create_cpu_device()); }

void MediaTest::SetUp() {
  if (std::system("ffmpeg -version >/dev/null 2>&1 && ffprobe -version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "needs the ffmpeg and ffprobe programs";
  }
}

std::string MediaTest::shell(const std::string& command) const {
  return run_command(fmt::format("cd '{}' && {}", file(""), command));
}

void MediaTest::ffmpeg(const std::string& arguments) const {
  shell("timeout 120 ffmpeg -hide_banner -nostdin -v error -y " + arguments);
}

std::string MediaTest::stream(const std::string& name, const std::string& selector, const std::string& keys) const {
  return one_line(
      shell(fmt::format("ffprobe -v error -select_streams {} -show_entries 'stream={}' -of default=nk=1:nw=1 '{}'",
                        selector, keys, name)));
}

std::string MediaTest::entry(const std::string& name, const std::string& entries) const {
  return one_line(shell(fmt::format("ffprobe -v error -show_entries '{}' -of default=nk=1:nw=1 '{}'", entries, name)));
}

int MediaTest::frame_count(const std::string& name) const {
  return std::atoi(shell(fmt::format("ffprobe -v quiet -count_frames -select_streams V:0 -show_entries "
                                     "stream=nb_read_frames -of default=nk=1:nw=1 '{}'",
                                     name))
                       .c_str());
}

std::string MediaTest::pixels(const std::string& name, const std::string& pixel_format) const {
  return shell(
      fmt::format("ffmpeg -v error -nostdin -i 'file:{}' -frames:v 1 -f rawvideo -pix_fmt {} -", name, pixel_format));
}

void MediaTest::write_text(const std::string& name, const std::string& text) const {
  std::ofstream(file(name)) << text;
}

MediaInputOptions MediaTest::input(const std::string& name) const {
  MediaInputOptions options;
  options.url = name.starts_with("lavfi:") || name.starts_with("/") ? name : file(name);
  return options;
}

MediaOutputOptions MediaTest::output(const std::string& name) const {
  MediaOutputOptions options;
  options.url = name == "null" || name.starts_with("/") ? name : file(name);
  return options;
}

MediaTest::Result MediaTest::transcode(const MediaInputOptions& from, const MediaOutputOptions& to,
                                       int frame_limit) const {
  const std::shared_ptr<Device> device = create_cpu_device();
  const auto pool = std::make_shared<HostPool>(device);
  MediaInput source(from, pool);
  Preprocess preprocess(*device, *pool);
  AvFrame frame = source.read_frame();
  const FrameFormat format = Preprocess::stream_format(*frame);
  frame = preprocess.run(std::move(frame), format, false);
  MediaOutput target(to, source, *frame);
  source.set_side_packet_sink(
      [&](AvPacket packet, int stream) { target.write_side_packet(std::move(packet), stream); });
  const auto [num, den] = source.time_base();
  Result result;
  while (frame) {
    result.pts_s.push_back(static_cast<double>(frame->pts) * num / den);
    target.encode(*frame);
    if (static_cast<int>(result.pts_s.size()) == frame_limit) break;
    frame = source.read_frame();
    if (frame) frame = preprocess.run(std::move(frame), format, false);
  }
  source.drain_side_packets(result.pts_s.back() + 1 / source.frame_rate());
  result.description = target.description();
  target.finish();
  result.totals = target.totals();
  result.damage = source.damage();
  return result;
}

struct LogRecorder::Previous {
  std::shared_ptr<spdlog::logger> logger;
};

LogRecorder::LogRecorder()
    : lines_(std::make_shared<std::string>()), previous_(std::make_unique<Previous>(spdlog::default_logger())) {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::make_shared<StringSink>(lines_)));
}

LogRecorder::~LogRecorder() { spdlog::set_default_logger(previous_->logger); }

}  // namespace framelane::testing
