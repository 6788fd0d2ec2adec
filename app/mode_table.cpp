#include "app/mode_table.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include "pipeline/cpu_cores.h"
#include "pipeline/median.h"

namespace framelane {
namespace {

constexpr std::size_t index_of(Stage stage) { return static_cast<std::size_t>(stage); }

std::span<const FrameRecord> counted_records(const ModeRound& round) {
  if (round.warm_up_frames + round.tail_frames >= round.records.size()) {
    throw std::invalid_argument("no frame is counted");
  }
  return std::span(round.records)
      .subspan(round.warm_up_frames, round.records.size() - round.warm_up_frames - round.tail_frames);
}

/** Share of `window` in which at least one frame, counted or not, was in `stage`. */
double busy_share(std::span<const FrameRecord> records, Stage stage, const Span& window) {
  std::vector<Span> within;
  for (const FrameRecord& record : records) {
    if (!record[stage].happened()) continue;
    within.push_back({std::max(record[stage].begin, window.begin), std::min(record[stage].end, window.end)});
  }
  return milliseconds(covered_by(std::move(within))) / window.ms();
}

/** Of one run; `records`, and what needs other runs, is still empty. */
ModeFigures figures_of(const ModeRound& round) {
  const std::span<const FrameRecord> counted = counted_records(round);
  const Span window = counted_window(round);
  const auto frames = static_cast<double>(counted.size());
  ModeFigures figures;
  figures.mode = round.mode;
  figures.frame_ms = frame_ms(round);
  figures.cpu_ms = 1000 * round.cpu_s / frames;
  for (const FrameRecord& record : counted) figures.submit_ms += record.submit.ms() / frames;
  for (const Stage stage : kStages) {
    double& stage_ms = figures.stage_ms[index_of(stage)];
    for (const FrameRecord& record : counted) stage_ms += record[stage].ms() / frames;
    figures.busy[index_of(stage)] = busy_share(round.records, stage, window);
  }
  figures.overlap = std::accumulate(figures.stage_ms.begin(), figures.stage_ms.end(), 0.0) / figures.frame_ms;
  return figures;
}

using Runs = std::vector<ModeFigures>;

double median_of(const Runs& runs, const std::function<double(const ModeFigures&)>& figure) {
  std::vector<double> values;
  for (const ModeFigures& run : runs) values.push_back(figure(run));
  return median(std::move(values));
}

ModeFigures median_figures(const Runs& runs) {
  ModeFigures figures;
  figures.mode = runs.front().mode;
  figures.frame_ms = median_of(runs, &ModeFigures::frame_ms);
  figures.fps = 1000 / figures.frame_ms;
  figures.cpu_ms = median_of(runs, &ModeFigures::cpu_ms);
  figures.submit_ms = median_of(runs, &ModeFigures::submit_ms);
  figures.overlap = median_of(runs, &ModeFigures::overlap);
  for (std::size_t i = 0; i < kStageCount; ++i) {
    figures.stage_ms[i] = median_of(runs, [i](const ModeFigures& run) { return run.stage_ms[i]; });
    figures.busy[i] = median_of(runs, [i](const ModeFigures& run) { return run.busy[i]; });
  }
  return figures;
}

/** Round by round, so that what slows the machine for a while slows both. */
void set_speedup(ModeFigures& figures, const Runs& runs, const Runs& base) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(runs.size(), base.size()); ++round) {
    ratios.push_back(base[round].frame_ms / runs[round].frame_ms);
  }
  figures.speedup_min = std::ranges::min(ratios);
  figures.speedup_max = std::ranges::max(ratios);
  figures.speedup = median(std::move(ratios));
}

bool is_engine(Stage stage) { return stage == Stage::kH2d || stage == Stage::kKernels || stage == Stage::kD2h; }

double alone_ms(const ModeTable& table, Stage stage) {
  if (!is_engine(stage)) return table.fastest().occupied_ms(stage);
  double least = std::numeric_limits<double>::max();
  for (const ModeFigures& mode : table.modes) least = std::min(least, mode.occupied_ms(stage));
  return least;
}

/** The decoder's thread does both. */
double decoder_ms(const ModeTable& table) {
  return table.alone_ms[index_of(Stage::kDecode)] + table.alone_ms[index_of(Stage::kPreprocess)];
}

