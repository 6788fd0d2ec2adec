#include "app/signals.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace framelane {
namespace {

constexpr std::int64_t kOnePressNs = 100'000'000;

// Touched by handlers: lock-free atomics alone.
std::atomic<int> first_signal{0};
std::atomic<std::int64_t> first_signal_ns{0};
std::atomic<bool> end_soon{false};
std::atomic<void (*)()> terminal_restorer{nullptr};
static_assert(std::atomic<void (*)()>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void restore_terminal() {
  if (const auto restore = terminal_restorer.load()) restore();
}

[[noreturn]] void end_at_once(int signal) {
  restore_terminal();
  _exit(128 + signal);
}

void on_stop_signal(int signal) {
  const int saved_errno = errno;
  const std::int64_t now = now_ns();
  std::int64_t first = 0;
  if (first_signal_ns.compare_exchange_strong(first, now)) {
    first_signal = signal;
    if (end_soon) alarm(1);
  } else if (now - first > kOnePressNs) {
    end_at_once(signal);
  }
  errno = saved_errno;
}

void on_alarm(int) { end_at_once(first_signal); }

void on_suspend(int) {
  const int saved_errno = errno;
  restore_terminal();
  raise(SIGSTOP);
  errno = saved_errno;
}

/** Ctrl-\ and crashes: what would have happened happens, after the terminal is back. */
void on_crash(int signal) {
  restore_terminal();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

void install_signal_handlers() {
  // A background job of a plain shell starts with SIGINT ignored; `kill -INT` should finish its file all the same.
  handle(SIGINT, on_stop_signal);
  handle(SIGTERM, on_stop_signal);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, on_stop_signal);
  handle(SIGPIPE, SIG_IGN);
}

int stop_signal() { return first_signal; }

int exit_status_of_stop() { return stop_signal() == 0 ? 0 : 128 + stop_signal(); }

const char* signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

EndSoonOnSignal::EndSoonOnSignal() {
  handle(SIGALRM, on_alarm);
  end_soon = true;
}

EndSoonOnSignal::~EndSoonOnSignal() {
  end_soon = false;
  alarm(0);
}

void set_terminal_restorer(void (*restore)()) {
  if (terminal_restorer.exchange(restore) == nullptr && restore != nullptr) {
    handle(SIGTSTP, on_suspend);
    for (const int signal : {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) handle(signal, on_crash);
  }
}

}  // namespace framelane
