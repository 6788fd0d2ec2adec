#include "app/console.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace framelane {
namespace {

/** How long a full pipe may hold up the thread that logs, the first time. */
constexpr int kStallMs = 200;
/** A pipe that poll() calls writable takes this much at once (PIPE_BUF). */
constexpr std::size_t kAtomicBytes = 4096;

bool is_dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool wants_color(ColorChoice choice) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  return isatty(STDERR_FILENO) == 1 && !is_dumb_terminal() && !is_set("NO_COLOR");
}

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_writable(int timeout_ms) {
  pollfd output{STDERR_FILENO, POLLOUT, 0};
  return poll(&output, 1, timeout_ms) == 1;
}

}  // namespace

void write_stdout(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw ClosedPipe();
    } else if (errno != EINTR) {
      throw OutputError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
  }
}

std::string one_line(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\n') {
      safe += "\\n";
    } else if (c == '\t') {
      safe += "\\t";
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      fmt::format_to(std::back_inserter(safe), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      safe += c;
    }
  }
  return safe;
}

Console::Console(const ConsoleOptions& options)
    : options_(options),
      rewrites_(isatty(STDERR_FILENO) == 1 && !is_dumb_terminal()),
      colored_(wants_color(options.color)) {}

Console::~Console() { set_status(""); }

void Console::write_line(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  std::string text = status_.empty() ? "" : "\r\x1b[K";
  if (lines_lost_ > 0) fmt::format_to(std::back_inserter(text), "framelane: {} lines were lost here\n", lines_lost_);
  fmt::format_to(std::back_inserter(text), "{}\n{}", line, status_);
  if (write(text)) {
    lines_lost_ = 0;
  } else {
    ++lines_lost_;
  }
}

void Console::set_status(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  if (!rewrites_ || (line.empty() && status_.empty())) return;
  status_ = line.substr(0, terminal_columns() - 1);
  write("\r" + status_ + "\x1b[K");
}

bool Console::write(std::string_view text) {
  while (!text.empty()) {
    // Once it has stalled, it is asked and not waited for.
    if (!is_writable(stalled_ ? 0 : kStallMs)) {
      stalled_ = true;
      return false;
    }
    stalled_ = false;
    const ssize_t written = ::write(STDERR_FILENO, text.data(), std::min(text.size(), kAtomicBytes));
    if (written < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return true;
}

}  // namespace framelane
