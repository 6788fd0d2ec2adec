#include "app/ceilings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <utility>

#include "pipeline/cpu_cores.h"
#include "pipeline/median.h"
#include "pipeline/plan_passes.h"
#include "pipeline/transport.h"

namespace framelane {
namespace {

/** A batch is long against the events' resolution and the scheduler's tick; a round is several of them where one cannot
 *  be long enough, because the driver's queue holds about 1000 launches. */
constexpr double kBatch_ms = 10;
constexpr double kRound_ms = 20;
constexpr int kMostTimes = 250;
/** Streams of a GPU are held back while a batch is queued: small copies would else wait for their launches. */
constexpr std::chrono::microseconds kHoldPerLaunch{8};

/** Memory that the blocks of one direction take: more than a GPU's L2 cache. */
constexpr std::size_t kBlockBytes = std::size_t{128} << 20;
constexpr std::size_t kFewestBlocks = 2;
constexpr std::size_t kMostBlocks = 16;

/** A step of the frames' clock, for filters that are on at some times only. */
constexpr double kFrame_s = 0.04;

std::size_t block_count(std::size_t bytes, std::size_t lanes) {
  return std::clamp(kBlockBytes / lanes / bytes, kFewestBlocks, kMostBlocks);
}

std::vector<MemoryBlock> allocate_blocks(std::size_t count, std::size_t bytes,
                                         const std::function<MemoryBlock(std::size_t)>& allocate) {
  std::vector<MemoryBlock> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(allocate(bytes));
  return blocks;
}

std::byte* block(const std::vector<MemoryBlock>& blocks, std::int64_t pass) {
  return blocks[static_cast<std::size_t>(pass) % blocks.size()].get();
}

}  // namespace

MeasuredTime measured_time(std::vector<double> times_ms) {
  if (times_ms.empty()) return {};
  std::ranges::sort(times_ms);
  return {median_of_sorted(times_ms), times_ms.front(), times_ms.back()};
}

RepeatedWork::RepeatedWork(std::function<double(int times)> batch) : batch_(std::move(batch)) { round(); }

void RepeatedWork::add_round() { rounds_ms_.push_back(round()); }

double RepeatedWork::round() {
  double total_ms = 0;
  int done = 0;
  while (total_ms < kRound_ms) {
    const double ms = batch_(times_);
    if (ms < kBatch_ms && times_ < kMostTimes) {
      times_ = std::min(2 * times_, kMostTimes);
      continue;
    }
    total_ms += ms;
    done += times_;
  }
  return total_ms / done;
}

CopyMeter::Lane CopyMeter::make_lane(Device& device, std::size_t bytes) {
  Lane lane;
  lane.stream = device.create_stream(StreamRole::kOneSlot);
  lane.end = device.create_timed_event();
  const std::size_t count = block_count(bytes, 1);
  lane.blocks.host =
      allocate_blocks(count, bytes, [&](std::size_t n) { return device.allocate_host(n, HostMemory::kPinned); });
  lane.blocks.device = allocate_blocks(count, bytes, [&](std::size_t n) { return device.allocate(n); });
  lane.bytes = bytes;
  return lane;
}

CopyMeter::CopyMeter(Device& device, const CopyBytes& bytes)
    : up_lane_(make_lane(device, bytes.up)),
      down_lane_(make_lane(device, bytes.down)),
      begin_(device.create_timed_event()),
      up_([this](int times) { return time(times, true, false); }),
      down_([this](int times) { return time(times, false, true); }),
      both_([this](int times) { return time(times, true, true); }) {}

CopyMeter::~CopyMeter() {
  drain(*up_lane_.stream);
  drain(*down_lane_.stream);
}

void CopyMeter::add_round() {
  up_.add_round();
  down_.add_round();
  both_.add_round();
}

void CopyMeter::copy_up(int pass) {
  up_lane_.stream->copy_to_device(block(up_lane_.blocks.device, pass), block(up_lane_.blocks.host, pass),
                                  up_lane_.bytes);
}

void CopyMeter::copy_down(int pass) {
  down_lane_.stream->copy_to_host(block(down_lane_.blocks.host, pass), block(down_lane_.blocks.device, pass),
                                  down_lane_.bytes);
}

/** From the moment at which the streams are let go to the end of the later one. */
double CopyMeter::time(int times, bool up, bool down) {
  const int launches = times * (static_cast<int>(up) + static_cast<int>(down));
  up_lane_.stream->delay(launches * kHoldPerLaunch);
  up_lane_.stream->record(*begin_);
  down_lane_.stream->wait_for(*begin_);
  for (int pass = 0; pass < times; ++pass) {
    if (up) copy_up(pass);
    if (down) copy_down(pass);
  }
  up_lane_.stream->record(*up_lane_.end);
  down_lane_.stream->record(*down_lane_.end);
  up_lane_.end->wait();
  down_lane_.end->wait();
  return milliseconds(std::max(up_lane_.end->time(), down_lane_.end->time()) - begin_->time());
}

/** A chain with the frames, scratch and states that one stream needs. */
class ChainMeter::Lane {
 public:
  Lane(Device& device, const std::vector<FilterUse>& filters, const FrameFormat& format, const std::byte* picture,
       std::size_t lanes)
      : stream_(device.create_stream(StreamRole::kOneSlot)), chain_(filters, format, device.backend()) {
    const auto allocate = [&](std::size_t bytes) { return device.allocate(bytes); };
    const std::size_t bytes = frame_layout(format).bytes;
    const std::size_t count = block_count(bytes, lanes);
    sources_ = allocate_blocks(count, bytes, allocate);
    results_ = allocate_blocks(count, frame_layout(chain_.output_format()).bytes, allocate);
    for (MemoryBlock& between : intermediate_)
      between = allocate(std::max<std::size_t>(chain_.intermediate_bytes(), 1));
    scratch_ = allocate(std::max<std::size_t>(chain_.scratch_bytes(), 1));
    for (const std::size_t state_bytes : chain_.state_bytes()) states_.push_back(allocate(state_bytes));
    for (const MemoryBlock& source : sources_) device.copy_blocking_to_device(source.get(), picture, bytes);
  }
  ~Lane() { drain(*stream_); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  Stream& stream() { return *stream_; }
  const FrameFormat& output_format() const { return chain_.output_format(); }
  int launches() { return std::max<int>(1, static_cast<int>(chain_.plan(~std::uint64_t{0}).steps.size())); }

  void enqueue_frame() {
    const FrameView src = view_frame(chain_.input_format(), block(sources_, frame_));
    const FrameView dst = view_frame(chain_.output_format(), block(results_, frame_));
    const FilterPlan& plan =
        chain_.plan(chain_.enabled_at(~std::uint64_t{0}, frame_, static_cast<double>(frame_) * kFrame_s));
    for_each_pass(*stream_, plan, dst, src, intermediate_,
                  [this](const PlanStep& step, const FilterArguments& arguments) { enqueue_step(step, arguments); });
    ++frame_;
  }

 private:
  void enqueue_step(const PlanStep& step, FilterArguments arguments) {
    arguments.scratch = scratch_.get();
    if (step.state >= 0) {
      arguments.state = states_[static_cast<std::size_t>(step.state)].get();
      arguments.frame_index = frame_;
    }
    stream_->run(*step.filter, arguments);
    if (step.state >= 0) stream_->run_ordered(*step.filter, arguments);
  }

  std::unique_ptr<Stream> stream_;
  FilterChain chain_;
  std::vector<MemoryBlock> sources_;
  std::vector<MemoryBlock> results_;
  std::array<MemoryBlock, 2> intermediate_;
  MemoryBlock scratch_;
  std::vector<MemoryBlock> states_;
  std::int64_t frame_ = 0;
};

namespace {

std::size_t lane_count(const Device& device) {
  return device.shares_host_memory() ? static_cast<std::size_t>(cpu_cores()) : 1;
}

/** What a filter takes may depend on what it sees. */
MemoryBlock painted_picture(Device& device, const FrameFormat& format) {
  MemoryBlock picture = device.allocate_host(frame_layout(format).bytes, HostMemory::kPageable);
  paint_synthetic(view_frame(format, picture.get()), 0);
  return picture;
}

}  // namespace

std::vector<std::unique_ptr<ChainMeter::Lane>> ChainMeter::make_lanes(Device& device,
                                                                      const std::vector<FilterUse>& filters,
                                                                      const FrameFormat& format) {
  const MemoryBlock picture = painted_picture(device, format);
  const std::size_t count = lane_count(device);
  std::vector<std::unique_ptr<Lane>> lanes;
  while (lanes.size() < count) lanes.push_back(std::make_unique<Lane>(device, filters, format, picture.get(), count));
  return lanes;
}

ChainMeter::ChainMeter(Device& device, const std::vector<FilterUse>& filters, const FrameFormat& format)
    : device_(device),
      lanes_(make_lanes(device, filters, format)),
      begin_(device.create_timed_event()),
      end_(device.create_timed_event()),
      work_([this](int times) { return device_.shares_host_memory() ? time_on_cores(times) : time_on_device(times); }) {
}

ChainMeter::~ChainMeter() = default;

const FrameFormat& ChainMeter::output_format() const { return lanes_.front()->output_format(); }

double ChainMeter::time_on_device(int times) {
  Lane& lane = *lanes_.front();
  lane.stream().delay(times * lane.launches() * kHoldPerLaunch);
  lane.stream().record(*begin_);
  for (int i = 0; i < times; ++i) lane.enqueue_frame();
  lane.stream().record(*end_);
  end_->wait();
  return milliseconds(end_->time() - begin_->time());
}

double ChainMeter::time_on_cores(int times) {
  device_.set_concurrent_frames(true);
  const TimePoint begin = Clock::now();
  for (const auto& lane : lanes_) {
    for (int i = 0; i < times; ++i) lane->enqueue_frame();
  }
  for (const auto& lane : lanes_) lane->stream().synchronize();
  return milliseconds(Clock::now() - begin) / static_cast<double>(lanes_.size());
}

CeilingMeter::CeilingMeter(Device& device, const std::vector<FilterUse>& filters, const FrameFormat& format)
    : bytes_{frame_layout(format).bytes, 0}, chain_(device, filters, format) {
  bytes_.down = frame_layout(chain_.output_format()).bytes;
  if (!device.shares_host_memory()) copies_.emplace(device, bytes_);
}

std::size_t CeilingMeter::host_bytes(const Device& device, const FilterChain& chain) {
  const std::size_t up = frame_layout(chain.input_format()).bytes;
  const std::size_t down = frame_layout(chain.output_format()).bytes;
  if (!device.shares_host_memory()) return block_count(up, 1) * up + block_count(down, 1) * down;
  const std::size_t lanes = lane_count(device);
  const std::vector<std::size_t>& states = chain.state_bytes();
  return lanes * (block_count(up, lanes) * (up + down) + 2 * chain.intermediate_bytes() + chain.scratch_bytes() +
                  std::accumulate(states.begin(), states.end(), std::size_t{0}));
}

void CeilingMeter::add_round() {
  if (copies_) copies_->add_round();
  chain_.add_round();
}

Ceilings CeilingMeter::result() const {
  Ceilings ceilings;
  ceilings.bytes = bytes_;
  if (copies_) ceilings.copies = copies_->result();
  ceilings.kernels = chain_.result();
  return ceilings;
}

}  // namespace framelane
