#include "app/bench_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "app/frame_plan.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{128} << 20;
/** Each kept frame is there twice, pinned and pageable. */
constexpr std::size_t kMostKeptBytes = std::size_t{512} << 20;
constexpr std::size_t kMostKeptFrames = 128;

/** What a run takes, about, and a trial that tells the frame time well enough to plan by it. */
constexpr double kRun_ms = 300;
constexpr double kTrial_ms = 60;
constexpr std::int64_t kSyncWarmUp = 2;

/** The system and other programs keep the rest. */
constexpr double kShareOfMemory = 0.75;

constexpr double kGigabyte = 1e9;

/** All modes at one depth of the ring. `setup` and `kept` outlive it. */
class RingRuns {
 public:
  RingRuns(const BenchSetup& setup, const KeptFrames& kept, int slots)
      : setup_(setup), kept_(kept), slots_(slots == 0 ? setup.device->default_slots() : slots) {
    for (const Mode mode : setup.modes) plans_.push_back({mode, setup.cuda_graphs, {}, {}});
  }

  /** These return false when stopped. */
  bool plan();
  bool run_round(int round);

  BenchCase result() const;

 private:
  struct ModePlan {
    Mode mode;
    CudaGraphs graphs;
    FramePlan frames;
    std::vector<ModeRound> runs;
  };
  bool plan_mode(ModePlan& plan);
  FramePlan frame_plan(Mode mode, std::int64_t counted) const;
  std::optional<ModeRound> run(ModePlan& plan);
  void tell(const ModePlan& plan, const std::string& round) const;

  const BenchSetup& setup_;
  const KeptFrames& kept_;
  const int slots_;
  std::vector<ModePlan> plans_;
};

/** The ring has been through twice when counting begins, and is still full when it ends. */
FramePlan RingRuns::frame_plan(Mode mode, std::int64_t counted) const {
  if (mode == Mode::kSync) return {kSyncWarmUp, counted, 0};
  return {2 * slots_, counted, slots_};
}

std::optional<ModeRound> RingRuns::run(ModePlan& plan) {
  TransportOptions options;
  options.device = setup_.device;
  options.filters = setup_.filters;
  options.mode = plan.mode;
  options.slots = slots_;
  options.cuda_graphs = plan.graphs;
  options.sync_memory = setup_.sync_memory;
  options.frames = plan.frames.total();
  options.work = setup_.work;
  TransportResult result = run_transport(kept_, options, setup_.stop);
  if (setup_.stop && setup_.stop()) return std::nullopt;
  plan.graphs = result.cuda_graphs ? CudaGraphs::kOn : CudaGraphs::kOff;
  ModeRound round{plan.mode, std::move(result.records)};
  apply(round, plan.frames);
  return round;
}

void RingRuns::tell(const ModePlan& plan, const std::string& round) const {
  if (!setup_.progress) return;
  setup_.progress(fmt::format("{}: {} slots, {}, {}", describe(kept_.format()), slots_, round, mode_name(plan.mode)));
}

bool RingRuns::plan() {
  return std::ranges::all_of(plans_, [this](ModePlan& each) { return plan_mode(each); });
}

bool RingRuns::plan_mode(ModePlan& plan) {
  tell(plan, "trial");
  plan.frames = frame_plan(plan.mode, kLeastFrames);
  std::optional<ModeRound> trial = run(plan);
  if (!trial) return false;
  double ms = frame_ms(*trial);
  if (ms * kLeastFrames < kTrial_ms) {
    plan.frames = frame_plan(plan.mode, frames_for(kTrial_ms, ms));
    trial = run(plan);
    if (!trial) return false;
    ms = frame_ms(*trial);
  }
  plan.frames = frame_plan(plan.mode, setup_.frames.value_or(frames_for(kRun_ms, ms)));
  return true;
}

