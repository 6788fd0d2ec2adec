// decode > ring > submit > [encode] > mux.  Thread: encoder.
#include "pipeline/encode_stage.h"

#include <algorithm>

#include "pipeline/pixel_format.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace framelane {
namespace {

/** Reads the slot's events into the frame's record, once they have been reached. The device sets its clock by the
 *  host's anew now and then: where that falls between two of these events, their order still holds. */
void read_times(Slot& slot) {
  if (!slot.timed) return;
  const TimePoint begun = slot.h2d_begin->time();
  const TimePoint copied = std::max(begun, slot.h2d_end->time());
  const TimePoint filtered = std::max(copied, slot.kernels_end->time());
  slot.record[Stage::kKernels] = {copied, filtered};
  if (!slot.output) return;  // shared memory: nothing was copied
  slot.record[Stage::kH2d] = {begun, copied};
  slot.record[Stage::kD2h] = {filtered, std::max(filtered, slot.done->time())};
}

}  // namespace

EncodeStage::EncodeStage(MediaOutput& output, FrameRing& ring, StageControl& control, Recorder& recorder,
                         const PipelineHooks& hooks)
    : output_(output), ring_(ring), control_(control), recorder_(recorder), hooks_(hooks) {}

void EncodeStage::run() {
  while (Slot* slot = ring_.pop_submitted()) {
    control_.wait_while_paused();
    if (slot->timed) slot->done->wait();
    read_times(*slot);
    finish_frame(*slot);
    ring_.release(slot);
  }
}

void EncodeStage::finish_frame(Slot& slot) {
  const TimePoint begin = Clock::now();
  show(slot);
  output_.encode(*slot.result);
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
