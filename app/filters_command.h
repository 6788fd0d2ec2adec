// `framelane filters [NAME]`: what filters there are, from their declarations.
#pragma once

#include <string>

#include "app/options.h"
#include "kernels/filter.h"

namespace framelane {

/** One line a filter: name, kind, what it does. */
std::string filter_table();
/** Everything that a filter declares: parameters with type, default and range, working space, border, oracle. */
std::string filter_help(const FilterDescriptor& filter);
/** A parameter's allowed values: "[0 - 1024]", "0 or 1", "clock, cclock", "expression", "text". */
std::string allowed_values(const Parameter& parameter);

/** Prints to standard output; throws UsageError for an unknown name, with the nearest known one. */
int run_filters(const FiltersOptions& options);

}  // namespace framelane
