// Where log lines go.
#pragma once

#include <memory>

#include "app/console.h"

namespace framelane {

/** Sends spdlog's default logger to `console`: "framelane: text", warnings and errors labelled, repeated lines folded
 *  into a count. FFmpeg's messages come along by pipeline/av_log.h.
 *  Thread: main; construct before other threads start, destroy after they ended. */
class Logging {
 public:
  explicit Logging(std::shared_ptr<Console> console);
  ~Logging();  ///< tells a last count of repeated lines
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;
};

/** "quiet" to "trace", as ffmpeg spells them; throws UsageError. */
LogLevel parse_log_level(std::string_view name);

}  // namespace framelane
