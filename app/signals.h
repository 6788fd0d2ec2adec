// Signals that ask the program to stop, and the terminal's state on the way out.
#pragma once

namespace framelane {

/** Installs the handlers of SIGINT, SIGTERM and SIGHUP (a SIGHUP that nohup ignores stays ignored) and ignores
 *  SIGPIPE: a closed pipe is a failed write. The first signal is for stop_signal() to report; a second one ends the
 *  program at once with status 128 + signal. Signals within 0.1 s of the first count as the same one: timeout(1)
 *  sends its signal twice, to the program and to its process group.
 *  Thread: main, once, before other threads start. */
void install_signal_handlers();

/** The signal that asked for a stop, or 0. Thread: any. */
int stop_signal();

/** The exit status of a command that ends now: 128 + stop_signal(), or 0. */
int exit_status_of_stop();

/** "SIGINT", "SIGTERM" or "SIGHUP". */
const char* signal_name(int signal);

/** While this exists, a signal ends the program with status 128 + signal a second later, unless it got further by then:
 *  for opening an input, which may block for ever before there is anything to finish.
 *  Not nestable. Thread: main. */
class EndSoonOnSignal {
 public:
  EndSoonOnSignal();
  ~EndSoonOnSignal();
  EndSoonOnSignal(const EndSoonOnSignal&) = delete;
  EndSoonOnSignal& operator=(const EndSoonOnSignal&) = delete;
};

/** `restore` puts the terminal back; it is called before the program ends or stops by a signal (Ctrl-C twice, Ctrl-\,
 *  Ctrl-Z, a crash), so it must be async-signal-safe. The first call installs handlers for these signals. Null: none
 *  any more. Thread: main. */
void set_terminal_restorer(void (*restore)());

}  // namespace framelane
