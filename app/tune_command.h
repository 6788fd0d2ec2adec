// `framelane tune`: the fastest settings for this machine, this kind of input and this chain.
#pragma once

#include "app/console.h"
#include "app/tune_options.h"

namespace framelane {

/** Measures short runs without an output until the search ends or the budget is spent, prints what was measured, and
 *  stores the choice for `run --tuned`. Progress goes to `console`. Returns the exit status: 0, or 128 + signal (then
 *  nothing is stored). Throws Error. Thread: main. */
int run_tune(const TuneOptions& options, Console& console);

}  // namespace framelane