const ModeFigures* sync_figures(const ModeTable& table) {
  const auto sync = std::ranges::find(table.modes, Mode::kSync, &ModeFigures::mode);
  return sync == table.modes.end() ? nullptr : &*sync;
}

/** From alone_ms. */
void set_slowest(ModeTable& table) {
  table.ideal_ms = decoder_ms(table);
  table.bound_by = table.alone_ms[index_of(Stage::kPreprocess)] > table.alone_ms[index_of(Stage::kDecode)]
                       ? Stage::kPreprocess
                       : Stage::kDecode;
  for (const Stage stage : {Stage::kH2d, Stage::kKernels, Stage::kD2h, Stage::kEncode}) {
    if (table.alone_ms[index_of(stage)] <= table.ideal_ms) continue;
    table.ideal_ms = table.alone_ms[index_of(stage)];
    table.bound_by = stage;
  }
}

void set_bounds(ModeTable& table) {
  for (const Stage stage : kStages) table.alone_ms[index_of(stage)] = alone_ms(table, stage);
  const ModeFigures* const sync = sync_figures(table);
  const auto& serial = sync == nullptr ? table.alone_ms : sync->stage_ms;
  table.serial_ms = std::accumulate(serial.begin(), serial.end(), 0.0);
  set_slowest(table);
  table.cores = cpu_cores();
  table.cores_ms = table.fastest().cpu_ms / table.cores;
}

}  // namespace

Span counted_window(const ModeRound& round) {
  const std::span<const FrameRecord> counted = counted_records(round);
  const TimePoint begin =
      round.warm_up_frames == 0 ? counted.front().begin() : round.records[round.warm_up_frames - 1].left();
  return {begin, counted.back().left()};
}

double frame_ms(const ModeRound& round) {
  return counted_window(round).ms() / static_cast<double>(counted_records(round).size());
}

const ModeFigures& ModeTable::fastest() const { return *std::ranges::min_element(modes, {}, &ModeFigures::frame_ms); }

ModeTable tabulate(const std::vector<ModeRound>& rounds) {
  std::vector<Runs> runs;  // of each mode
  ModeTable table;
  for (const ModeRound& round : rounds) {
    auto of_mode = std::ranges::find(runs, round.mode, [](const Runs& mode_runs) { return mode_runs.front().mode; });
    if (of_mode == runs.end()) of_mode = runs.insert(runs.end(), Runs{});
    of_mode->push_back(figures_of(round));
  }
  if (runs.empty()) throw std::invalid_argument("no runs to tabulate");
  const auto sync = std::ranges::find(runs, Mode::kSync, [](const Runs& mode_runs) { return mode_runs.front().mode; });
  const Runs& base = sync == runs.end() ? runs.front() : *sync;
  for (const Runs& mode_runs : runs) {
    ModeFigures& figures = table.modes.emplace_back(median_figures(mode_runs));
    set_speedup(figures, mode_runs, base);
    const auto last = std::ranges::find(rounds.rbegin(), rounds.rend(), figures.mode, &ModeRound::mode);
    const auto counted = counted_records(*last);
    figures.records.assign(counted.begin(), counted.end());
  }
  set_bounds(table);
  return table;
}

void share_cores(ModeTable& table, const CoresAlone& known) {
  table.shares_cores = true;
  const auto in_company_ms = std::exchange(table.alone_ms, {});  // waits for cores only ever lengthen it
  table.alone_ms[index_of(Stage::kKernels)] = std::min(known.kernels_ms, in_company_ms[index_of(Stage::kKernels)]);
  if (const ModeFigures* const sync = sync_figures(table); sync != nullptr && known.sync_decodes_alone) {
    for (const Stage stage : {Stage::kDecode, Stage::kPreprocess}) {
      table.alone_ms[index_of(stage)] = std::min(sync->stage(stage), in_company_ms[index_of(stage)]);
    }
  }
  set_slowest(table);
  if (table.ideal_ms == 0) table.bound_by = Stage::kKernels;
  if (table.cores_ms > table.ideal_ms) table.ideal_ms = 0;
}

}  // namespace framelane
