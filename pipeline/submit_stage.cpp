// decode > ring > [submit: H2D > kernels > D2H] > encode.  Thread: submitter.
#include "pipeline/submit_stage.h"

#include <algorithm>
#include <utility>

#include "kernels/errors.h"
#include "pipeline/median.h"
#include "pipeline/nvtx.h"
#include "pipeline/pixel_format.h"
#include "pipeline/plan_passes.h"
#include "pipeline/preprocess.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace framelane {
namespace {

constexpr std::int64_t kWarmUpFrame = -1;

/** The bytes from the first to the last sample of a frame that lies in one block. */
struct Extent {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

/** Starts at a multiple of the pitch alignment within the block, so that rows stay aligned in the copy. */
Extent extent_of(const FrameView& view, std::byte* block) {
  std::byte* begin = view.planes[0].data;
  std::byte* end = nullptr;
  for (int plane = 0; plane < view.format.pixel.plane_count(); ++plane) {
    const PlaneView& rows = view.planes[plane];
    begin = std::min(begin, rows.data);
    end = std::max(end, rows.row<std::byte>(rows.height - 1) + view.format.row_bytes(plane));
  }
  begin -= static_cast<std::size_t>(begin - block) % kPitchAlignment;
  return {begin, static_cast<std::size_t>(end - begin)};
}

FrameView moved(FrameView view, const std::byte* from, std::byte* to) {
  for (int plane = 0; plane < view.format.pixel.plane_count(); ++plane) {
    view.planes[plane].data = to + (view.planes[plane].data - from);
  }
  return view;
}

std::byte* block_of(const AVFrame& frame) { return reinterpret_cast<std::byte*>(frame.buf[0]->data); }

}  // namespace

/** Kernels read `src` and write `dst`; the copies around them move `up` and `down`, which are empty where the device
 *  shares the host's memory. */
struct SubmitStage::Views {
  FrameView src;
  FrameView dst;
  Extent up;
  Extent down;
};

struct SubmitStage::Streams {
  Stream& up;
  Stream& kernels;
  Stream& down;
};

SubmitStage::SubmitStage(Device& device, FilterChain& chain, FrameRing& ring, HostPool& results, StageControl& control,
                         SubmitRules rules)
    : device_(device),
      chain_(chain),
      ring_(ring),
      results_(results),
      control_(control),
      rules_(std::move(rules)),
      use_graphs_(rules_.cuda_graphs == CudaGraphs::kOn && device.has_graphs()),
      shared_stream_(device.create_stream(StreamRole::kAllSlots)) {
  if (!device.shares_host_memory()) {
    upload_stream_ = device.create_stream(StreamRole::kAllSlots);
    download_stream_ = device.create_stream(StreamRole::kAllSlots);
  }
  reset_states();
  device_.set_concurrent_frames(concurrent_);
}

SubmitStage::~SubmitStage() {
  for (const auto* stream : {&shared_stream_, &upload_stream_, &download_stream_}) {
    if (*stream) drain(**stream);
  }
  ring_.drain();
}

void SubmitStage::reset_states() {
  states_.clear();
  for (const std::size_t bytes : chain_.state_bytes()) states_.push_back(device_.allocate(bytes));
  state_frames_.assign(states_.size(), 0);
  state_done_.assign(states_.size(), nullptr);
}

void SubmitStage::warm_up(const AVFrame& frame, Mode mode) {
  send_copies(frame, mode, ring_.size());
  if (!can_be_graph(chain_.plan(chain_.enabled_at(control_.filters_on(), 0, 0)))) {
    use_graphs_ = false;
  } else if (rules_.cuda_graphs == CudaGraphs::kAuto && device_.has_graphs() && mode != Mode::kSync) {
    use_graphs_ = graphs_are_faster(frame, mode);
  }
  reset_states();
}

/** Returns the time from the first frame's submission to the last one's end. */
Clock::duration SubmitStage::send_copies(const AVFrame& frame, Mode mode, int frames) {
  const auto forget_oldest = [&] {
    Slot* slot = ring_.pop_submitted();
    if (slot->timed) slot->done->wait();
    ring_.release(slot);
  };
  const TimePoint begin = Clock::now();
  for (int sent = 0; sent < frames; ++sent) {
    if (sent >= ring_.size()) forget_oldest();
    Slot* slot = ring_.acquire();
    slot->source = reference(frame);
    slot->record.frame = kWarmUpFrame;
    slot->record.mode = mode;
    ring_.push_decoded(slot);
    submit(*ring_.pop_decoded());
    ring_.push_submitted(slot);
  }
  for (int left = std::min(frames, ring_.size()); left > 0; --left) forget_oldest();
  return Clock::now() - begin;
}

/** Pairs of short runs, with graphs and without: the median pair decides. Frames that take long leave no time for
 *  that, and gain nothing. */
bool SubmitStage::graphs_are_faster(const AVFrame& frame, Mode mode) {
  constexpr int kPairs = 5;
  constexpr double kLongFrame_ms = 0.5;  // ten times what the calls of one frame take
  constexpr double kWorthwhile = 0.97;   // of the time without
  const int frames = 4 * ring_.size();
  if (milliseconds(send_copies(frame, mode, ring_.size())) / ring_.size() > kLongFrame_ms) return false;
  std::vector<double> ratios(kPairs);
  use_graphs_ = true;
  send_copies(frame, mode, ring_.size());  // captures them
  for (double& ratio : ratios) {
    use_graphs_ = false;
    const double without_ms = milliseconds(send_copies(frame, mode, frames));
    use_graphs_ = true;
    ratio = milliseconds(send_copies(frame, mode, frames)) / without_ms;
  }
  return median(std::move(ratios)) < kWorthwhile;
}

void SubmitStage::run() {
  while (Slot* slot = ring_.pop_decoded()) {
    submit(*slot);
    ring_.push_submitted(slot);
  }
  ring_.close_submitted();
}

void SubmitStage::submit(Slot& slot) {
  FrameRecord& record = slot.record;
  record.submit.begin = Clock::now();
  if (!prepare_concurrency(record.mode)) return;
  prepare_result(slot);
  const FilterPlan& plan =
      chain_.plan(chain_.enabled_at(control_.filters_on(), std::max<std::int64_t>(record.frame, 0), record.pts_s));
  switch (record.mode) {
    case Mode::kSync:
      submit_blocking(slot, plan);
      break;
    case Mode::kAsync:
    case Mode::kMultistream:
      submit_async(slot, plan);
      break;
  }
  record.submit.end = Clock::now();
}

/** Filters use one core a frame while several frames are filtered at once, else all cores. False when the ring was
 *  aborted meanwhile. */
bool SubmitStage::prepare_concurrency(Mode mode) {
  const bool concurrent = mode == Mode::kMultistream;
  if (concurrent == concurrent_) return true;
  if (!ring_.wait_until_none_in_flight()) return false;
  device_.set_concurrent_frames(concurrent);
  concurrent_ = concurrent;
  return true;
}

void SubmitStage::prepare_result(Slot& slot) {
  results_.set_kind(slot.record.mode == Mode::kSync ? rules_.sync_memory : HostMemory::kPinned);
  slot.result = allocate_result(results_, chain_.output_format(), *slot.source);
}

SubmitStage::Views SubmitStage::views_of(Slot& slot) {
  const FrameView source = view_frame(*slot.source);
  const FrameView result = view_frame(*slot.result);
  if (device_.shares_host_memory()) return {source, result, {}, {}};
  const Extent up = extent_of(source, block_of(*slot.source));
  // The first frame, or one in a larger block after a change in mid-stream. Nothing uses the old block: a slot comes
  // back when its work is done.
  if (up.bytes > slot.input_bytes) {
    slot.input = device_.allocate(up.bytes);
    slot.input_bytes = up.bytes;
  }
  const FrameView dst = view_frame(chain_.output_format(), slot.output.get());
  return {moved(source, up.begin, slot.input.get()),
          dst,
          up,
          {block_of(*slot.result), frame_layout(chain_.output_format()).bytes}};
}

void SubmitStage::submit_async(Slot& slot, const FilterPlan& plan) {
  const Views views = views_of(slot);
  const Streams streams = streams_for(slot);
  slot.timed = true;
  if (rules_.delay && slot.record.frame != kWarmUpFrame) streams.kernels.delay(rules_.delay(slot.record.frame));
  if (use_graphs_ && can_be_graph(plan)) return submit_graph(slot, plan, views, streams.kernels);
  enqueue(slot, plan, views, streams);
}

/** In multistream mode the copies of all slots go through one stream each way. On each slot's own stream the copy
 *  engine would share its bandwidth among them: the uploads of all slots end together, then all downloads, and little
 *  overlaps (1080p, six slots on an H200: 0.106 ms a frame; this way 0.073). */
SubmitStage::Streams SubmitStage::streams_for(Slot& slot) {
  if (slot.record.mode == Mode::kAsync) return {*shared_stream_, *shared_stream_, *shared_stream_};
  if (device_.shares_host_memory()) return {*slot.stream, *slot.stream, *slot.stream};
  return {*upload_stream_, *slot.stream, *download_stream_};
}

void SubmitStage::enqueue(Slot& slot, const FilterPlan& plan, const Views& views, const Streams& streams) {
  const auto continue_on = [](Stream& next, Stream& previous, Event& event) {
    if (&next != &previous) next.wait_for(event);
  };
  slot.h2d_queued = Clock::now();
  if (views.up.bytes > 0) {
    const NvtxRange range(Stage::kH2d, slot.record.frame);
    streams.up.copy_to_device(slot.input.get(), views.up.begin, views.up.bytes);
  }
  streams.up.record(*slot.h2d_end);
  continue_on(streams.kernels, streams.up, *slot.h2d_end);
  {
    const NvtxRange range(Stage::kKernels, slot.record.frame);
    run_filters(slot, plan, views, streams.kernels);
  }
  streams.kernels.record(*slot.kernels_end);
  continue_on(streams.down, streams.kernels, *slot.kernels_end);
  if (views.down.bytes > 0) {
    const NvtxRange range(Stage::kD2h, slot.record.frame);
    streams.down.copy_to_host(views.down.begin, slot.output.get(), views.down.bytes);
  }
  streams.down.record(*slot.done);
}

/** A temporal filter's pass waits for the frame before on another stream: no part of a graph of one slot. */
bool SubmitStage::can_be_graph(const FilterPlan& plan) const {
  return std::ranges::none_of(plan.steps, [](const PlanStep& step) { return step.state >= 0; });
}

/** Host addresses differ from frame to frame, all else only after a change of filters or of the decoder's layout. A
 *  graph runs on one stream: frames that are small enough to gain from it are not bound by copies. */
void SubmitStage::submit_graph(Slot& slot, const FilterPlan& plan, const Views& views, Stream& stream) {
  if (!slot.graph || slot.graph_plan != &plan || slot.graph_source != views.src) {
    slot.graph = stream.capture([&] { enqueue(slot, plan, views, {stream, stream, stream}); }, std::move(slot.graph));
    slot.graph_plan = &plan;
    slot.graph_source = views.src;
  }
  const NvtxRange range(Stage::kKernels, slot.record.frame);  // the copies are part of the graph
  slot.h2d_queued = Clock::now();
  stream.launch(*slot.graph, views.up.begin, views.down.begin);
}

void SubmitStage::submit_blocking(Slot& slot, const FilterPlan& plan) {
  const Views views = views_of(slot);
  slot.timed = false;
  Stream& stream = *shared_stream_;
  if (rules_.delay && slot.record.frame != kWarmUpFrame) stream.delay(rules_.delay(slot.record.frame));
  stream.synchronize();
  TimePoint copied = slot.record[Stage::kPreprocess].end;
  if (views.up.bytes > 0) {
    const NvtxRange range(Stage::kH2d, slot.record.frame);
    device_.copy_blocking_to_device(slot.input.get(), views.up.begin, views.up.bytes);
    slot.record[Stage::kH2d] = {copied, Clock::now()};
    copied = slot.record[Stage::kH2d].end;
  }
  {
    const NvtxRange range(Stage::kKernels, slot.record.frame);
    run_filters(slot, plan, views, stream);
    stream.synchronize();
    device_.synchronize();
  }
  const TimePoint filtered = Clock::now();
  slot.record[Stage::kKernels] = {copied, filtered};
  if (views.down.bytes == 0) return;
  const NvtxRange range(Stage::kD2h, slot.record.frame);
  device_.copy_blocking_to_host(views.down.begin, slot.output.get(), views.down.bytes);
  slot.record[Stage::kD2h] = {filtered, Clock::now()};
}

void SubmitStage::run_filters(Slot& slot, const FilterPlan& plan, const Views& views, Stream& stream) {
  if (rules_.occupation.count() > 0) return stream.occupy(rules_.occupation);
  for_each_pass(
      stream, plan, views.dst, views.src, slot.intermediate,
      [&](const PlanStep& step, const FilterArguments& arguments) { run_step(slot, step, arguments, stream); });
}

void SubmitStage::run_step(Slot& slot, const PlanStep& step, FilterArguments arguments, Stream& stream) {
  arguments.scratch = slot.scratch.get();
  if (step.state < 0) return stream.run(*step.filter, arguments);

  const auto state = static_cast<std::size_t>(step.state);
  arguments.state = states_[state].get();
  arguments.frame_index = state_frames_[state]++;
  stream.run(*step.filter, arguments);
  if (state_done_[state] != nullptr) stream.wait_for(*state_done_[state]);
  stream.run_ordered(*step.filter, arguments);
  state_done_[state] = slot.state_done[state].get();
  stream.record(*state_done_[state]);
}

}  // namespace framelane
