// [decode] > ring > submit > encode.  Thread: decoder.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "pipeline/frame_ring.h"
#include "pipeline/frame_source.h"
#include "pipeline/preprocess.h"
#include "pipeline/stage_control.h"

namespace framelane {

/** The frame that tells the format which everything else is built for, and how long it took to get it. */
struct FirstFrame {
  AvFrame frame;
  Span decode;
};

struct DecodeRules {
  FullRing full_ring = FullRing::kBlock;
  std::optional<std::int64_t> frame_limit;
  std::chrono::microseconds extra_preprocess{0};  ///< see SimulatedWork
};

/** Takes frames from the source into the ring until it ends, the limit is reached or a stop is requested. */
class DecodeStage {
 public:
  /** All outlive this. `first` was taken from the source while everything was set up. */
  DecodeStage(FrameSource& source, Preprocess& preprocess, HostPool& pool, FrameRing& ring, StageControl& control,
              Recorder& recorder, const FrameFormat& format, DecodeRules rules, FirstFrame first);

  /** The thread's body; closes the ring's decoded end. Throws InputError. */
  void run();
  std::int64_t frames() const { return frames_; }

 private:
  AvFrame next_frame(FrameRecord& record, TimePoint begin);
  AvFrame preprocess(AvFrame frame, FrameRecord& record);
  Slot* acquire_slot();
  void hand_over(AvFrame frame, FrameRecord record);
  bool wants_more() const;

  FrameSource& source_;
  Preprocess& preprocess_;
  HostPool& pool_;
  FrameRing& ring_;
  StageControl& control_;
  Recorder& recorder_;
  const FrameFormat format_;
  const DecodeRules rules_;
  FirstFrame first_;
  double seconds_a_tick_;
  double end_s_ = 0;  // of the last frame
  std::atomic<std::int64_t> frames_{0};
};

}  // namespace framelane
