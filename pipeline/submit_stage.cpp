// decode > ring > [submit: H2D > kernels > D2H] > encode.  Thread: submitter.
#include "pipeline/submit_stage.h"

#include <algorithm>
#include <limits>
#include <new>

#include "kernels/errors.h"
#include "pipeline/pixel_format.h"
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

SubmitStage::SubmitStage(Device& device, FilterChain& chain, FrameRing& ring, HostPool& results, StageControl& control,
                         StreamDelay delay)
    : device_(device),
      chain_(chain),
      ring_(ring),
      results_(results),
      control_(control),
      delay_(std::move(delay)),
      shared_stream_(device.create_stream(StreamRole::kOnly)) {
  reset_states();
  device_.set_concurrent_frames(concurrent_);
}

SubmitStage::~SubmitStage() {
  drain(*shared_stream_);
  ring_.drain();
}

void SubmitStage::reset_states() {
  states_.clear();
  for (const std::size_t bytes : chain_.state_bytes()) states_.push_back(device_.allocate(bytes));
  state_frames_.assign(states_.size(), 0);
  state_done_.assign(states_.size(), nullptr);
}

void SubmitStage::warm_up(const AVFrame& frame, Mode mode) {
  for (int i = 0; i < ring_.size(); ++i) {
    Slot* slot = ring_.acquire();
    slot->source = reference(frame);
    slot->record.frame = kWarmUpFrame;
    slot->record.mode = mode;
    ring_.push_decoded(slot);
    submit(*ring_.pop_decoded());
    ring_.push_submitted(slot);
  }
  for (int i = 0; i < ring_.size(); ++i) {
    Slot* slot = ring_.pop_submitted();
    if (slot->timed) slot->done->wait();
    ring_.release(slot);
  }
  reset_states();
}

void SubmitStage::run() {
  while (Slot* slot = ring_.pop_decoded()) {
    submit(*slot);
    ring_.push_submitted(slot);
  }
  ring_.close_submitted();
}

void SubmitStage::submit(Slot& slot) {
  const FrameRecord& record = slot.record;
  if (!prepare_concurrency(record.mode)) return;
  prepare_result(slot);
  const FilterPlan& plan = chain_.plan(chain_.enabled_at(control_.filters_on(), record.frame, record.pts_s));
  switch (record.mode) {
    case Mode::kSync:
      return submit_blocking(slot, plan);
    case Mode::kAsync:
      return submit_async(slot, plan, *shared_stream_);
    case Mode::kMultistream:
      return submit_async(slot, plan, *slot.stream);
  }
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
  const AVFrame& source = *slot.source;
  const FrameFormat& format = chain_.output_format();
  results_.set_kind(slot.record.mode == Mode::kSync ? HostMemory::kPageable : HostMemory::kPinned);
  slot.result = allocate_frame(results_, format);
  if (av_frame_copy_props(slot.result.get(), &source) < 0) throw std::bad_alloc();
  tag_frame(*slot.result, format);
  slot.result->sample_aspect_ratio = {format.sample_aspect.num, format.sample_aspect.den};
}

SubmitStage::Views SubmitStage::views_of(Slot& slot) {
  const FrameView source = view_frame(*slot.source);
  const FrameView result = view_frame(*slot.result);
  if (device_.shares_host_memory()) return {source, result, {}, {}};
  const Extent up = extent_of(source, block_of(*slot.source));
  if (up.bytes > slot.input_bytes) {  // the first frame, or one in a larger block after a change in mid-stream
    slot.stream->synchronize();
    slot.input = device_.allocate(up.bytes);
    slot.input_bytes = up.bytes;
  }
  const FrameView dst = view_frame(chain_.output_format(), slot.output.get());
  return {moved(source, up.begin, slot.input.get()),
          dst,
          up,
          {block_of(*slot.result), frame_layout(chain_.output_format()).bytes}};
}

void SubmitStage::submit_async(Slot& slot, const FilterPlan& plan, Stream& stream) {
  const Views views = views_of(slot);
  slot.timed = true;
  if (delay_ && slot.record.frame != kWarmUpFrame) stream.delay(delay_(slot.record.frame));
  stream.record(*slot.h2d_begin);
  if (views.up.bytes > 0) stream.copy_to_device(slot.input.get(), views.up.begin, views.up.bytes);
  stream.record(*slot.h2d_end);
  run_filters(slot, plan, views, stream);
  stream.record(*slot.kernels_end);
  if (views.down.bytes > 0) stream.copy_to_host(views.down.begin, slot.output.get(), views.down.bytes);
  stream.record(*slot.done);
}

void SubmitStage::submit_blocking(Slot& slot, const FilterPlan& plan) {
  const Views views = views_of(slot);
  slot.timed = false;
  Stream& stream = *shared_stream_;
  if (delay_ && slot.record.frame != kWarmUpFrame) stream.delay(delay_(slot.record.frame));
  stream.synchronize();
  const TimePoint begin = Clock::now();
  if (views.up.bytes > 0) device_.copy_blocking_to_device(slot.input.get(), views.up.begin, views.up.bytes);
  const TimePoint copied = Clock::now();
  run_filters(slot, plan, views, stream);
  stream.synchronize();
  device_.synchronize();
  const TimePoint filtered = Clock::now();
  if (views.down.bytes > 0) {
    slot.record[Stage::kH2d] = {begin, copied};
    device_.copy_blocking_to_host(views.down.begin, slot.output.get(), views.down.bytes);
    slot.record[Stage::kD2h] = {filtered, Clock::now()};
  }
  slot.record[Stage::kKernels] = {copied, filtered};
}

void SubmitStage::run_filters(Slot& slot, const FilterPlan& plan, const Views& views, Stream& stream) {
  if (plan.steps.empty()) {
    for (int plane = 0; plane < views.src.format.pixel.plane_count(); ++plane) {
      stream.copy_plane(views.dst.planes[plane], views.src.planes[plane], views.src.format.row_bytes(plane));
    }
    return;
  }
  FilterArguments arguments;
  arguments.dst = views.src;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    arguments.src = arguments.dst;
    arguments.dst =
        i + 1 == plan.steps.size() ? views.dst : view_frame(step.dst_format, slot.intermediate[i % 2].get());
    run_step(slot, step, arguments, stream);
  }
}

void SubmitStage::run_step(Slot& slot, const PlanStep& step, FilterArguments arguments, Stream& stream) {
  arguments.src.format = step.src_format;
  arguments.dst.format = step.dst_format;
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
