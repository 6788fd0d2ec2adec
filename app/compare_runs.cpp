#include "app/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <utility>

#include "app/pipeline_stop.h"
#include "pipeline/decoder.h"
#include "pipeline/transport.h"

namespace framelane {
namespace {

/** What a run of the fastest mode takes, about. */
constexpr double kEndToEndRun_ms = 700;
constexpr double kTransportRun_ms = 300;
/** A trial this long tells the frame time well enough to plan by it. */
constexpr double kTransportTrial_ms = 60;
/** Encoders that look ahead (x264's veryfast: 10 frames and some a thread) take their first frames at once. */
constexpr std::int64_t kEncoderLookahead = 40;
/** CPU time over less than this is rather the kernel's bookkeeping than ours. */
constexpr double kTellsCpu_ms = 90;
/** Frames kept for transport: more than a CPU's cache holds, and no more memory than this. */
constexpr int kKeptFrames = 48;
constexpr std::size_t kKeptBytes = std::size_t{512} << 20;
/** Of all threads, user and system. */
double process_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/** The fastest as a rule: runs are planned by it. */
Mode most_overlapping(const std::vector<Mode>& modes) { return *std::ranges::max_element(modes); }

bool stopped(const CompareSetup& setup) { return setup.stop && setup.stop(); }

void tell(const CompareSetup& setup, std::string what) {
  if (setup.progress) setup.progress(std::move(what));
}

/** Makes one run; nothing where it was stopped. */
using RunMode = std::function<std::optional<ModeRound>(Mode mode, const std::string& label)>;

void run_rounds(CompareBlock& block, const CompareSetup& setup, const char* name, const RunMode& run_mode) {
  for (int round = 0; round < setup.rounds; ++round) {
    std::vector<ModeRound> runs;
    for (const Mode mode : turned(setup.modes, round)) {
      std::optional<ModeRound> run =
          run_mode(mode, fmt::format("{}: round {} of {}, {}", name, round + 1, setup.rounds, mode_name(mode)));
      if (!run) return;
      runs.push_back(std::move(*run));
    }
    std::ranges::move(runs, std::back_inserter(block.runs));
    ++block.rounds;
  }
}

/** A pipeline's run, and the CPU's clock at each frame's encoding. */
class PipelineRun {
 public:
  PipelineRun(const CompareSetup& setup, Mode mode, std::optional<std::int64_t> frame_limit)
      : setup_(setup), frame_limit_(frame_limit), pipeline_(options(setup, mode, frame_limit), hooks()) {
    stamps_s_.reserve(kMostFrames);
  }

  /** Runs to the end of the input, the limit, a stop, or, with `trial_warm_up` (frames), until the frames after these
   *  have told enough. Returns all records. */
  ModeRound run(const std::string& label, std::optional<std::int64_t> trial_warm_up = {});
  /** While `plan`'s counted frames passed. */
  double cpu_s(const FramePlan& plan) const;
  /** True where there were fewer frames than the limit, and nobody ended the run. */
  bool reached_end() const {
    return !stop_.asked() && !(frame_limit_ && pipeline_.status().frames_in == *frame_limit_);
  }
  const Pipeline& pipeline() const { return pipeline_; }

 private:
  static PipelineOptions options(const CompareSetup& setup, Mode mode, std::optional<std::int64_t> frame_limit) {
    PipelineOptions options = setup.pipeline;
    options.mode = mode;
    options.frame_limit = frame_limit;
    return options;
  }
  PipelineHooks hooks() {
    PipelineHooks hooks;
    hooks.decorate = [this](const FinishedFrame&) { stamps_s_.push_back(process_cpu_s()); };
    return hooks;
  }
  bool knows_enough(std::int64_t warm_up);

  struct Mark {
    TimePoint time;
    std::int64_t frames;
  };

