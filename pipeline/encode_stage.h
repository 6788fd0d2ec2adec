// decode > ring > submit > [encode] > mux.  Thread: encoder.
#pragma once

#include <atomic>
#include <cstdint>

#include "pipeline/frame_ring.h"
#include "pipeline/media_output.h"
#include "pipeline/pipeline.h"
#include "pipeline/stage_control.h"

namespace framelane {

/** Waits for each frame in the order in which it was submitted, lets the hooks see it, encodes it. */
class EncodeStage {
 public:
  /** All outlive this. */
  EncodeStage(MediaOutput& output, FrameRing& ring, StageControl& control, Recorder& recorder,
              const PipelineHooks& hooks);

  /** The thread's body. Throws OutputError, and DeviceError where a frame's work failed. */
  void run();
  std::int64_t frames() const { return frames_; }
  double position_s() const { return position_s_; }

 private:
  void finish_frame(Slot& slot);
  void show(Slot& slot);

  MediaOutput& output_;
  FrameRing& ring_;
  StageControl& control_;
  Recorder& recorder_;
  const PipelineHooks& hooks_;
  std::atomic<std::int64_t> frames_{0};
  std::atomic<double> position_s_{0};
};

}  // namespace framelane
