// The list of filters: the one place to touch when a filter is added.
#pragma once

#include <span>
#include <string_view>

#include "kernels/filter.h"

namespace framelane {

/** All filters, in the order of `framelane filters`. */
std::span<const FilterDescriptor* const> all_filters();

/** By name or alias; nullptr when there is none. */
const FilterDescriptor* find_filter(std::string_view name);

/** The known filter whose name is nearest to `name` by edit distance, for "did you mean". */
std::string_view nearest_filter_name(std::string_view name);

}  // namespace framelane
