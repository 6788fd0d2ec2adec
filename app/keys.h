// Keys while running: what they mean, and reading them from the terminal. The preview window gives the same keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framelane {

enum class KeyAction : std::uint8_t {
  kFinish,
  kHelp,
  kPause,
  kStep,
  kFullScreen,
  kOverlay,
  kSync,
  kAsync,
  kMultistream,
  kToggleFilter,
  kCompare
};

/** One line of the help; `keys` are the characters that do the same. */
struct KeyBinding {
  std::string_view keys;
  std::string_view shown;  ///< as printed: "space, p"
  std::string_view help;
  KeyAction action = KeyAction::kHelp;
};

std::span<const KeyBinding> key_bindings();
/** Null for a key that does nothing. */
const KeyBinding* find_key(char key);
/** One line a binding: "q           finish the frames in flight and end". */
std::string key_help();

/** The keys in a piece of terminal input: escape sequences (arrows, function keys, pasted marks) and what is not ASCII
 *  are dropped. */
std::vector<char> decode_keys(std::string_view input);

/** Reads standard input, where it is a terminal, key by key and without echo. Touches the terminal only while the
 *  program is in its foreground process group, so a background job neither blocks nor stops; after `fg` it reads
 *  again. The terminal is put back by the destructor, and by signals.h on every other way out.
 *  Thread: main. At most one exists at a time. */
class TerminalKeys {
 public:
  TerminalKeys();
  ~TerminalKeys();
  TerminalKeys(const TerminalKeys&) = delete;
  TerminalKeys& operator=(const TerminalKeys&) = delete;

  /** Keys typed since the last call; never blocks. */
  std::vector<char> poll();

 private:
  bool usable_;
};

}  // namespace framelane
