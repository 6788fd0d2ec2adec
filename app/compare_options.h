// The options of `framelane compare`: declared before the parsing, checked and completed after it.
#pragma once

#include "app/declarations.h"

namespace framelane {

/** All options of `compare`. `values` must outlive the parsing. */
void declare_compare(CLI::App& command, ParsedValues& values);

/** What `compare` is to do; `values.compare` and `values.chains` are used up. Throws UsageError. */
CompareOptions finish_compare(ParsedValues& values);

}  // namespace framelane
