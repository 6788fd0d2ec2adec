// The options of `framelane run`: declared before the parsing, checked and completed after it.
#pragma once

#include "app/declarations.h"

namespace framelane {

/** All options of `run`. `values` must outlive the parsing. */
void declare_run(CLI::App& command, ParsedValues& values);

/** "What you see": options that `run` has in common with `demo`. */
void declare_console(Declarations& declare, ParsedValues& values);

/** What `run` is to do; `values.run` and `values.chains` are used up. Throws UsageError where the input or the output
 * is missing, or options contradict each other. */
RunOptions finish_run(ParsedValues& values);

}  // namespace framelane
