// `framelane run`: a pipeline from an input to an output, with what a user sees of it and does to it meanwhile.
#pragma once

#include "app/console.h"
#include "app/options.h"

namespace framelane {

/** Runs to the end, a signal or the key q. Returns the exit status: 0, or 128 + signal. Throws Error; ClosedPipe where
 *  standard output is the output and its reader has gone.
 *  Thread: main (it reads keys and serves the preview window). */
int run_media(const RunOptions& options, Console& console);

}  // namespace framelane
