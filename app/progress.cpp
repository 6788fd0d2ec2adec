#include "app/progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>

#include "app/report_file.h"
#include "kernels/errors.h"
#include "pipeline/media_input.h"

namespace framelane {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kRewritePeriod{100};
constexpr seconds kPlainPeriod{5};
constexpr milliseconds kKeysPeriod{500};
constexpr seconds kFpsWindow{2};
/** Frames that the device's busy share is taken from. */
constexpr std::size_t kBusyFrames = 120;

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

int open_target(const std::string& target) {
  if (target.empty()) return -1;
  if (is_standard_output(target)) return dup(STDOUT_FILENO);
  if (is_standard_error(target)) return dup(STDERR_FILENO);
  const int file = open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw OutputError(fmt::format("--progress {}: {}", target, std::strerror(errno)));
  return file;
}

/** A reader that has gone, or a full disk, ends the reports and not the run. */
bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return true;
}

std::string or_unknown(const std::optional<double>& value, std::string_view format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "N/A";
}

/** "0:07", "1:02:03": the whole line fits into 80 columns. */
std::string short_time(double time_s) {
  const std::string text = clock_time(std::min(time_s, 359'999.0), 0);
  return text.starts_with("00:0") ? text.substr(4) : text.starts_with("00:") ? text.substr(3) : text;
}

}  // namespace

std::string clock_time(double time_s, int decimals) {
  const double scale = std::pow(10.0, decimals);
  const auto ticks = static_cast<std::int64_t>(std::llround(std::max(time_s, 0.0) * scale));
  const auto whole = ticks / static_cast<std::int64_t>(scale);
  std::string text = fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  if (decimals > 0) {
    fmt::format_to(std::back_inserter(text), ".{:0{}}", ticks % static_cast<std::int64_t>(scale), decimals);
  }
  return text;
}

std::optional<double> done_fraction(double position_s, std::optional<double> duration_s, std::int64_t frames,
                                    std::optional<std::int64_t> frame_limit) {
  std::optional<double> done;
  if (duration_s && *duration_s > 0) done = position_s / *duration_s;
  if (frame_limit) {
    done = std::max(done.value_or(0), static_cast<double>(frames) / static_cast<double>(*frame_limit));
  }
  if (done) done = std::clamp(*done, 0.0, 1.0);
  return done;
}

std::string progress_line(const ProgressFacts& facts) {
  std::string line =
      fmt::format("frame={:5} fps={:.{}f} time={} speed={:.3g}x", facts.frames, facts.fps, facts.fps < 100 ? 1 : 0,
                  clock_time(facts.position_s, 2), ratio(facts.position_s, facts.elapsed_s));
  const auto out = std::back_inserter(line);
  if (facts.fraction) fmt::format_to(out, " {:3.0f}%", std::floor(100 * *facts.fraction));
  if (facts.fraction && *facts.fraction > 0) {
    fmt::format_to(out, " ETA {}", short_time(facts.elapsed_s * (1 / *facts.fraction - 1)));
  }
  fmt::format_to(out, " {}", mode_name(facts.mode));
  if (facts.dropped > 0) fmt::format_to(out, " drop={}", facts.dropped);
  if (facts.paused) line += " paused";
  return line;
}

std::string progress_keys(const ProgressFacts& facts, bool end) {
  const std::optional<double> bits_per_ms =
      facts.bytes && facts.position_s > 0
          ? std::optional(static_cast<double>(*facts.bytes) * 8 / facts.position_s / 1000)
          : std::nullopt;
  const std::int64_t position_us = std::llround(facts.position_s * 1e6);
  std::string keys;
  const auto out = std::back_inserter(keys);
  fmt::format_to(out, "frame={}\nfps={:.2f}\n", facts.frames,
                 ratio(static_cast<double>(facts.frames), facts.elapsed_s));
  fmt::format_to(out, "bitrate={}\n", or_unknown(bits_per_ms, "{:6.1f}kbits/s"));
  fmt::format_to(out, "total_size={}\n", facts.bytes ? std::to_string(*facts.bytes) : "N/A");
  // ffmpeg's out_time_ms is in microseconds, too, and its readers know.
  fmt::format_to(out, "out_time_us={0}\nout_time_ms={0}\nout_time={1}\n", position_us, clock_time(facts.position_s, 6));
  fmt::format_to(out, "dup_frames=0\ndrop_frames={}\nspeed={:.3g}x\n", facts.dropped,
                 ratio(facts.position_s, facts.elapsed_s));
  fmt::format_to(out, "mode={}\nslots={}\ngpu_busy={}\n", mode_name(facts.mode), facts.slots,
                 or_unknown(facts.gpu_busy, "{:.3f}"));
  fmt::format_to(out, "progress={}\n", end ? "end" : "continue");
  return keys;
}

Progress::Progress(const Pipeline& pipeline, const Device& device, Console& console, const std::string& target,
                   std::optional<std::int64_t> frame_limit)
    : pipeline_(pipeline),
      on_gpu_(device.backend() == Backend::kCuda),
      console_(console),
      frame_limit_(frame_limit),
      target_(open_target(target)),
      start_(Clock::now()),
      next_line_(start_ +
                 (console.has_status_line() ? Clock::duration(kRewritePeriod) : Clock::duration(kPlainPeriod))),
      next_keys_(start_ + kKeysPeriod) {}

Progress::~Progress() {
  if (target_ >= 0) close(target_);
}

void Progress::update() {
  const Clock::time_point now = Clock::now();
  if (console_.options().progress && now >= next_line_) {
    remember_sample(now);
    const std::string line = progress_line(facts());
    if (console_.has_status_line()) {
      console_.set_status(line);
      next_line_ = now + kRewritePeriod;
    } else {
      console_.write_line("framelane: " + line);
      next_line_ = now + kPlainPeriod;
    }
  }
  if (target_ >= 0 && now >= next_keys_) {
    write_keys(false);
    next_keys_ = now + kKeysPeriod;
  }
}

void Progress::finish() {
  console_.set_status("");
  write_keys(true);
}

void Progress::remember_sample(Clock::time_point now) {
  samples_.push_back({now, pipeline_.status().frames_out});
  while (samples_.size() > 2 && now - samples_[1].time >= kFpsWindow) samples_.pop_front();
}

void Progress::write_keys(bool end) {
  if (target_ < 0 || write_all(target_, progress_keys(facts(), end))) return;
  close(target_);
  target_ = -1;
}

ProgressFacts Progress::facts() const {
  const PipelineStatus status = pipeline_.status();
  ProgressFacts facts;
  facts.frames = status.frames_out;
  facts.position_s = std::max(status.position_s, 0.0);
  facts.elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count();
  // From the oldest sample in the window; before there is one, from the start.
  const Sample since = samples_.size() < 2 ? Sample{start_, 0} : samples_.front();
  facts.fps = ratio(static_cast<double>(status.frames_out - since.frames),
                    std::chrono::duration<double>(Clock::now() - since.time).count());
  facts.fraction = done_fraction(facts.position_s, pipeline_.input().duration_s(), facts.frames, frame_limit_);
  if (status.output.bytes > 0) facts.bytes = status.output.bytes;
  facts.dropped = status.dropped;
  facts.mode = status.mode;
  facts.slots = status.slots;
  facts.paused = status.paused;
  if (on_gpu_) {
    facts.gpu_busy =
        summarize(pipeline_.recorder().latest(kBusyFrames)).busy[static_cast<std::size_t>(Stage::kKernels)];
  }
  return facts;
}

}  // namespace framelane
