#include "app/tuning_race.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "pipeline/median.h"

namespace framelane {
namespace {

/** Rounds after which a verdict may fall, fewer where all ratios are this far from 1. A slower one that is kept costs
 *  time, a wrong winner costs speed: so winners are asked for more. */
constexpr double kClear = 0.05;
constexpr std::size_t kRoundsToLoseClearly = 2;
constexpr std::size_t kRoundsToLose = 3;
constexpr std::size_t kRoundsToWinClearly = 3;
constexpr std::size_t kRoundsToWin = 5;
/** How often a winner may be one by chance. Several race at once and each round is looked at, so this is not what a
 *  whole search will see. */
constexpr double kWinsByChance = 0.07;
constexpr double kLosesByChance = 0.4;

bool wins(const std::vector<double>& ratios, double least_gain) {
  if (ratios.size() >= kRoundsToWinClearly && std::ranges::min(ratios) > 1 + kClear) return true;
  if (ratios.size() < kRoundsToWin) return false;
  const MedianInterval ratio = median_interval(ratios, kWinsByChance);
  return ratio.low > 1 && ratio.median > 1 + least_gain;
}

bool loses(const std::vector<double>& ratios, double least_gain) {
  if (ratios.size() >= kRoundsToLoseClearly && std::ranges::max(ratios) < 1 - kClear) return true;
  return ratios.size() >= kRoundsToLose && median_interval(ratios, kLosesByChance).high < 1 + least_gain;
}

}  // namespace

MedianInterval median_interval(std::vector<double> values, double may_miss) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t count = values.size();
  // The values k places from the ends miss the median when at most k of them fall on one of its sides.
  const auto n = static_cast<double>(count);
  double chance = std::pow(0.5, n);
  double misses = 2 * chance;
  std::size_t k = 0;
  while (2 * (k + 1) < count) {
    chance *= (n - static_cast<double>(k)) / static_cast<double>(k + 1);
    misses += 2 * chance;
    if (misses > may_miss) break;
    ++k;
  }
  return {values[k], median_of_sorted(values), values[count - 1 - k]};
}

double TuningRunner::fps(const RunSettings& settings) {
  const double begin_s = trials_.elapsed_s();
  const double fps = trials_.measure_fps(settings);
  total_s_ += trials_.elapsed_s() - begin_s;
  ++runs_;
  return fps;
}

bool TuningRunner::has_time(std::size_t runs, double until_s) const {
  return !stopped() && trials_.elapsed_s() + static_cast<double>(runs) * run_s() <= until_s;
}

TuningRace::TuningRace(TuningGroup& group, TuningRunner& runner, double least_gain)
    : group_(group), runner_(runner), least_gain_(least_gain), active_(group.candidates.size()) {
  std::iota(active_.begin(), active_.end(), std::size_t{0});
}

bool TuningRace::run_round() {
  std::vector<double> fps;
  for (const std::size_t candidate : active_) {
    fps.push_back(runner_.fps(group_.candidates[candidate].settings));
    if (fps.back() <= 0 || runner_.stopped()) return false;
  }
  const auto incumbent = static_cast<std::size_t>(std::ranges::find(active_, std::size_t{0}) - active_.begin());
  for (std::size_t i = 0; i < active_.size(); ++i) {
    TuningCandidate& candidate = group_.candidates[active_[i]];
    candidate.fps.push_back(fps[i]);
    candidate.ratios.push_back(fps[i] / fps[incumbent]);
  }
  std::ranges::reverse(active_);
  return true;
}

void TuningRace::drop_losers() {
  std::size_t leader = 0;
  for (const std::size_t candidate : active_) {
    if (median_of(candidate) > median_of(leader)) leader = candidate;
  }
  std::erase_if(active_, [&](std::size_t candidate) {
    if (candidate == 0 || candidate == leader) return candidate != 0 && loses(ratios(candidate), least_gain_);
    return loses(ratios(candidate), least_gain_) || loses(ratios_to(leader, candidate), 0);
  });
}

const std::vector<double>& TuningRace::ratios(std::size_t candidate) const {
  return group_.candidates[candidate].ratios;
}

double TuningRace::median_of(std::size_t candidate) const { return median_interval(ratios(candidate)).median; }

std::vector<double> TuningRace::ratios_to(std::size_t leader, std::size_t candidate) const {
  std::vector<double> quotients;
  std::ranges::transform(ratios(candidate), ratios(leader), std::back_inserter(quotients), std::divides{});
  return quotients;
}

std::optional<std::size_t> TuningRace::winner() const { return fastest_winner(false); }
std::optional<std::size_t> TuningRace::winner_so_far() const { return fastest_winner(true); }

std::optional<std::size_t> TuningRace::fastest_winner(bool last) const {
  std::optional<std::size_t> fastest;
  double fastest_ratio = 0;
  for (const std::size_t candidate : active_) {
    if (candidate == 0 || ratios(candidate).empty()) continue;
    const double ratio = median_of(candidate);
    const bool has_won = wins(ratios(candidate), least_gain_);
    if (ratio <= fastest_ratio || (!has_won && last)) continue;
    fastest_ratio = ratio;
    fastest = has_won ? std::optional(candidate) : std::nullopt;
  }
  return fastest;
}

}  // namespace framelane
