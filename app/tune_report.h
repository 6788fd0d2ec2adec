// What `framelane tune` tells: a table and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/tuning_search.h"
#include "app/tuning_sweep.h"
#include "kernels/filter.h"
#include "kernels/frame.h"

namespace framelane {

/** What a measurement was made of. */
struct TuneReport {
  std::string device;
  Backend backend = Backend::kCpu;
  TuningTraits traits;
  std::string input;
  FrameFormat format;
  std::string chain;        ///< as the user wrote it
  std::size_t frames = 0;   ///< of each run
  std::size_t warm_up = 0;  ///< the first of them, not counted
  std::size_t runs = 0;
  double budget_s = 0;
  double elapsed_s = 0;  ///< of the search
  RunSettings defaults;
  TuningResult search;
  std::optional<SweepResult> sweep;
  RunSettings choice;  ///< the search's, or the sweep's where that is faster beyond the noise
  double fps = 0;
  double gain = 1;     ///< over the defaults, measured side by side
  std::string stored;  ///< the file; empty: not stored
};

/** Half the distance between the quartiles over the median, in per cent; 0 for fewer than 2 values. */
double spread_percent(std::vector<double> values);

/** A group a race, a line a candidate with a bar for its fps ('*': what the race went on with), then the choice, its
 *  gain and where it is. Ends with a newline. */
std::string tune_text(const TuneReport& report);

/** framelane, device, backend, copy_engines, cores, input, format, chain, run {frames, warm_up}, runs, budget_s,
 *  elapsed_s, out_of_budget, defaults, choice {mode, slots, decoder_threads, cuda_graphs, fps, gain}, search {choice,
 *  gain, gain_low, gain_high}, groups [{name, candidates [{settings…, fps, fps_spread_percent, runs, to_defaults,
 *  won}]}], sweep {points, best, best_fps, best_gain (null: the choice
 *  stays), choice_to_best, choice_to_best_low, choice_to_best_high, finalists}, stored, versions. */
nlohmann::ordered_json tune_json(const TuneReport& report);

}  // namespace framelane
