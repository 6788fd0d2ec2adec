// decode > ring > submit > [encode] > sink.  Thread: encoder.
#include "pipeline/encode_stage.h"

#include <algorithm>

#include "pipeline/nvtx.h"
#include "pipeline/pixel_format.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace framelane {
namespace {

/** The end of the last stage before encoding. */
TimePoint filtered_at(const FrameRecord& record) {
  return std::max(record[Stage::kKernels].end, record[Stage::kD2h].end);
}

}  // namespace

EncodeStage::EncodeStage(FrameRing& ring, StageControl& control, Recorder& recorder, const PipelineHooks& hooks)
    : ring_(ring), control_(control), recorder_(recorder), hooks_(hooks) {}

void EncodeStage::run(FrameSink& sink) {
  while (Slot* slot = ring_.pop_submitted()) {
    const bool paused = control_.wait_while_paused();
    if (slot->timed) slot->done->wait();
    if (slot->timed) read_times(*slot);
    const bool follows_on = slot->record.mode == Mode::kSync && !paused;
    finish_frame(*slot, sink, follows_on ? filtered_at(slot->record) : Clock::now());
    ring_.release(slot);
  }
}

/** Reads the slot's events into the frame's record, once they have been reached. The device sets its clock by the
 *  host's anew now and then: where that falls between two of these events, their order still holds. An event that tells
 *  when the copy began would cost as much as a fifth of a small frame's copy: it began when it was queued, or else when
 *  the engine (the recorder sees to that) or, in async mode, the only stream had done the frame before. */
void EncodeStage::read_times(Slot& slot) {
  const TimePoint copied = slot.h2d_end->time();
  const TimePoint filtered = std::max(copied, slot.kernels_end->time());
  slot.record[Stage::kKernels] = {copied, filtered};
  if (!slot.output) return;  // shared memory: nothing was copied
  const TimePoint free = slot.record.mode == Mode::kAsync ? stream_free_ : TimePoint{};
  slot.record[Stage::kH2d] = {std::min(std::max(slot.h2d_queued, free), copied), copied};
  slot.record[Stage::kD2h] = {filtered, std::max(filtered, slot.done->time())};
  stream_free_ = slot.record[Stage::kD2h].end;
}

void EncodeStage::finish_frame(Slot& slot, FrameSink& sink, TimePoint begin) {
  const NvtxRange range(Stage::kEncode, slot.record.frame);
  show(slot);
  sink.encode(*slot.result);
  slot.record[Stage::kEncode] = {begin, Clock::now()};
  recorder_.add(slot.record);
  position_s_ = slot.record.pts_s;
  ++frames_;
}

void EncodeStage::show(Slot& slot) {
  if (hooks_.decorate) {
    hooks_.decorate({view_frame(*slot.result),
                     view_frame(*slot.source),
                     slot.record,
                     {slot.result->sample_aspect_ratio.num, slot.result->sample_aspect_ratio.den}});
  }
  if (hooks_.observe) hooks_.observe(*slot.result);
}

}  // namespace framelane
