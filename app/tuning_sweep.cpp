#include "app/tuning_sweep.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "pipeline/median.h"

namespace framelane {
namespace {

constexpr int kMostSweptSlots = 16;
constexpr int kFinalRounds = 9;

/** One run of each candidate, as a ratio to the choice's runs a few runs before and after it. */
bool measure_beside(const RunSettings& choice, std::vector<TuningCandidate>& candidates, TuningRunner& runner) {
  constexpr std::size_t kBlock = 4;
  double before = runner.fps(choice);
  for (std::size_t first = 0; first < candidates.size(); first += kBlock) {
    const std::size_t end = std::min(first + kBlock, candidates.size());
    for (std::size_t i = first; i < end; ++i) candidates[i].fps.push_back(runner.fps(candidates[i].settings));
    const double after = runner.fps(choice);
    if (before <= 0 || after <= 0 || runner.stopped()) return false;
    for (std::size_t i = first; i < end; ++i) {
      candidates[i].ratios.push_back(candidates[i].fps.back() / ((before + after) / 2));
    }
    before = after;
  }
  return true;
}

bool measure_rounds(const RunSettings& choice, std::vector<TuningCandidate>& candidates, TuningRunner& runner,
                    int rounds) {
  for (int round = 0; round < rounds; ++round) {
    if (!measure_beside(choice, candidates, runner)) return false;
  }
  for (TuningCandidate& candidate : candidates) candidate.to_defaults = median_interval(candidate.ratios).median;
  std::ranges::sort(candidates, std::ranges::greater{}, &TuningCandidate::to_defaults);
  return true;
}

/** Nothing when stopped. */
std::optional<TuningGroup> race_of_two(const RunSettings& incumbent, const RunSettings& challenger,
                                       TuningRunner& runner) {
  TuningGroup group{"sweep", {{incumbent, {}, {}, 1}, {challenger, {}, {}, 1}}, 0};
  TuningRace race(group, runner, 0);
  for (int round = 0; round < kFinalRounds; ++round) {
    if (!race.run_round()) return std::nullopt;
  }
  return group;
}

/** Ratios of ratios would be figures that nobody measured. False when stopped. */
bool compare_with_defaults(SweepResult& result, const RunSettings& defaults, TuningRunner& runner) {
  if (result.best == defaults) {
    result.best_gain = {1, 1, 1};
    return true;
  }
  const std::optional<TuningGroup> race = race_of_two(defaults, result.best, runner);
  if (!race) return false;
  result.best_fps = median(race->candidates[1].fps);
  result.best_gain = median_interval(race->candidates[1].ratios);
  return true;
}

}  // namespace

std::vector<RunSettings> sweep_grid(const TuningSpace& space, const RunSettings& choice) {
  std::vector<RunSettings> grid;
  for (const Mode mode : space.modes) {
    for (const int slots : space.slots) {
      // In sync mode one frame is in flight, however many slots there are.
      const bool swept =
          mode == Mode::kSync ? slots == space.defaults.slots : slots <= kMostSweptSlots || slots == choice.slots;
      if (!swept) continue;
      for (const int threads : space.decoder_threads) {
        grid.push_back({mode, slots, threads, false});
        if (space.cuda_graphs && mode != Mode::kSync) grid.push_back({mode, slots, threads, true});
      }
    }
  }
  return grid;
}

SweepResult sweep_settings(const TuningSpace& space, const RunSettings& choice, const TuningTrials& trials) {
  TuningRunner runner(trials);
  std::vector<TuningCandidate> field;
  for (const RunSettings& settings : sweep_grid(space, choice)) {
    if (settings != choice) field.push_back({settings, {}, {}, 1});
  }
  const std::size_t points = field.size();
  for (const int rounds : {1, 2, 4}) {
    if (field.empty() || !measure_rounds(choice, field, runner, rounds)) return {};
    if (rounds < 4) field.resize((field.size() + 3) / 4);
  }
  std::optional<TuningGroup> last = race_of_two(choice, field.front().settings, runner);
  if (!last) return {};
  std::vector<double> choice_to_best;
  for (const double ratio : last->candidates[1].ratios) choice_to_best.push_back(1 / ratio);
  SweepResult result{points,
                     {"sweep", std::move(field), 0},
                     last->candidates[1].settings,
                     median_interval(std::move(choice_to_best)),
                     median(last->candidates[1].fps),
                     {}};
  result.finalists.candidates.insert(result.finalists.candidates.begin(), std::move(last->candidates[0]));
  if (result.beats_choice() && !compare_with_defaults(result, space.defaults, runner)) return {};
  return result;
}

}  // namespace framelane
