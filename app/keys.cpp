#include "app/keys.h"

#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>

#include "app/signals.h"

namespace framelane {
namespace {

constexpr std::array kBindings{
    KeyBinding{"q", "q", "finish the frames in flight and end", KeyAction::kFinish},
    KeyBinding{"?", "?", "this help", KeyAction::kHelp},
    KeyBinding{" p", "space, p", "pause and go on", KeyAction::kPause},
    KeyBinding{".", ".", "pause, or one frame further while paused", KeyAction::kStep},
    KeyBinding{"s", "s", "mode sync: one stage at a time", KeyAction::kSync},
    KeyBinding{"a", "a", "mode async: one stream", KeyAction::kAsync},
    KeyBinding{"m", "m", "mode multistream: one stream a slot", KeyAction::kMultistream},
    KeyBinding{"hi", "h, i", "overlay on and off", KeyAction::kOverlay},
    KeyBinding{"c", "c", "original | filtered side by side, on and off", KeyAction::kCompare},
    KeyBinding{"123456789", "1-9", "that filter of the chain on and off", KeyAction::kToggleFilter},
    KeyBinding{"f", "f", "full screen (preview window)", KeyAction::kFullScreen},
};

// The terminal's own settings, for a restorer that a signal handler may call.
termios original_settings{};
std::atomic<bool> is_raw{false};

bool in_foreground() { return tcgetpgrp(STDIN_FILENO) == getpgrp(); }

/** Async-signal-safe. In the background the shell owns the terminal and has set it up for itself. */
void restore_terminal() {
  if (is_raw.exchange(false) && in_foreground()) tcsetattr(STDIN_FILENO, TCSANOW, &original_settings);
}

/** Keys one by one and unechoed; Ctrl-C, Ctrl-Z and Ctrl-\ still make signals. */
bool make_raw() {
  if (tcgetattr(STDIN_FILENO, &original_settings) != 0) return false;
  termios raw = original_settings;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  is_raw = true;  // before the change: a signal in between restores what is still there
  return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

/** The length of the escape sequence at the front of `input`: ESC, or ESC [ … final byte, or ESC O x. */
std::size_t escape_length(std::string_view input) {
  if (input.size() < 2) return 1;
  if (input[1] == 'O') return std::min<std::size_t>(3, input.size());
  if (input[1] != '[') return 2;
  const auto final_byte = std::find_if(input.begin() + 2, input.end(), [](char c) { return c >= '@' && c <= '~'; });
  return final_byte == input.end() ? input.size() : static_cast<std::size_t>(final_byte - input.begin()) + 1;
}

}  // namespace

std::span<const KeyBinding> key_bindings() { return kBindings; }

const KeyBinding* find_key(char key) {
  const auto found = std::ranges::find_if(
      kBindings, [&](const KeyBinding& binding) { return binding.keys.find(key) != std::string_view::npos; });
  return found == kBindings.end() ? nullptr : &*found;
}

std::string key_help() {
  std::string help;
  for (const KeyBinding& binding : kBindings) {
    fmt::format_to(std::back_inserter(help), "{:<11} {}\n", binding.shown, binding.help);
  }
  return help;
}

std::vector<char> decode_keys(std::string_view input) {
  std::vector<char> keys;
  while (!input.empty()) {
    if (input.front() == '\x1b') {
      input.remove_prefix(escape_length(input));
      continue;
    }
    if (input.front() >= ' ' && input.front() <= '~') keys.push_back(input.front());
    input.remove_prefix(1);
  }
  return keys;
}

TerminalKeys::TerminalKeys() : usable_(isatty(STDIN_FILENO) == 1) {
  if (usable_) set_terminal_restorer(restore_terminal);
}

TerminalKeys::~TerminalKeys() { restore_terminal(); }

std::vector<char> TerminalKeys::poll() {
  if (!usable_ || !in_foreground()) return {};
  if (!is_raw && !make_raw()) {
    usable_ = false;
    return {};
  }
  pollfd terminal{STDIN_FILENO, POLLIN, 0};
  if (::poll(&terminal, 1, 0) <= 0) return {};
  std::array<char, 64> input{};
  const ssize_t size = read(STDIN_FILENO, input.data(), input.size());
  if (size <= 0) {
    usable_ = false;  // the terminal is gone
    return {};
  }
  return decode_keys({input.data(), static_cast<std::size_t>(size)});
}

}  // namespace framelane
