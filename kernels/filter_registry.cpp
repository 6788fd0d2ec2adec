#include "kernels/filter_registry.h"

#include <algorithm>
#include <array>

#include "kernels/edit_distance.h"

namespace framelane {

// An explicit table: static self-registration would be dropped by the linker from a static library.
// clang-format off
#define FRAMELANE_FILTERS(X) \
  X(scale) X(crop) X(transpose) X(hflip) X(vflip) \
  X(gblur) X(unsharp) X(sobel) \
  X(eq) X(negate) X(lut3d) \
  X(hqdn3d) X(tmix)
// clang-format on

#define FRAMELANE_DECLARE(name) const FilterDescriptor& name##_filter();
FRAMELANE_FILTERS(FRAMELANE_DECLARE)
#undef FRAMELANE_DECLARE

std::span<const FilterDescriptor* const> all_filters() {
#define FRAMELANE_ENTRY(name) &name##_filter(),
  static const std::array table{FRAMELANE_FILTERS(FRAMELANE_ENTRY)};
#undef FRAMELANE_ENTRY
  return table;
}

const FilterDescriptor* find_filter(std::string_view name) {
  for (const FilterDescriptor* filter : all_filters()) {
    if (filter->name == name || std::ranges::find(filter->aliases, name) != filter->aliases.end()) return filter;
  }
  return nullptr;
}

std::string_view nearest_filter_name(std::string_view name) {
  const auto filters = all_filters();
  return (*std::ranges::min_element(filters, {},
                                    [&](const FilterDescriptor* filter) { return edit_distance(name, filter->name); }))
      ->name;
}

}  // namespace framelane
