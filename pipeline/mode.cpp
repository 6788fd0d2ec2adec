#include "pipeline/mode.h"

#include <fmt/format.h>

#include "kernels/errors.h"

namespace framelane {

std::string_view mode_name(Mode mode) {
  static constexpr std::array<std::string_view, kModes.size()> names{"sync", "async", "multistream"};
  return names[static_cast<std::size_t>(mode)];
}

Mode parse_mode(std::string_view name) {
  for (const Mode mode : kModes) {
    if (mode_name(mode) == name) return mode;
  }
  throw UsageError(fmt::format("unknown mode '{}': use sync, async or multistream", name));
}

}  // namespace framelane
