#include "app/keys.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace framelane {
namespace {

std::string keys_of(std::string_view input) {
  const std::vector<char> keys = decode_keys(input);
  return {keys.begin(), keys.end()};
}

TEST(Keys, EscapeSequencesAndOtherBytesAreDropped) {
  EXPECT_EQ(keys_of("qs1"), "qs1");
  EXPECT_EQ(keys_of("\x1b[Aq"), "q");             // an arrow
  EXPECT_EQ(keys_of("\x1b[1;5Cq\x1bOPs"), "qs");  // ctrl-arrow, F1
  EXPECT_EQ(keys_of("\x1b[200~"), "");            // bracketed paste
  EXPECT_EQ(keys_of("\x1b"), "");
  EXPECT_EQ(keys_of("\x1b["), "");
  EXPECT_EQ(keys_of("\xc3\xa4\r\n\tq"), "q");
  EXPECT_EQ(keys_of(" "), " ");
}

TEST(Keys, EachCharacterHasOneBinding) {
  std::set<char> seen;
  for (const KeyBinding& binding : key_bindings()) {
    for (const char key : binding.keys) {
      EXPECT_TRUE(seen.insert(key).second) << key;
      EXPECT_EQ(find_key(key)->action, binding.action) << key;
    }
    EXPECT_NE(key_help().find(binding.help), std::string::npos);
  }
  for (const char key : std::string("q? p.fihsam123456789c")) EXPECT_NE(find_key(key), nullptr) << key;
  EXPECT_EQ(find_key('x'), nullptr);
  EXPECT_EQ(find_key('0'), nullptr);
}

/** A child with a pseudo-terminal of its own as standard input, in its foreground. */
struct Child {
  int pid = -1;
  int terminal = -1;  ///< our end
};

template <typename Body>
Child fork_on_terminal(const Body& body) {
  Child child;
  child.pid = forkpty(&child.terminal, nullptr, nullptr, nullptr);
  if (child.pid == 0) _exit(body());
  return child;
}

bool is_raw(int terminal) {
  termios settings{};
  return tcgetattr(terminal, &settings) == 0 && (settings.c_lflag & (ICANON | ECHO)) == 0;
}

/** Waits up to 5 s. */
template <typename Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

int exit_status(const Child& child) {
  int status = 0;
  waitpid(child.pid, &status, 0);
  return status;
}

/** Reads keys until q, then ends with the number of other keys. */
int count_keys_until_q() {
  TerminalKeys keys;
  int count = 0;
  while (true) {
    for (const char key : keys.poll()) {
      if (key == 'q') return count;
      ++count;
    }
    usleep(1000);
  }
}

TEST(TerminalKeys, AreReadOneByOneAndTheTerminalIsPutBack) {
  const Child child = fork_on_terminal(count_keys_until_q);
  ASSERT_TRUE(eventually([&] { return is_raw(child.terminal); }));
  ASSERT_EQ(write(child.terminal, "sam", 3), 3);
  ASSERT_EQ(write(child.terminal, "q", 1), 1);
  const int status = exit_status(child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_FALSE(is_raw(child.terminal));
  close(child.terminal);
}

TEST(TerminalKeys, TheTerminalIsPutBackOnACrash) {
  for (const int signal : {SIGQUIT, SIGABRT}) {
    const Child child = fork_on_terminal([] {
      TerminalKeys keys;
      while (true) {
        keys.poll();
        usleep(1000);
      }
      return 0;
    });
    ASSERT_TRUE(eventually([&] { return is_raw(child.terminal); }));
    kill(child.pid, signal);
    const int status = exit_status(child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_FALSE(is_raw(child.terminal)) << signal;
    close(child.terminal);
  }
}

TEST(TerminalKeys, CtrlZPutsTheTerminalBackAndGoesOnAfterwards) {
  const Child child = fork_on_terminal(count_keys_until_q);
  ASSERT_TRUE(eventually([&] { return is_raw(child.terminal); }));
  kill(child.pid, SIGTSTP);
  int status = 0;
  ASSERT_EQ(waitpid(child.pid, &status, WUNTRACED), child.pid);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_FALSE(is_raw(child.terminal));
  kill(child.pid, SIGCONT);
  EXPECT_TRUE(eventually([&] { return is_raw(child.terminal); }));
  ASSERT_EQ(write(child.terminal, "q", 1), 1);
  EXPECT_TRUE(WIFEXITED(exit_status(child)));
  close(child.terminal);
}

TEST(TerminalKeys, ABackgroundJobLeavesTheTerminalAlone) {
  // The child makes a background process group; reading or setting the terminal there would stop it.
  const Child child = fork_on_terminal([] {
    const int background = fork();
    if (background == 0) {
      setpgid(0, 0);
      TerminalKeys keys;
      for (int i = 0; i < 50; ++i) {
        if (!keys.poll().empty()) _exit(2);
        usleep(2000);
      }
      _exit(7);
    }
    int status = 0;
    waitpid(background, &status, WUNTRACED);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  });
  ASSERT_EQ(write(child.terminal, "q\n", 2), 2);
  const int status = exit_status(child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_FALSE(is_raw(child.terminal));
  close(child.terminal);
}

}  // namespace
}  // namespace framelane
