#include "app/tuning_search.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace framelane {
namespace {

/** How far the slots of neighbours are from the incumbent's, in steps of TuningSpace::slots: over one bad step, too. */
constexpr std::ptrdiff_t kSlotSteps = 2;
constexpr std::array kCoarseSlots{1, 2, 4, 8, 16};

/** Of the choice against the defaults: more where time is left, fewer where it is not. */
constexpr int kLeastFinalRounds = 3;
constexpr int kFinalRounds = 5;
constexpr int kMostFinalRounds = 9;

/** A frame below this takes about as long to launch as to copy (20 us for 1 MB on the reference machine). */
constexpr std::size_t kSmallFrameBytes = 1'000'000;

RunSettings with_mode(RunSettings settings, Mode mode) {
  settings.mode = mode;
  if (mode == Mode::kSync) settings.cuda_graphs = false;  // its copies block: nothing to capture
  return settings;
}

void add_sorted(std::vector<int>& values, int value) {
  values.push_back(value);
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

class Search {
 public:
  Search(const TuningSpace& space, const TuningLimits& limits, const TuningTrials& trials,
         const std::function<void(const TuningGroup&)>& group_done)
      : space_(space), limits_(limits), runner_(trials), group_done_(group_done), best_(space.defaults) {}

  TuningResult run();

 private:
  using Settings = std::vector<RunSettings>;

  Settings other_modes() const;
  Settings coarse_slots() const;
  Settings near_slots() const;
  Settings other_decoder_threads() const;
  Settings other_graphs() const;

  bool descend(const char* name, Settings (Search::*neighbours)() const);
  bool race(const char* name, const Settings& challengers);
  bool is_hopeless(const RunSettings& challenger) const;
  void conclude(TuningGroup& group, std::optional<std::size_t> winner);
  void compare_with_defaults();
  void tell_choice();
  bool has_time(std::size_t runs) const { return runner_.has_time(runs, search_until_s()); }
  /** What the last comparison needs is kept, but never more than half. */
  double search_until_s() const {
    return limits_.budget_s - std::min(2 * kFinalRounds * runner_.run_s(), limits_.budget_s / 2);
  }

  const TuningSpace& space_;
  const TuningLimits& limits_;
  TuningRunner runner_;
  const std::function<void(const TuningGroup&)>& group_done_;
  TuningResult result_;
  RunSettings best_;
  double best_to_defaults_ = 1;
  std::map<RunSettings, double> at_most_;                   // ratio to the defaults
  std::set<std::pair<RunSettings, RunSettings>> compared_;  // the first was better, or as good
};

TuningResult Search::run() {
  race("start", space_.priors);
  bool changed = true;
  for (bool first = true; changed && has_time(2); first = false) {
    changed = descend("mode", &Search::other_modes);
    changed |= descend("decoder threads", &Search::other_decoder_threads);
    if (first) changed |= race("slots", coarse_slots());
    changed |= descend("slots", &Search::near_slots);
    changed |= descend("decoder threads", &Search::other_decoder_threads);
    changed |= descend("CUDA graphs", &Search::other_graphs);
  }
  result_.out_of_budget = !has_time(2);
  compare_with_defaults();
  tell_choice();
  return std::move(result_);
}

bool Search::descend(const char* name, Settings (Search::*neighbours)() const) {
  bool changed = false;
  while (race(name, (this->*neighbours)())) changed = true;
  return changed;
}

/** True when the incumbent was replaced. */
bool Search::race(const char* name, const Settings& challengers) {
  TuningGroup group{name, {{best_, {}, {}, 1}}, 0};
  for (const RunSettings& challenger : challengers) {
    if (!is_hopeless(challenger)) group.candidates.push_back({challenger, {}, {}, 1});
  }
  TuningRace race(group, runner_, limits_.least_gain);
  std::optional<std::size_t> winner;
  for (int round = 0; round < limits_.max_rounds && race.active() > 1 && !winner; ++round) {
    if (!has_time(race.active()) || !race.run_round()) break;
    race.drop_losers();
    winner = race.winner();
  }
  if (!winner) winner = race.winner_so_far();
  conclude(group, winner);
  return winner.has_value();
}

/** The same pair once more, or known to be slower than what has been found since. */
bool Search::is_hopeless(const RunSettings& challenger) const {
  if (challenger == best_ || compared_.contains({best_, challenger})) return true;
  const auto known = at_most_.find(challenger);
  return known != at_most_.end() && known->second < best_to_defaults_;
}

void Search::conclude(TuningGroup& group, std::optional<std::size_t> winner) {
  if (group.candidates.front().fps.empty()) return;  // nothing to race against, or no time
  for (TuningCandidate& candidate : group.candidates) {
    const MedianInterval ratio = median_interval(candidate.ratios);
    candidate.to_defaults = ratio.median * best_to_defaults_;
    if (candidate.settings == best_) continue;
    at_most_[candidate.settings] = ratio.high * best_to_defaults_;
    compared_.insert({best_, candidate.settings});
  }
  group.winner = winner.value_or(0);
  best_ = group.candidates[group.winner].settings;
  for (const TuningCandidate& beaten : group.candidates) compared_.insert({best_, beaten.settings});
  best_to_defaults_ = group.candidates[group.winner].to_defaults;
  if (group_done_) group_done_(group);
  result_.groups.push_back(std::move(group));
}

/** Gains were multiplied up from race to race, and each winner won with luck, too: this is the figure to tell. */
void Search::compare_with_defaults() {
  result_.gain = {1, 1, 1};
  if (best_ == space_.defaults) return;
  TuningGroup group{"choice", {{space_.defaults, {}, {}, 1}, {best_, {}, {}, 1}}, 0};
  TuningRace race(group, runner_, limits_.least_gain);
  for (int round = 0; round < kMostFinalRounds; ++round) {
    if (round >= kLeastFinalRounds && !runner_.has_time(2, limits_.budget_s)) break;
    if (!race.run_round()) break;
  }
  if (group.candidates.back().ratios.empty()) return;  // stopped
  const MedianInterval gain = median_interval(group.candidates.back().ratios);
  best_to_defaults_ = 1;
  best_ = space_.defaults;
  conclude(group, gain.median > 1 ? std::optional<std::size_t>(1) : std::nullopt);
  if (gain.median > 1) result_.gain = gain;
}

void Search::tell_choice() {
  result_.choice = best_;
  for (const TuningGroup& group : result_.groups) {
    for (const TuningCandidate& candidate : group.candidates) {
      if (candidate.settings == best_) result_.fps = median_interval(candidate.fps).median;
    }
  }
}

Search::Settings Search::other_modes() const {
  Settings challengers;
  for (const Mode mode : space_.modes) {
    challengers.push_back(with_mode(best_, mode));
    if (mode != Mode::kAsync || best_.slots < 2) continue;
    // One stream needs fewer frames in flight than one a slot: with as many it may lose, though it is the best.
    challengers.push_back(challengers.back());
    challengers.back().slots = best_.slots / 2;
  }
  return challengers;
}

Search::Settings Search::coarse_slots() const {
  Settings challengers;
  for (const int slots : kCoarseSlots) {
    if (!std::ranges::binary_search(space_.slots, slots)) continue;
    challengers.push_back(best_);
    challengers.back().slots = slots;
  }
  return challengers;
}

Search::Settings Search::near_slots() const {
  const auto here = std::ranges::lower_bound(space_.slots, best_.slots) - space_.slots.begin();
  const std::ptrdiff_t end = std::min<std::ptrdiff_t>(here + kSlotSteps + 1, std::ssize(space_.slots));
  Settings challengers;
  for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(here - kSlotSteps, 0); i < end; ++i) {
    challengers.push_back(best_);
    challengers.back().slots = space_.slots[static_cast<std::size_t>(i)];
  }
  return challengers;
}

Search::Settings Search::other_decoder_threads() const {
  Settings challengers;
  for (const int threads : space_.decoder_threads) {
    challengers.push_back(best_);
    challengers.back().decoder_threads = threads;
  }
  return challengers;
}

Search::Settings Search::other_graphs() const {
  if (!space_.cuda_graphs || best_.mode == Mode::kSync) return {};
  RunSettings challenger = best_;
  challenger.cuda_graphs = !challenger.cuda_graphs;
  return {challenger};
}

}  // namespace

