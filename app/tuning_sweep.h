// `framelane tune --sweep`: the search's choice against every other setting.
#pragma once

#include <cstddef>
#include <vector>

#include "app/tuning_race.h"
#include "app/tuning_search.h"

namespace framelane {

/** A full grid against one choice. */
struct SweepResult {
  std::size_t points = 0;
  TuningGroup finalists;          ///< the choice first, then the grid's best, by ratio to the choice
  RunSettings best;               ///< of the grid without the choice
  MedianInterval choice_to_best;  ///< 1.01: the choice is 1 % faster than anything else in the grid
  double best_fps = 0;            ///< median of the best's runs in the latest rounds
  MedianInterval best_gain;       ///< best / defaults, measured afresh side by side; all 0 where the choice stays

  /** The best is faster than the choice beyond the noise. */
  bool beats_choice() const { return points > 0 && choice_to_best.high < 1; }
};

/** Measures the whole grid (slots up to 16 and the choice's), interleaved with the choice, and narrows it down by
 *  quarters, with ever more runs each. The largest of many noisy figures is too large by chance, so what picked the
 *  best is not what it is judged by: it then runs against the choice in at least 9 fresh rounds; and, where it wins, in
 *  as many against the defaults. Has no budget; ends early (points = 0) when stopped. */
SweepResult sweep_settings(const TuningSpace& space, const RunSettings& choice, const TuningTrials& trials);

/** The points of that grid. */
std::vector<RunSettings> sweep_grid(const TuningSpace& space, const RunSettings& choice);

}  // namespace framelane
