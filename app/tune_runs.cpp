#include "app/tune_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "app/signals.h"
#include "kernels/errors.h"
#include "pipeline/decoder.h"

namespace framelane {
namespace {

using std::chrono::milliseconds;

/** The first runs of all tell how fast this is about. The very first also warms up caches and clocks: the faster one
 *  counts. */
constexpr int kPilots = 2;
constexpr double kPilotS = 0.7;
constexpr std::size_t kPilotFrames = 12;

/** What a run measures: a hundredth of the budget, within these, but no fewer frames than that. */
constexpr double kShortestRunS = 0.2;
constexpr double kLongestRunS = 1.0;
constexpr std::size_t kLeastFrames = 24;
constexpr std::size_t kMostFrames = 20'000;
/** Of short inputs: fewer than this say nothing, and these are left for the decoder to go on with. */
constexpr std::size_t kTooFewFrames = 12;
constexpr std::size_t kSpareFrames = 16;
/** Short inputs run so many times for one figure, at most. */
constexpr std::size_t kMostRepeats = 8;
/** Settings that take so many times the expected time are known to be slow before they are through. */
constexpr double kPatience = 3;
constexpr std::size_t kLeastFramesOfSlow = 8;

/** How one run went. */
struct RunOutcome {
  std::vector<FrameRecord> records;
  bool input_ended = false;  ///< before it was told to stop
};

/** Until `frames` have left, or, once `patience_s` are over, `least`. The decoder goes on meanwhile: frames that leave
 *  while it has nothing to do any more would leave faster. */
RunOutcome run_for(Pipeline& pipeline, std::size_t frames, double patience_s, std::size_t least) {
  const TimePoint begin = Clock::now();
  bool told_to_stop = false;
  pipeline.start();
  while (!pipeline.wait_for(milliseconds(2))) {
    const auto left = static_cast<std::size_t>(pipeline.recorder().frames());
    const bool too_slow = seconds(Clock::now() - begin) > patience_s && left >= least;
    if (told_to_stop || (left < frames && !too_slow && stop_signal() == 0)) continue;
    pipeline.request_stop();
    told_to_stop = true;
  }
  pipeline.finish();
  return {pipeline.recorder().all(), !told_to_stop};
}

}  // namespace

MeasuredRuns::MeasuredRuns(const TuneOptions& options) {
  base_.input = options.input;
  base_.output.url = "null";
  base_.filters = parse_filter_chain(options.chain);
  base_.device = create_device(options.device);
}

/** Between the departures of the window's first and last frame. */
MeasuredRuns::Pace MeasuredRuns::steady_pace(const std::vector<FrameRecord>& records, const MeasuredWindow& window) {
  const std::size_t end = std::min(window.end, records.size());
  if (end < window.warm_up + 2) return {};
  return {static_cast<double>(end - 1 - window.warm_up),
          seconds(records[end - 1].left() - records[window.warm_up].left())};
}

void MeasuredRuns::run_pilots(double budget_s) {
  double fps = 0;
  std::size_t available = 0;
  for (int pilot = 0; pilot < kPilots; ++pilot) {
    Pipeline pipeline(base_);
    const int threads = base_.input.decoder_threads;
    defaults_ = {base_.mode, pipeline.status().slots, threads > 0 ? threads : default_decoder_threads(),
                 pipeline.uses_cuda_graphs()};
    format_ = pipeline.input_format();
    const RunOutcome outcome = run_for(pipeline, kMostFrames, kPilotS, kPilotFrames);
    if (stop_signal() != 0) return;
    const std::size_t left = outcome.records.size();
    const auto told = static_cast<std::size_t>(pipeline.input().frame_count().value_or(0));
    available = outcome.input_ended ? left : told;
    fps = std::max(fps, steady_pace(outcome.records, {left / 2, left}).fps());
  }
  choose_window(fps, available, budget_s);
}

void MeasuredRuns::choose_window(double fps, std::size_t available, double budget_s) {
  const double run_s = std::clamp(budget_s / 100, kShortestRunS, kLongestRunS);
  const auto wanted = std::clamp(static_cast<std::size_t>(fps * run_s), kLeastFrames, kMostFrames);
  // What the decoder's threads hold when the run begins comes out at once.
  window_.warm_up = static_cast<std::size_t>(default_decoder_threads()) * 3 / 2 + 4;
  window_.end = window_.warm_up + wanted;
  if (available > 0) {
    const std::size_t end = available - std::min(kSpareFrames, available / 8);
    window_.warm_up = std::min(window_.warm_up, end / 3);
    window_.end = std::min(window_.warm_up + wanted, end);
  }
  if (fps <= 0 || window_.end < window_.warm_up + kTooFewFrames) {
    throw InputError(fmt::format("{}: {} frames are too few to measure: tune needs a second of video or more",
                                 base_.input.url, available));
  }
  const std::size_t counted = window_.end - window_.warm_up;
  repeats_ = std::min((wanted + counted - 1) / counted, kMostRepeats);
  expected_s_ = static_cast<double>(window_.end) / fps;
}

MeasuredRuns::Pace MeasuredRuns::run_once(const RunSettings& settings) {
  PipelineOptions options = base_;
  options.mode = settings.mode;
  options.slots = settings.slots;
  options.input.decoder_threads = settings.decoder_threads;
  options.cuda_graphs = settings.cuda_graphs ? CudaGraphs::kOn : CudaGraphs::kOff;
  Pipeline pipeline(std::move(options));
  const RunOutcome outcome =
      run_for(pipeline, window_.end, kPatience * expected_s_, window_.warm_up + kLeastFramesOfSlow);
  ++count_;
  const Pace pace = steady_pace(outcome.records, window_);
  if (pace.span_s <= 0 && stop_signal() == 0) {
    throw InputError(fmt::format("{}: ends after {} frames", base_.input.url, outcome.records.size()));
  }
  return pace;
}

double MeasuredRuns::fps(const RunSettings& settings) {
  Pace sum;
  for (std::size_t repeat = 0; repeat < repeats_ && stop_signal() == 0; ++repeat) {
    const Pace pace = run_once(settings);
    sum.frames += pace.frames;
    sum.span_s += pace.span_s;
  }
  return stop_signal() == 0 ? sum.fps() : 0;
}

}  // namespace framelane
