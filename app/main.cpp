// framelane: parses the command line, runs a command, and turns errors into one line and an exit status.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "app/bench_command.h"
#include "app/compare_command.h"
#include "app/console.h"
#include "app/demo_command.h"
#include "app/devices_command.h"
#include "app/filters_command.h"
#include "app/generate_command.h"
#include "app/log.h"
#include "app/options.h"
#include "app/run_command.h"
#include "app/tune_command.h"
#include "app/version.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

/** A file opened later would take the number of a closed standard stream, and the log would go into the video. */
void keep_standard_streams_open() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
}

int print(const std::string& text) {
  write_stdout(text);
  return 0;
}

struct Execute {
  Console& console;
  int operator()(const RunOptions& options) const { return run_media(options, console); }
  int operator()(const FiltersOptions& options) const { return run_filters(options); }
  int operator()(const DevicesOptions&) const { return run_devices(); }
  int operator()(const DemoOptions& options) const { return run_demo(options, console); }
  int operator()(const CompareOptions& options) const { return run_compare(options, console); }
  int operator()(const TuneOptions& options) const { return run_tune(options, console); }
  int operator()(const BenchOptions& options) const { return run_bench(options, console); }
  int operator()(const GenerateOptions& options) const { return run_generate(options); }
  int operator()(const VersionOptions&) const { return print(version_text()); }
  int operator()(const HelpOptions& options) const { return print(options.text); }
};

/** Tells the error being handled; returns its exit status. */
int tell_error(Console& console) {
  const auto tell = [&](const std::string& text) {
    if (console.options().level != LogLevel::kQuiet) console.write_line("framelane: " + one_line(text));
  };
  try {
    throw;
  } catch (const ClosedPipe& error) {
    return error.exit_code();
  } catch (const Error& error) {
    tell(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    tell("internal error: out of memory");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) return ClosedPipe().exit_code();
    tell(fmt::format("internal error: {}", error.what()));
  } catch (const std::exception& error) {
    tell(fmt::format("internal error: {}", error.what()));
  } catch (...) {
    tell("internal error: unknown exception");
  }
  return 1;
}

int run_program(const std::vector<std::string>& arguments) {
  auto console = std::make_shared<Console>(ConsoleOptions{});
  try {
    const CommandLine command_line = parse_command_line(arguments);
    console = std::make_shared<Console>(command_line.console);
    const Logging logging(console);
    return std::visit(Execute{*console}, command_line.command);
  } catch (...) {
    return tell_error(*console);
  }
}

}  // namespace
}  // namespace framelane

int main(int argc, char** argv) {
  framelane::keep_standard_streams_open();
  return framelane::run_program({argv + 1, argv + argc});
}