bool RingRuns::run_round(int round) {
  for (const Mode mode : turned(setup_.modes, round)) {
    ModePlan& plan = *std::ranges::find(plans_, mode, &ModePlan::mode);
    tell(plan, fmt::format("round {} of {}", round + 1, setup_.rounds));
    std::optional<ModeRound> done = run(plan);
    if (!done) return false;
    plan.runs.push_back(std::move(*done));
  }
  return true;
}

BenchCase RingRuns::result() const {
  BenchCase result;
  result.slots = slots_;
  std::vector<ModeRound> all;
  for (const ModePlan& plan : plans_) {
    std::vector<double> times_ms;
    for (const ModeRound& run : plan.runs) times_ms.push_back(frame_ms(run));
    result.modes.push_back(
        {measured_time(std::move(times_ms)), plan.mode != Mode::kSync && plan.graphs == CudaGraphs::kOn});
    all.insert(all.end(), plan.runs.begin(), plan.runs.end());
  }
  result.table = tabulate(all);
  return result;
}

}  // namespace

int kept_frame_count(const FrameFormat& format, int slots) {
  const std::size_t bytes = frame_layout(format).bytes;
  const std::size_t fewest = static_cast<std::size_t>(slots) + 2;
  const std::size_t wanted = std::clamp(kCacheBytes / bytes, fewest, std::max(fewest, kMostKeptFrames));
  return static_cast<int>(std::max<std::size_t>(2, std::min(wanted, kMostKeptBytes / bytes)));
}

std::optional<std::vector<BenchCase>> bench_cases(const BenchSetup& setup, const KeptFrames& kept,
                                                  const std::function<void()>& before_round) {
  std::vector<RingRuns> rings;
  for (const int slots : setup.slots) rings.emplace_back(setup, kept, slots);
  if (!std::ranges::all_of(rings, &RingRuns::plan)) return std::nullopt;
  for (int round = 0; round < setup.rounds; ++round) {
    if (before_round) before_round();
    if (!std::ranges::all_of(rings, [round](RingRuns& ring) { return ring.run_round(round); })) return std::nullopt;
  }
  std::vector<BenchCase> cases;
  for (const RingRuns& ring : rings) cases.push_back(ring.result());
  return cases;
}

namespace {

int most_slots(const BenchSetup& setup) {
  const int most = std::ranges::max(setup.slots);
  return most == 0 ? setup.device->default_slots() : most;
}

}  // namespace

std::optional<BenchFrames> bench_frames(const BenchSetup& setup, const FrameFormat& format) {
  if (setup.progress) setup.progress(fmt::format("{}: ceilings", describe(format)));
  const KeptFrames kept = KeptFrames::synthetic(setup.device, format, kept_frame_count(format, most_slots(setup)));
  CeilingMeter ceilings(*setup.device, setup.filters, format);
  auto cases = bench_cases(setup, kept, [&] { ceilings.add_round(); });
  if (!cases) return std::nullopt;
  return BenchFrames{format, ceilings.result(), std::move(*cases)};
}

void check_host_memory(const std::string& what, double bytes) {
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= kShareOfMemory * there) return;
  throw UsageError(fmt::format("{}: takes {:.1f} GB of memory, this machine has {:.1f}", what, bytes / kGigabyte,
                               there / kGigabyte));
}

double host_bytes_needed(const BenchSetup& setup, const FilterChain& chain) {
  const auto slots = static_cast<std::size_t>(most_slots(setup));
  const auto kept = static_cast<std::size_t>(kept_frame_count(chain.input_format(), static_cast<int>(slots)));
  std::size_t bytes = 2 * kept * frame_layout(chain.input_format()).bytes;
  bytes += (slots + 1) * frame_layout(chain.output_format()).bytes;
  bytes += CeilingMeter::host_bytes(*setup.device, chain);
  if (setup.device->shares_host_memory()) {
    bytes += slots * (2 * chain.intermediate_bytes() + chain.scratch_bytes());
    for (const std::size_t state : chain.state_bytes()) bytes += state;
  }
  return static_cast<double>(bytes);
}

}  // namespace framelane
