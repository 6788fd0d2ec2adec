// decode > ring > submit > [encode] > sink.  Thread: encoder.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "kernels/frame.h"
#include "pipeline/frame_ring.h"
#include "pipeline/frame_source.h"
#include "pipeline/recorder.h"
#include "pipeline/stage_control.h"

namespace framelane {

/** A filtered frame on its way to the sink. `picture` may be drawn on. Both views hold for the call only. */
struct FinishedFrame {
  FrameView picture;
  FrameView original;  ///< as decoded; not to be written
  const FrameRecord& record;
  std::pair<int, int> sample_aspect_ratio;  ///< 0:1 when unknown
};

struct PipelineHooks {
  /** Draws on the frame (overlay). Thread: encoder. */
  std::function<void(const FinishedFrame&)> decorate;
  /** Sees the decorated frame (preview); must not block. `frame` may be kept by reference(). Thread: encoder. */
  std::function<void(const AVFrame& frame)> observe;
};

/** Waits for each frame in the order in which it was submitted, lets the hooks see it, gives it to the sink. */
class EncodeStage {
 public:
  /** All outlive this. */
  EncodeStage(FrameRing& ring, StageControl& control, Recorder& recorder, const PipelineHooks& hooks);

  /** The thread's body. Throws OutputError, and DeviceError where a frame's work failed. */
  void run(FrameSink& sink);
  std::int64_t frames() const { return frames_; }
  double position_s() const { return position_s_; }

 private:
  void read_times(Slot& slot);
  void finish_frame(Slot& slot, FrameSink& sink, TimePoint begin);
  void show(Slot& slot);

  FrameRing& ring_;
  StageControl& control_;
  Recorder& recorder_;
  const PipelineHooks& hooks_;
  TimePoint stream_free_;  // when the latest frame's D2H copy ended
  std::atomic<std::int64_t> frames_{0};
  std::atomic<double> position_s_{0};
};

}  // namespace framelane