  const CompareSetup& setup_;
  const std::optional<std::int64_t> frame_limit_;
  std::vector<double> stamps_s_;
  double begin_s_ = 0;
  std::optional<Mark> warm_;  // of a trial: when its warm-up was over
  Pipeline pipeline_;
  PipelineStop stop_{pipeline_};
};

ModeRound PipelineRun::run(const std::string& label, std::optional<std::int64_t> trial_warm_up) {
  begin_s_ = process_cpu_s();
  pipeline_.start();
  tell(setup_, label);
  while (!pipeline_.wait_for(std::chrono::milliseconds(50))) {
    if (stopped(setup_) || (trial_warm_up && knows_enough(*trial_warm_up))) stop_.ask();
    stop_.follow_up();
    tell(setup_, fmt::format("{}, {} frames", label, pipeline_.status().frames_out));
  }
  pipeline_.finish();
  ModeRound run;
  run.mode = pipeline_.status().mode;
  run.records = pipeline_.recorder().all();
  return run;
}

bool PipelineRun::knows_enough(std::int64_t warm_up) {
  const std::int64_t frames = pipeline_.status().frames_out;
  if (!warm_ && frames > warm_up) warm_ = {Clock::now(), frames};
  return warm_ && frames - warm_->frames >= kLeastFrames && milliseconds(Clock::now() - warm_->time) >= kEndToEndRun_ms;
}

double PipelineRun::cpu_s(const FramePlan& plan) const {
  const double begin = plan.warm_up == 0 ? begin_s_ : stamps_s_.at(static_cast<std::size_t>(plan.warm_up - 1));
  return stamps_s_.at(static_cast<std::size_t>(plan.warm_up + plan.counted - 1)) - begin;
}

/** Decoded one a thread before the first comes out; then the ring fills; and an encoder takes some in before it works
 *  at the speed of its output. */
std::int64_t warm_up_frames(const CompareSetup& setup, int slots) {
  const int asked = setup.pipeline.input.decoder_threads;
  const bool encodes = setup.pipeline.output.url != "null";
  return (asked > 0 ? asked : default_decoder_threads()) + slots + (encodes ? kEncoderLookahead : 0);
}

class EndToEndRuns {
 public:
  explicit EndToEndRuns(const CompareSetup& setup) : setup_(setup) {}

  EndToEnd run() {
    if (!try_out()) return std::move(result_);
    run_rounds(result_, setup_, "end to end",
               [this](Mode mode, const std::string& label) { return run_mode(mode, label); });
    result_.too_short = result_.plan.counted < kSteadyFrames || result_.plan.tail == 0;
    return std::move(result_);
  }

 private:
  bool try_out();
  std::optional<ModeRound> run_mode(Mode mode, const std::string& label);
  void learn_formats(const Pipeline& pipeline);

  const CompareSetup& setup_;
  EndToEnd result_;
};

/** Sets the plan; false when it was stopped. */
bool EndToEndRuns::try_out() {
  PipelineRun trial(setup_, most_overlapping(setup_.modes), {});
  learn_formats(trial.pipeline());
  FramePlan& plan = result_.plan;
  plan = {warm_up_frames(setup_, result_.slots), kMostFrames, result_.slots};
  ModeRound run = trial.run("end to end: trial run", plan.warm_up);
  if (stopped(setup_)) return false;
  const auto available = static_cast<std::int64_t>(run.records.size());
  apply(run, fitted(plan, available));
  plan.counted = setup_.frames.value_or(frames_for(kEndToEndRun_ms, frame_ms(run)));
  if (trial.reached_end()) plan = fitted(plan, available);
  return true;
}

void EndToEndRuns::learn_formats(const Pipeline& pipeline) {
  result_.slots = pipeline.status().slots;
  result_.input_format = pipeline.input_format();
  result_.output_format = pipeline.output_format();
  result_.output_description = pipeline.output_description();
}

std::optional<ModeRound> EndToEndRuns::run_mode(Mode mode, const std::string& label) {
  PipelineRun pipeline_run(setup_, mode, result_.plan.total());
  ModeRound run = pipeline_run.run(label);
  if (stopped(setup_)) return {};
  result_.plan = fitted(result_.plan, static_cast<std::int64_t>(run.records.size()));  // --frames: more than there are
  apply(run, result_.plan);
  run.cpu_s = pipeline_run.cpu_s(result_.plan);
  if (mode != Mode::kSync) result_.cuda_graphs = pipeline_run.pipeline().uses_cuda_graphs();
  return run;
}

/** CPU time that a frame takes, from how it grows while a run goes on: transport's begin and end are not ours to see.
 */
class CpuSlope {
 public:
  /** Often, while the run goes on. */
  void sample() {
    last_ = {Clock::now(), process_cpu_s()};
    if (!first_) first_ = last_;
  }
  /** In `window`; 0 where the run was too short to tell. */
  double cpu_s(const Span& window) const {
    if (!first_ || milliseconds(last_.time - first_->time) < kTellsCpu_ms) return 0;
    return (last_.cpu_s - first_->cpu_s) / seconds(last_.time - first_->time) * seconds(window.end - window.begin);
  }

