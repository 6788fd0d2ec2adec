// Settings measured side by side. Machines drift (clocks, heat, neighbours) by more than the gains that are looked for,
// so nothing is compared across time: each round measures all candidates within seconds of each other, in turned order,
// and only the ratios within a round count.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/tuned_settings.h"

namespace framelane {

/** What the search needs of the world. `measure_fps` blocks; 0 fps: the run was stopped. */
struct TuningTrials {
  std::function<double(const RunSettings&)> measure_fps;
  std::function<double()> elapsed_s;  ///< since the search began
  std::function<bool()> stopped;      ///< asked for from outside: the search ends at once
};

/** The median of measurements, and bounds that hold the true one whatever the noise looks like: order statistics, by
 * the binomial distribution (the sign test). */
struct MedianInterval {
  double low = 0;
  double median = 0;
  double high = 0;
};
/** The narrowest bounds that miss the true median with a chance of at most `may_miss`; the ends of the values where
 *  they are too few for that. All 0 for no values. */
MedianInterval median_interval(std::vector<double> values, double may_miss = 0.15);

/** One candidate in one race. */
struct TuningCandidate {
  RunSettings settings;
  std::vector<double> fps;     ///< a run each
  std::vector<double> ratios;  ///< to the incumbent's run of the same round
  double to_defaults = 1;      ///< median of `ratios` times what the incumbent gained over the defaults so far
};

/** A race between the best settings so far (the first candidate, the incumbent) and neighbours along one axis. */
struct TuningGroup {
  std::string name;  ///< "start", "mode", "slots", "decoder threads", "CUDA graphs", "sweep"
  std::vector<TuningCandidate> candidates;
  std::size_t winner = 0;
};

/** Measures, and foresees whether there is time for more. `trials` outlives it. */
class TuningRunner {
 public:
  explicit TuningRunner(const TuningTrials& trials) : trials_(trials) {}

  double fps(const RunSettings& settings);
  /** Mean over all runs so far. */
  double run_s() const { return runs_ == 0 ? 0 : total_s_ / runs_; }
  /** True where so many more runs will probably end before `until_s`. */
  bool has_time(std::size_t runs, double until_s) const;
  bool stopped() const { return trials_.stopped && trials_.stopped(); }

 private:
  const TuningTrials& trials_;
  double total_s_ = 0;
  int runs_ = 0;
};

/** Rounds of one group, whose candidate 0 is the incumbent. A challenger loses after two rounds where it is clearly
 *  slower (5 %), after three where the bounds of its median leave no gain worth having; it wins after three where it is
 *  clearly faster, after five where its gain is beyond the noise. `group` and `runner` outlive it. */
class TuningRace {
 public:
  /** Gains up to `least_gain` (0.01: 1 %) are not looked for. */
  TuningRace(TuningGroup& group, TuningRunner& runner, double least_gain);

  /** Candidates that still run, with the incumbent. */
  std::size_t active() const { return active_.size(); }
  /** One run each; backwards in every second round, so that steady drift cancels. False, and nothing is added, when
   *  stopped meanwhile. */
  bool run_round();
  /** Those that lost against the incumbent, or against a challenger that leads. */
  void drop_losers();
  /** The fastest of those that have won; nothing while a faster one is still open. */
  std::optional<std::size_t> winner() const;
  /** The fastest of those that have won, now that no more rounds come. */
  std::optional<std::size_t> winner_so_far() const;

 private:
  std::optional<std::size_t> fastest_winner(bool last) const;
  const std::vector<double>& ratios(std::size_t candidate) const;
  double median_of(std::size_t candidate) const;
  /** Of two active candidates, round by round. */
  std::vector<double> ratios_to(std::size_t leader, std::size_t candidate) const;

  TuningGroup& group_;
  TuningRunner& runner_;
  const double least_gain_;
  std::vector<std::size_t> active_;
};

}  // namespace framelane
