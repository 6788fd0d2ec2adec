// [decode] > ring > submit > encode.  Thread: decoder.
#include "pipeline/decode_stage.h"

#include "pipeline/nvtx.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace framelane {
namespace {

void spin_for(std::chrono::microseconds duration) {
  const TimePoint end = Clock::now() + duration;
  while (Clock::now() < end) {
  }
}

}  // namespace

DecodeStage::DecodeStage(FrameSource& source, Preprocess& preprocess, HostPool& pool, FrameRing& ring,
                         StageControl& control, Recorder& recorder, const FrameFormat& format, DecodeRules rules,
                         FirstFrame first)
    : source_(source),
      preprocess_(preprocess),
      pool_(pool),
      ring_(ring),
      control_(control),
      recorder_(recorder),
      format_(format),
      rules_(rules),
      first_(std::move(first)),
      seconds_a_tick_(static_cast<double>(source.time_base().first) / source.time_base().second) {}

bool DecodeStage::wants_more() const {
  return !control_.stop_requested() && (!rules_.frame_limit || frames_ < *rules_.frame_limit);
}

void DecodeStage::run() {
  while (wants_more()) {
    FrameRecord record;
    record.frame = frames_;
    record.mode = control_.mode().mode_for(frames_);
    TimePoint begin = Clock::now();
    if (record.mode == Mode::kSync) {  // nothing overlaps: this frame starts when the one before has left
      const TimePoint left = ring_.wait_until_empty();
      begin = left == TimePoint{} ? Clock::now() : left;
    }
    pool_.set_kind(record.mode == Mode::kSync ? HostMemory::kPageable : HostMemory::kPinned);
    AvFrame frame = next_frame(record, begin);
    if (!frame) break;
    frame = preprocess(std::move(frame), record);
    ++frames_;
    hand_over(std::move(frame), record);
  }
  ring_.close_decoded();
  source_.drain_side_packets(end_s_);
}

AvFrame DecodeStage::next_frame(FrameRecord& record, TimePoint begin) {
  AvFrame frame = std::move(first_.frame);
  record[Stage::kDecode] = first_.decode;
  if (!frame) {
    const NvtxRange range(Stage::kDecode, record.frame);
    frame = source_.read_frame();
    record[Stage::kDecode] = {begin, Clock::now() - source_.held_back()};
  }
  if (!frame) return nullptr;
  record.pts_s = static_cast<double>(frame->pts) * seconds_a_tick_;
  end_s_ = record.pts_s + (source_.frame_rate() > 0 ? 1 / source_.frame_rate() : 0);
  return frame;
}

AvFrame DecodeStage::preprocess(AvFrame frame, FrameRecord& record) {
  const NvtxRange range(Stage::kPreprocess, record.frame);
  const TimePoint begin = Clock::now();
  frame = preprocess_.run(std::move(frame), format_, record.mode != Mode::kSync);
  if (rules_.extra_preprocess.count() > 0) spin_for(rules_.extra_preprocess);
  record[Stage::kPreprocess] = {begin, Clock::now()};
  return frame;
}

Slot* DecodeStage::acquire_slot() {
  switch (rules_.full_ring) {
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
  record.slots_in_use = ring_.in_use();
  slot->record = record;
  slot->source = std::move(frame);
  ring_.push_decoded(slot);
}

}  // namespace framelane
