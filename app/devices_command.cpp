#include "app/devices_command.h"

#include <fmt/format.h>

#include <iterator>

#include "app/console.h"
#include "pipeline/device.h"

namespace framelane {

int run_devices() {
  std::string text;
  for (const DeviceDescription& device : list_devices()) {
    fmt::format_to(std::back_inserter(text), "{:<8} {:<28} {}\n", device.id, device.name, device.details);
  }
  if (const std::string reason = cuda_unavailable_reason(); !reason.empty()) {
    fmt::format_to(std::back_inserter(text), "{:<8} not available: {}\n", "cuda", reason);
  }
  write_stdout(text);
  return 0;
}

}  // namespace framelane
