// The search of `framelane tune`: from a function that measures to the settings that gave the most frames a second. It
// knows no pipeline.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "app/tuned_settings.h"
#include "app/tuning_race.h"

namespace framelane {

/** What may be chosen. */
struct TuningSpace {
  std::vector<Mode> modes;
  std::vector<int> slots;            ///< rising; holds the defaults'
  std::vector<int> decoder_threads;  ///< rising; holds the defaults'
  bool cuda_graphs = false;          ///< whether graphs can be used at all
  RunSettings defaults;              ///< what runs without tuning: the search starts here
  std::vector<RunSettings> priors;   ///< what the device and the frame's size suggest: tried first
};

/** What a textbook would go by. */
struct TuningTraits {
  bool has_graphs = false;
  int copy_engines = 0;  ///< 0: memory is shared, nothing is copied
  std::size_t frame_bytes = 0;
  int cores = 1;
};

/** Slots from 1 to 64, decoder threads from a quarter of the cores to one and a half times the cores, all modes. */
TuningSpace tuning_space(const TuningTraits& traits, const RunSettings& defaults);

/** Times in seconds. */
struct TuningLimits {
  double budget_s = 30;
  double least_gain = 0.01;  ///< smaller ones are not looked for
  int max_rounds = 9;        ///< of a race that stays undecided
};

struct TuningResult {
  std::vector<TuningGroup> groups;
  RunSettings choice;
  double fps = 0;              ///< median of the choice's latest runs
  MedianInterval gain;         ///< choice / defaults, measured afresh side by side; 1 where they are the same
  bool out_of_budget = false;  ///< ended before all neighbours of the choice were tried
};

/** Coordinate descent over mode, decoder threads, slots and graphs. A challenger replaces the incumbent only where its
 *  gain is beyond the noise of the rounds; the search ends where no neighbour does, or at the budget. In the end the
 *  choice runs against the defaults once more, and goes if it is no better. `group_done` may be empty. */
TuningResult search_settings(const TuningSpace& space, const TuningLimits& limits, const TuningTrials& trials,
                             const std::function<void(const TuningGroup&)>& group_done = {});

}  // namespace framelane
