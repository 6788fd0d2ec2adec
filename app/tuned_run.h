// `run --tuned`: what `framelane tune` stored, put into a run.
#pragma once

#include <optional>

#include "app/options.h"
#include "app/tuned_settings.h"

namespace framelane {

/** Looks up the entry for the run's device, input format and chain, and puts its settings into `run` where the user
 *  gave none (RunOptions::given). Opens the input to see its format, and closes it. Warns, and returns nothing, where
 *  there is no entry, the store cannot be read or the input cannot be opened twice. Throws InputError. `run`: `filters`
 * and `device` are set. */
std::optional<TunedEntry> use_tuned_settings(PipelineOptions& run, const RunOptions& options);

}  // namespace framelane
