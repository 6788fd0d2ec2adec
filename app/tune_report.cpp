#include "app/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/stats_report.h"
#include "app/version.h"
#include "pipeline/median.h"

namespace framelane {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBarCells = 24;

// ---- text

void add_heading(std::string& text, const TuneReport& report) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}: {} copy engine{}, {} core{}\n", report.device, report.traits.copy_engines,
                 report.traits.copy_engines == 1 ? "" : "s", report.traits.cores, report.traits.cores == 1 ? "" : "s");
  fmt::format_to(out, "{}: {} | {}\n", report.input, describe(report.format),
                 report.chain.empty() ? "no filter" : report.chain);
  fmt::format_to(out, "{} runs of {} frames, the first {} not counted; search {:.1f} s{}\n", report.runs, report.frames,
                 report.warm_up, report.elapsed_s, report.search.out_of_budget ? ", ended by its budget" : "");
}

void add_candidate(std::string& text, const TuningCandidate& candidate, bool won, double most_fps) {
  const RunSettings& settings = candidate.settings;
  const double fps = median(candidate.fps);
  const auto bar = static_cast<std::size_t>(std::lround(kBarCells * fps / most_fps));
  fmt::format_to(std::back_inserter(text), "{} {:<12}{:>6}{:>9}{:>8}{:>11.1f}{:>7.1f} %{:>10.3f}  {}\n",
                 won ? '*' : ' ', mode_name(settings.mode), settings.slots, settings.decoder_threads,
                 settings.cuda_graphs ? "on" : "off", fps, spread_percent(candidate.fps), candidate.to_defaults,
                 std::string(bar, '#'));
}

double most_fps(const TuneReport& report) {
  double most = 0;
  const auto look = [&](const TuningGroup& group) {
    for (const TuningCandidate& candidate : group.candidates) most = std::max(most, median(candidate.fps));
  };
  std::ranges::for_each(report.search.groups, look);
  if (report.sweep) look(report.sweep->finalists);
  return most;
}

void add_groups(std::string& text, const TuneReport& report) {
  fmt::format_to(std::back_inserter(text), "\n  {:<12}{:>6}{:>9}{:>8}{:>11}{:>9}{:>10}\n", "mode", "slots", "decoder",
                 "graphs", "fps", "spread", "ratio");
  const double most = most_fps(report);
  for (const TuningGroup& group : report.search.groups) {
    text += group.name + "\n";
    for (std::size_t i = 0; i < group.candidates.size(); ++i) {
      add_candidate(text, group.candidates[i], i == group.winner, most);
    }
  }
  if (!report.sweep || report.sweep->points == 0) return;
  text += "sweep (ratio to the search's choice, which comes first)\n";
  for (const TuningCandidate& candidate : report.sweep->finalists.candidates) {
    add_candidate(text, candidate, candidate.settings == report.choice, most);
  }
}

void add_sweep(std::string& text, const SweepResult& sweep) {
  fmt::format_to(std::back_inserter(text),
                 "sweep: the choice has {:.3f} ({:.3f} to {:.3f}) of the fps of the best of {} other settings ({})\n",
                 sweep.choice_to_best.median, sweep.choice_to_best.low, sweep.choice_to_best.high, sweep.points,
                 describe(sweep.best));
}

void add_choice(std::string& text, const TuneReport& report) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "choice: {}: {:.1f} fps, ", describe(report.choice), report.fps);
  if (report.choice == report.defaults) {
    text += "the defaults: nothing gained beyond the noise\n";
  } else if (report.choice == report.search.choice) {
    fmt::format_to(out, "{:.3f} times the defaults ({:.3f} to {:.3f})\n", report.gain, report.search.gain.low,
                   report.search.gain.high);
  } else {
    fmt::format_to(out, "{:.3f} times the defaults ({:.3f} to {:.3f}), found by the sweep\n", report.gain,
                   report.sweep->best_gain.low, report.sweep->best_gain.high);
  }
  text += report.stored.empty() ? "not stored (--dry-run)\n"
                                : fmt::format("stored in {}: framelane run --tuned uses it\n", report.stored);
}

