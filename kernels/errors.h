// The errors that the program tells its user, each with its exit code (CONVENTIONS: 2 usage, 3 input,
// 4 output, 5 device). A message names the thing, the value and what would help, on one line.
#pragma once

#include <stdexcept>
#include <string>

namespace framelane {

/** Base of all errors that end a run with a message for the user. Anything else is an internal error (1). */
class Error : public std::runtime_error {
 public:
  Error(const std::string& message, int exit_code) : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/** Wrong command line, filter, parameter or value. */
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(message, 2) {}
};

/** The input is missing, unreadable, has no video, or broke. */
struct InputError : Error {
  explicit InputError(const std::string& message) : Error(message, 3) {}
};

/** The output cannot be opened, encoded or written. */
struct OutputError : Error {
  explicit OutputError(const std::string& message) : Error(message, 4) {}
};

/** No such device, out of device or pinned memory, or a failed CUDA call. */
struct DeviceError : Error {
  explicit DeviceError(const std::string& message) : Error(message, 5) {}
};

}  // namespace framelane
