#include "app/tune_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

#include "app/device_choice.h"
#include "app/report_file.h"
#include "app/signals.h"
#include "app/stats_report.h"
#include "app/tune_report.h"
#include "app/tune_runs.h"
#include "app/tuned_settings.h"
#include "app/tuning_search.h"
#include "app/tuning_sweep.h"
#include "app/version.h"
#include "kernels/errors.h"
#include "pipeline/cpu_cores.h"

namespace framelane {
namespace {

constexpr double kBudgetGpuS = 30;
constexpr double kBudgetCpuS = 60;  // slower, so that a run needs longer for as many frames

/** Status line and log lines while it measures. */
class TuneProgress {
 public:
  TuneProgress(Console& console, double budget_s) : console_(console), budget_s_(budget_s) {}
  ~TuneProgress() { console_.set_status(""); }
  TuneProgress(const TuneProgress&) = delete;
  TuneProgress& operator=(const TuneProgress&) = delete;

  double elapsed_s() const { return seconds(Clock::now() - begin_); }
  void begin_sweep() { sweeping_ = true; }
  void tell_run(const RunSettings& settings, double fps) const {
    if (!console_.options().progress || !console_.has_status_line()) return;
    const std::string budget = sweeping_ ? ", sweep" : fmt::format(" of {:.0f} s", budget_s_);
    console_.set_status(fmt::format("tune {:.0f} s{} | {}: {:.1f} fps", elapsed_s(), budget, describe(settings), fps));
  }
  void tell_group(const TuningGroup& group) const {
    if (!console_.options().progress) return;
    const TuningCandidate& winner = group.candidates[group.winner];
    spdlog::info("{:.1f} s: {}: {}: {:.3f} times the defaults", elapsed_s(), group.name, describe(winner.settings),
                 winner.to_defaults);
  }

 private:
  Console& console_;
  const double budget_s_;
  const TimePoint begin_ = Clock::now();
  bool sweeping_ = false;
};

TuningTrials trials(MeasuredRuns& runs, const TuneProgress& progress) {
  const auto measure = [&](const RunSettings& settings) {
    const double fps = runs.fps(settings);
    progress.tell_run(settings, fps);
    return fps;
  };
  return {measure, [&] { return progress.elapsed_s(); }, [] { return stop_signal() != 0; }};
}

/** What may be chosen; --decoder-threads is not, where it was given. */
TuningSpace space_of(const MeasuredRuns& runs, const TuningTraits& traits) {
  TuningSpace space = tuning_space(traits, runs.defaults());
  if (runs.base().input.decoder_threads > 0) space.decoder_threads = {runs.defaults().decoder_threads};
  return space;
}

TuningTraits traits_of(const MeasuredRuns& runs) {
  const Device& device = runs.device();
  return {device.has_graphs(), device.copy_engines(), frame_layout(runs.format()).bytes, cpu_cores()};
}

TuneReport describe_runs(const TuneOptions& options, const MeasuredRuns& runs, double budget_s) {
  TuneReport report;
  report.device = runs.device().name();
  report.backend = runs.device().backend();
  report.traits = traits_of(runs);
  report.input = options.input.url;
  report.format = runs.format();
  report.chain = options.chain;
  report.frames = runs.window().end;
  report.warm_up = runs.window().warm_up;
  report.budget_s = budget_s;
  report.defaults = runs.defaults();
  return report;
}

void sweep(TuneReport& report, const TuningSpace& space, const MeasuredRuns& runs, TuneProgress& progress,
           const TuningTrials& trials) {
  const double run_s = report.elapsed_s / static_cast<double>(runs.count());
  const std::size_t points = sweep_grid(space, report.choice).size();
  // 5/4 for the choice beside each, and as much again for the rounds that narrow it down.
  spdlog::info("sweep: {} settings, about {:.0f} s", points, 2.5 * run_s * static_cast<double>(points));
  progress.begin_sweep();
  report.sweep = sweep_settings(space, report.choice, trials);
  const SweepResult& found = *report.sweep;
  if (found.points == 0) spdlog::warn("sweep: stopped before its end: the search's choice stays");
  if (!found.beats_choice()) return;
  report.choice = found.best;
  report.fps = found.best_fps;
  report.gain = found.best_gain.median;
}

TunedEntry entry_of(const TuneReport& report, const MeasuredRuns& runs) {
  return {{report.device, describe(report.format), canonical_chain(runs.base().filters)},
          report.choice,
          report.fps,
          report.gain,
          fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
          program_version()};
}

/** Nothing when stopped before the search was through; a sweep that was stopped takes nothing from it. */
std::optional<TuneReport> tune(const TuneOptions& options, MeasuredRuns& runs, Console& console) {
  const double budget_s =
      options.budget_s.value_or(runs.device().backend() == Backend::kCuda ? kBudgetGpuS : kBudgetCpuS);
  TuneProgress progress(console, budget_s);
  runs.run_pilots(budget_s);
  TuneReport report = describe_runs(options, runs, budget_s);
  if (stop_signal() != 0) return std::nullopt;
  const TuningSpace space = space_of(runs, report.traits);
  const TuningTrials measured = trials(runs, progress);
  report.search = search_settings(space, {.budget_s = budget_s}, measured,
                                  [&](const TuningGroup& group) { progress.tell_group(group); });
  if (stop_signal() != 0) return std::nullopt;
  report.choice = report.search.choice;
  report.fps = report.search.fps;
  report.gain = report.search.gain.median;
  report.elapsed_s = progress.elapsed_s();
  if (options.sweep) sweep(report, space, runs, progress, measured);
  report.runs = runs.count();
  return report;
}

void tell(const TuneReport& report, const std::string& json_file) {
  if (!json_file.empty()) write_report(json_file, json_text(tune_json(report)));
  if (!is_standard_output(json_file)) write_stdout(tune_text(report));
}

}  // namespace

int run_tune(const TuneOptions& options, Console& console) {
  check_reports({{"--json", options.json}}, options.input.url, "");
  if (!can_be_reopened(options.input)) {
    throw UsageError(fmt::format("{}: tune reads its input again and again: give it a file", options.input.url));
  }
  install_signal_handlers();
  MeasuredRuns runs(options);
  const std::optional<TunedStore> store = options.dry_run ? std::nullopt : std::optional(TunedStore::of_user());
  if (store) store->prepare();  // rather now than after half a minute
  warn_of_environment(runs.device());
  spdlog::info("{} | {}", device_text(options.device, runs.device()),
               options.chain.empty() ? "no filter" : options.chain);
  std::optional<TuneReport> report = tune(options, runs, console);
  if (report && store) {
    store->store(entry_of(*report, runs));
    report->stored = store->file().string();
  }
  if (report) tell(*report, options.json);
  return exit_status_of_stop();
}

}  // namespace framelane
