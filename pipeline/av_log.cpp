// Beside the frame's way: FFmpeg's log lines as ours.
#include "pipeline/av_log.h"

#include <spdlog/spdlog.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

extern "C" {
#include <libavutil/log.h>
}

namespace framelane {
namespace {

spdlog::level::level_enum our_level(int av_level) {
  if (av_level <= AV_LOG_ERROR) return spdlog::level::warn;
  return av_level <= AV_LOG_INFO ? spdlog::level::debug : spdlog::level::trace;
}

/** How often each line came; a damaged file makes the same few thousands of times. */
class RepeatCounter {
 public:
  /** The count where this time is worth a line: 1, 10, 100, … */
  std::optional<std::int64_t> count(const std::string& line) {
    constexpr std::size_t kDistinctLines = 256;
    const std::scoped_lock lock(mutex_);
    if (counts_.size() >= kDistinctLines && !counts_.contains(line)) counts_.clear();
    const std::int64_t times = ++counts_[line];
    std::int64_t worth = 1;
    while (worth < times) worth *= 10;
    return worth == times ? std::optional(times) : std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::int64_t> counts_;
};

void emit(spdlog::level::level_enum level, const std::string& line) {
  static RepeatCounter repeats;
  const std::optional<std::int64_t> times = repeats.count(line);
  if (!times) return;
  if (*times == 1) {
    spdlog::log(level, "{}", line);
  } else {
    spdlog::log(level, "{} ({} times)", line, *times);
  }
}

/** One thread's half-finished line, and its capture. FFmpeg logs some lines piece by piece. */
struct ThreadLog {
  std::string pending;
  std::optional<std::vector<std::string>> captured;
};
thread_local ThreadLog thread_log;

/** "h264", "libx264": without the address that FFmpeg puts behind it, so that lines can be compared. */
std::string speaker(void* context) {
  if (context == nullptr) return {};
  const AVClass* type = *static_cast<AVClass**>(context);
  if (type == nullptr || type->item_name == nullptr) return {};
  const std::string name = type->item_name(context);
  return name == "NULL" ? "" : name + ": ";
}

void finish_line(void* context, int level, std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  if (text.empty()) return;
  if (thread_log.captured && level <= AV_LOG_ERROR) {
    thread_log.captured->emplace_back(text);
    return;
  }
  emit(our_level(level), speaker(context) + std::string(text));
}

void log_callback(void* context, int level, const char* format, va_list arguments) {
  level &= 0xff;  // above it: a colour
  const bool wanted = spdlog::should_log(our_level(level)) || (thread_log.captured && level <= AV_LOG_ERROR);
  if (level < 0 || !wanted) return;
  std::array<char, 1024> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  thread_log.pending += text.data();
  constexpr std::size_t kLongestLine = 4096;
  if (!thread_log.pending.ends_with('\n') && thread_log.pending.size() < kLongestLine) return;
  finish_line(context, level, thread_log.pending);
  thread_log.pending.clear();
}

}  // namespace

void route_av_log() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(log_callback); });
}

AvLogCapture::AvLogCapture() { thread_log.captured.emplace(); }

AvLogCapture::~AvLogCapture() {
  const std::vector<std::string> lines = std::move(*thread_log.captured);
  thread_log.captured.reset();
  for (const std::string& line : lines) emit(spdlog::level::warn, line);
}

std::string AvLogCapture::reason(const std::string& otherwise) {
  std::vector<std::string> lines = std::exchange(*thread_log.captured, {});
  return lines.empty() ? otherwise : lines.front();
}

}  // namespace framelane
