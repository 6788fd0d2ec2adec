// [decode] > ring > submit > encode.  Thread: decoder.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "pipeline/frame_ring.h"
#include "pipeline/media_input.h"
#include "pipeline/preprocess.h"
#include "pipeline/stage_control.h"

namespace framelane {

struct DecodeLimits {
  FullRing full_ring = FullRing::kBlock;
  std::optional<std::int64_t> frames;
};

/** Decodes frames into the ring until the input ends, the limit is reached or a stop is requested. */
class DecodeStage {
 public:
  /** All outlive this. `first` is the stream's first frame, decoded while the pipeline was set up, and `decode_span`
   *  the time that it took. */
  DecodeStage(MediaInput& input, Preprocess& preprocess, HostPool& pool, FrameRing& ring, StageControl& control,
              Recorder& recorder, const FrameFormat& format, DecodeLimits limits, AvFrame first, Span decode_span);

  /** The thread's body; closes the ring's decoded end. Throws InputError. */
  void run();
  std::int64_t frames() const { return frames_; }

 private:
  AvFrame next_frame(FrameRecord& record);
  Slot* acquire_slot();
  void hand_over(AvFrame frame, FrameRecord record);
  bool wants_more() const;

  MediaInput& input_;
  Preprocess& preprocess_;
  HostPool& pool_;
  FrameRing& ring_;
  StageControl& control_;
  Recorder& recorder_;
  const FrameFormat format_;
  const DecodeLimits limits_;
  AvFrame first_;
  Span first_span_;
  double seconds_a_tick_;
  double end_s_ = 0;  // of the last frame
  std::atomic<std::int64_t> frames_{0};
};

}  // namespace framelane