 private:
  struct Sample {
    TimePoint time;
    double cpu_s = 0;
  };
  std::optional<Sample> first_;
  Sample last_;
};

class TransportRuns {
 public:
  TransportRuns(const CompareSetup& setup, const FrameFormat& format)
      : setup_(setup), kept_(KeptFrames::decoded(setup.pipeline.device, setup.pipeline.input, kept_count(format))) {}

  CompareBlock run() {
    if (!try_out()) return std::move(result_);
    run_rounds(result_, setup_, "transport",
               [this](Mode mode, const std::string& label) { return run_mode(mode, label); });
    return std::move(result_);
  }

 private:
  /** Each is kept twice, pinned and pageable. */
  static int kept_count(const FrameFormat& format) {
    return static_cast<int>(std::clamp<std::size_t>(kKeptBytes / (2 * frame_layout(format).bytes), 2, kKeptFrames));
  }
  bool try_out();
  std::optional<ModeRound> run_mode(Mode mode, const std::string& label);

  const CompareSetup& setup_;
  const KeptFrames kept_;
  CompareBlock result_;
};

/** Trials that grow until one is long enough; false when it was stopped. */
bool TransportRuns::try_out() {
  FramePlan& plan = result_.plan;
  const int slots = setup_.pipeline.slots > 0 ? setup_.pipeline.slots : setup_.pipeline.device->default_slots();
  plan = {slots, kLeastFrames, slots};
  for (;;) {
    const std::optional<ModeRound> run = run_mode(most_overlapping(setup_.modes), "transport: trial run");
    if (!run) return false;
    const bool long_enough = counted_window(*run).ms() >= kTransportTrial_ms || plan.counted == kMostFrames;
    plan.counted = frames_for(long_enough ? kTransportRun_ms : 2 * kTransportTrial_ms, frame_ms(*run));
    if (long_enough) break;
  }
  if (setup_.frames) plan.counted = std::max(*setup_.frames, kSteadyFrames);
  return true;
}

std::optional<ModeRound> TransportRuns::run_mode(Mode mode, const std::string& label) {
  TransportOptions options;
  options.device = setup_.pipeline.device;
  options.filters = setup_.pipeline.filters;
  options.mode = mode;
  options.slots = setup_.pipeline.slots;
  options.cuda_graphs = setup_.pipeline.cuda_graphs;
  options.frames = result_.plan.total();
  CpuSlope cpu;
  tell(setup_, label);
  TransportResult transport = run_transport(kept_, options, [&] {
    cpu.sample();
    return stopped(setup_);
  });
  if (stopped(setup_)) return {};
  result_.slots = transport.slots;
  if (mode != Mode::kSync) result_.cuda_graphs = transport.cuda_graphs;
  ModeRound run{mode, std::move(transport.records)};
  apply(run, result_.plan);
  run.cpu_s = cpu.cpu_s(counted_window(run));
  // What stands for decoding here only hands out references.
  for (FrameRecord& record : run.records) record[Stage::kDecode] = record[Stage::kPreprocess] = Span{};
  return run;
}

}  // namespace

EndToEnd compare_end_to_end(const CompareSetup& setup) { return EndToEndRuns(setup).run(); }

CompareBlock compare_transport(const CompareSetup& setup, const FrameFormat& format) {
  return TransportRuns(setup, format).run();
}

}  // namespace framelane