TuningSpace tuning_space(const TuningTraits& traits, const RunSettings& defaults) {
  TuningSpace space{
      {kModes.begin(), kModes.end()}, {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}, {}, traits.has_graphs, defaults, {}};
  add_sorted(space.slots, defaults.slots);
  for (const int quarters : {1, 2, 3, 4, 5, 6}) {
    add_sorted(space.decoder_threads, std::max(1, (traits.cores * quarters + 2) / 4));
  }
  add_sorted(space.decoder_threads, defaults.decoder_threads);
  if (traits.copy_engines == 0) return space;  // the textbook is about copies
  // One frame in each of H2D, kernels and D2H, and one that waits; with one copy engine, two of these are one.
  RunSettings prior = with_mode(defaults, Mode::kMultistream);
  prior.slots = traits.copy_engines > 1 ? 4 : 3;
  space.priors.push_back(prior);
  if (traits.frame_bytes >= kSmallFrameBytes) return space;
  // Small frames: launches cost more than copies, so fewer of them, or none in a stream of its own.
  prior.cuda_graphs = traits.has_graphs;
  space.priors.push_back(prior);
  space.priors.push_back(with_mode(prior, Mode::kAsync));
  return space;
}

TuningResult search_settings(const TuningSpace& space, const TuningLimits& limits, const TuningTrials& trials,
                             const std::function<void(const TuningGroup&)>& group_done) {
  return Search(space, limits, trials, group_done).run();
}

}  // namespace framelane
