#include "app/log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "pipeline/av_log.h"

namespace framelane {
namespace {

struct LevelEntry {
  std::string_view name;
  LogLevel level;
  spdlog::level::level_enum spdlog_level;
};

constexpr std::array kLevels{
    LevelEntry{"quiet", LogLevel::kQuiet, spdlog::level::off},
    LevelEntry{"panic", LogLevel::kPanic, spdlog::level::critical},
    LevelEntry{"fatal", LogLevel::kFatal, spdlog::level::critical},
    LevelEntry{"error", LogLevel::kError, spdlog::level::err},
    LevelEntry{"warning", LogLevel::kWarning, spdlog::level::warn},
    LevelEntry{"info", LogLevel::kInfo, spdlog::level::info},
    LevelEntry{"verbose", LogLevel::kVerbose, spdlog::level::debug},
    LevelEntry{"debug", LogLevel::kDebug, spdlog::level::debug},
    LevelEntry{"trace", LogLevel::kTrace, spdlog::level::trace},
};

/** Log lines to the console. Thread: any (the base class locks). */
class ConsoleSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ConsoleSink(std::shared_ptr<Console> console) : console_(std::move(console)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string line = fmt::format("framelane: {}{}", label(message.level),
                                   one_line({message.payload.data(), message.payload.size()}));
    if (line == last_line_) {
      ++repeats_;
      return;
    }
    tell_repeats();
    console_->write_line(line);
    last_line_ = std::move(line);
  }
  void flush_() override { tell_repeats(); }

 private:
  void tell_repeats() {
    if (repeats_ > 0) console_->write_line(fmt::format("    last message repeated {} times", repeats_));
    repeats_ = 0;
  }

  std::string label(spdlog::level::level_enum level) const {
    const auto labelled = [&](const char* color, const char* text) {
      return console_->colored() ? fmt::format("\x1b[{}m{}:\x1b[0m ", color, text) : fmt::format("{}: ", text);
    };
    if (level >= spdlog::level::err) return labelled("31", "error");
    if (level == spdlog::level::warn) return labelled("33", "warning");
    return "";
  }

  std::shared_ptr<Console> console_;
  std::string last_line_;
  long long repeats_ = 0;
};

}  // namespace

Logging::Logging(std::shared_ptr<Console> console) {
  const LogLevel level = console->options().level;
  const auto entry = std::ranges::find(kLevels, level, &LevelEntry::level);
  auto logger = std::make_shared<spdlog::logger>("framelane", std::make_shared<ConsoleSink>(std::move(console)));
  logger->set_level(entry->spdlog_level);
  spdlog::set_default_logger(std::move(logger));
  route_av_log();
}

Logging::~Logging() { spdlog::default_logger()->flush(); }

LogLevel parse_log_level(std::string_view name) {
  const auto entry = std::ranges::find(kLevels, name, &LevelEntry::name);
  if (entry == kLevels.end()) {
    throw UsageError(
        fmt::format("unknown level '{}': use quiet, panic, fatal, error, warning, info, verbose, debug "
                    "or trace",
                    name));
  }
  return entry->level;
}

}  // namespace framelane