// ---- JSON

Json settings_json(const RunSettings& settings) {
  return {{"mode", mode_name(settings.mode)},
          {"slots", settings.slots},
          {"decoder_threads", settings.decoder_threads},
          {"cuda_graphs", settings.cuda_graphs}};
}

Json candidate_json(const TuningCandidate& candidate, bool won) {
  Json json = settings_json(candidate.settings);
  json["fps"] = median(candidate.fps);
  json["fps_spread_percent"] = spread_percent(candidate.fps);
  json["runs"] = candidate.fps.size();
  json["to_defaults"] = candidate.to_defaults;
  json["won"] = won;
  return json;
}

Json group_json(const TuningGroup& group) {
  Json candidates = Json::array();
  for (std::size_t i = 0; i < group.candidates.size(); ++i) {
    candidates.push_back(candidate_json(group.candidates[i], i == group.winner));
  }
  return {{"name", group.name}, {"candidates", candidates}};
}

Json sweep_json(const SweepResult& sweep) {
  Json finalists = Json::array();
  for (const TuningCandidate& candidate : sweep.finalists.candidates) {
    Json json = settings_json(candidate.settings);
    json["fps"] = median(candidate.fps);
    json["to_choice"] = candidate.to_defaults;
    finalists.push_back(std::move(json));
  }
  return {{"points", sweep.points},
          {"best", settings_json(sweep.best)},
          {"best_fps", sweep.best_fps},
          {"best_gain", sweep.beats_choice() ? Json(sweep.best_gain.median) : Json(nullptr)},
          {"choice_to_best", sweep.choice_to_best.median},
          {"choice_to_best_low", sweep.choice_to_best.low},
          {"choice_to_best_high", sweep.choice_to_best.high},
          {"finalists", finalists}};
}

}  // namespace

double spread_percent(std::vector<double> values) {
  if (values.size() < 2) return 0;
  std::ranges::sort(values);
  const std::size_t quarter = values.size() / 4;
  const double distance = values[values.size() - 1 - quarter] - values[quarter];
  return 100 * distance / 2 / median(values);
}

std::string tune_text(const TuneReport& report) {
  std::string text;
  add_heading(text, report);
  add_groups(text, report);
  text += '\n';
  if (report.sweep && report.sweep->points > 0) add_sweep(text, *report.sweep);
  add_choice(text, report);
  return text;
}

Json tune_json(const TuneReport& report) {
  Json choice = settings_json(report.choice);
  choice["fps"] = report.fps;
  choice["gain"] = report.gain;
  Json search{{"choice", settings_json(report.search.choice)},
              {"fps", report.search.fps},
              {"gain", report.search.gain.median},
              {"gain_low", report.search.gain.low},
              {"gain_high", report.search.gain.high}};
  Json groups = Json::array();
  for (const TuningGroup& group : report.search.groups) groups.push_back(group_json(group));
  Json json{{"framelane", program_version()},
            {"device", report.device},
            {"backend", backend_name(report.backend)},
            {"copy_engines", report.traits.copy_engines},
            {"cores", report.traits.cores},
            {"input", report.input},
            {"format", format_json(report.format)},
            {"chain", report.chain},
            {"run", {{"frames", report.frames}, {"warm_up_frames", report.warm_up}}},
            {"runs", report.runs},
            {"budget_s", report.budget_s},
            {"elapsed_s", report.elapsed_s},
            {"out_of_budget", report.search.out_of_budget},
            {"defaults", settings_json(report.defaults)},
            {"choice", choice},
            {"search", search},
            {"groups", groups},
            {"sweep", nullptr},
            {"stored", report.stored.empty() ? Json(nullptr) : Json(report.stored)},
            {"versions", versions_json()}};
  if (report.sweep && report.sweep->points > 0) json["sweep"] = sweep_json(*report.sweep);
  return json;
}

}  // namespace framelane
