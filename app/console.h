// Standard error, shared by the log and the progress line; standard output for what was asked for.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "kernels/errors.h"

namespace framelane {

enum class ColorChoice : std::uint8_t { kAuto, kAlways, kNever };

/** ffmpeg's levels; each shows itself and those before it. */
enum class LogLevel : std::uint8_t { kQuiet, kPanic, kFatal, kError, kWarning, kInfo, kVerbose, kDebug, kTrace };

struct ConsoleOptions {
  LogLevel level = LogLevel::kInfo;
  ColorChoice color = ColorChoice::kAuto;  ///< auto: on a terminal, unless NO_COLOR or TERM=dumb says otherwise
  bool progress = true;
};

/** The reader of our standard output has gone: the program ends quietly, as if by SIGPIPE. */
struct ClosedPipe : Error {
  ClosedPipe() : Error("standard output was closed", 141) {}
};

/** Writes all of `text` to standard output. Throws ClosedPipe, or OutputError for any other failure. */
void write_stdout(std::string_view text);

/** `text` with control characters as \n, \t or \xNN: a file name cannot break a line or drive the terminal. */
std::string one_line(std::string_view text);

/** Lines on standard error, and below them, on a terminal, one status line that is rewritten in place.
 *  A pipe that nobody reads does not hold up the program: when it stays full, lines are dropped and their number is
 *  told once it takes lines again.
 *  Thread: all calls may come from any thread. */
class Console {
 public:
  explicit Console(const ConsoleOptions& options);
  ~Console();  ///< clears the status line
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  const ConsoleOptions& options() const { return options_; }
  /** True when the status line can be rewritten: a terminal that knows how. */
  bool has_status_line() const { return rewrites_; }
  bool colored() const { return colored_; }

  /** One line above the status line. */
  void write_line(std::string_view line);
  /** Replaces the status line (cut to the terminal's width); "" removes it. Only where has_status_line(). */
  void set_status(std::string_view line);

 private:
  bool write(std::string_view text);

  const ConsoleOptions options_;
  const bool rewrites_;
  const bool colored_;
  std::mutex mutex_;
  std::string status_;
  bool stalled_ = false;
  long long lines_lost_ = 0;
};

}  // namespace framelane
