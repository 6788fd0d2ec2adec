// `framelane bench`: no files; how fast frames go through a device, beside what its engines allow.
#pragma once

#include "app/bench_options.h"
#include "app/console.h"

namespace framelane {

/** Measures what `options` names, prints a table for each size and format as soon as it is complete, and writes the
 *  JSON at the end ("-": to standard output in place of the tables). Progress goes to `console`. Returns the exit
 *  status: 0, or 128 + signal after what was complete by then has been told. Throws Error. Thread: main. */
int run_bench(const BenchOptions& options, Console& console);

}  // namespace framelane
