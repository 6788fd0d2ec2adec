// [decode] > ring > submit > encode.  Thread: decoder.
#include "pipeline/decode_stage.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace framelane {

DecodeStage::DecodeStage(MediaInput& input, Preprocess& preprocess, HostPool& pool, FrameRing& ring,
                         StageControl& control, Recorder& recorder, const FrameFormat& format, DecodeLimits limits,
                         AvFrame first, Span decode_span)
    : input_(input),
      preprocess_(preprocess),
      pool_(pool),
      ring_(ring),
      control_(control),
      recorder_(recorder),
      format_(format),
      limits_(limits),
      first_(std::move(first)),
      first_span_(decode_span),
      seconds_a_tick_(static_cast<double>(input.time_base().first) / input.time_base().second) {}

bool DecodeStage::wants_more() const {
  return !control_.stop_requested() && (!limits_.frames || frames_ < *limits_.frames);
}

void DecodeStage::run() {
  while (wants_more()) {
    FrameRecord record;
    record.frame = frames_;
    record.mode = control_.mode().mode_for(frames_);
    // In sync mode nothing overlaps: this frame starts when the one before has left.
    if (record.mode == Mode::kSync) ring_.wait_until_empty();
    pool_.set_kind(record.mode == Mode::kSync ? HostMemory::kPageable : HostMemory::kPinned);
    AvFrame frame = next_frame(record);
    if (!frame) break;
    ++frames_;
    hand_over(std::move(frame), record);
  }
  ring_.close_decoded();
  input_.drain_side_packets(end_s_);
}

AvFrame DecodeStage::next_frame(FrameRecord& record) {
  AvFrame frame = std::move(first_);
  record[Stage::kDecode] = first_span_;
  if (!frame) {
    const TimePoint begin = Clock::now();
    frame = input_.read_frame();
    record[Stage::kDecode] = {begin, Clock::now() - input_.held_back()};
  }
  if (!frame) return nullptr;
  record.pts_s = static_cast<double>(frame->pts) * seconds_a_tick_;
  end_s_ = record.pts_s + (input_.frame_rate() > 0 ? 1 / input_.frame_rate() : 0);

  const TimePoint begin = Clock::now();
  frame = preprocess_.run(std::move(frame), format_, record.mode != Mode::kSync);
  record[Stage::kPreprocess] = {begin, Clock::now()};
  return frame;
}

Slot* DecodeStage::acquire_slot() {
  switch (limits_.full_ring) {
    case FullRing::kBlock:
      return ring_.acquire();
    case FullRing::kDropOldest: {
      bool dropped = false;
      Slot* slot = ring_.acquire_or_drop_oldest(dropped);
      if (dropped) recorder_.count_dropped(1);
      return slot;
    }
    case FullRing::kDropNewest: {
      Slot* slot = ring_.try_acquire();
      if (slot == nullptr) recorder_.count_dropped(1);
      return slot;
    }
  }
  return nullptr;
}

void DecodeStage::hand_over(AvFrame frame, FrameRecord record) {
  Slot* slot = acquire_slot();
  if (slot == nullptr) return;
  record.slot = slot->number;
  slot->record = record;
  slot->source = std::move(frame);
  ring_.push_decoded(slot);
}

}  // namespace framelane
