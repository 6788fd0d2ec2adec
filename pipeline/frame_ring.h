// decode > [ring] > submit > [ring] > encode.
//
// K slots go round. One thread owns a slot at a time:
//
//   free ── acquire() ──► decoder ── push_decoded() ──► waiting ── pop_decoded() ──► submitter
//    ▲                                                                                   │
//    └── release() ── encoder ◄── pop_submitted() ── in flight ◄── push_submitted() ─────┘
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/filter_chain.h"
#include "pipeline/av.h"
#include "pipeline/device.h"
#include "pipeline/recorder.h"

namespace framelane {

/** Everything one frame needs on its way, allocated once. */
struct Slot {
  int number = 0;
  std::unique_ptr<Stream> stream;

  // On a device that shares host memory, input and output stay empty: kernels read and write the frames' own.
  MemoryBlock input;  ///< device; as large as the decoder's block
  std::size_t input_bytes = 0;
  MemoryBlock output;                       ///< device; frame_layout() of the chain's output
  std::array<MemoryBlock, 2> intermediate;  ///< device; frames between two filters, in turn
  MemoryBlock scratch;                      ///< device

  std::unique_ptr<TimedEvent> h2d_end, kernels_end, done;
  TimePoint h2d_queued;                            ///< when the H2D copy was enqueued
  std::vector<std::unique_ptr<Event>> state_done;  ///< one a temporal filter: its ordered pass has ended

  std::unique_ptr<WorkGraph> graph;        ///< this slot's work, captured, for frames that are as `graph_source`…
  FrameView graph_source;                  ///< in `input`
  const FilterPlan* graph_plan = nullptr;  ///< … and filtered by this plan

  AvFrame source;      ///< decoded, in host memory
  AvFrame result;      ///< filtered, in host memory
  bool timed = false;  ///< the events hold this frame's times
  FrameRecord record;
};

/** What a full ring does with the next frame. */
enum class FullRing : std::uint8_t { kBlock, kDropOldest, kDropNewest };

/** Thread: each call from its owner's thread in the picture above; close and abort from any. Owns: the slots. */
class FrameRing {
 public:
  FrameRing(Device& device, const FilterChain& chain, int slots);
  /** Waits for the slots' streams: after an error their work may still run. */
  ~FrameRing();
  FrameRing(const FrameRing&) = delete;
  FrameRing& operator=(const FrameRing&) = delete;

  /** A free slot; blocks while there is none. Null after abort(). */
  Slot* acquire();
  /** A free slot, or else the oldest that waits for the submitter, whose frame is lost (`dropped` says so); blocks
   *  while there is neither. Null after abort(). */
  Slot* acquire_or_drop_oldest(bool& dropped);
  /** A free slot, or null at once. */
  Slot* try_acquire();
  void push_decoded(Slot* slot);
  /** No more frames will come. */
  void close_decoded();

  /** In the order of push_decoded(); null when closed and empty, or after abort(). Blocks while as many frames are in
   *  flight as set_in_flight_limit() allows. */
  Slot* pop_decoded();
  void push_submitted(Slot* slot);
  void close_submitted();

  /** In the order of push_submitted(); null when closed and empty, or after abort(). */
  Slot* pop_submitted();
  void release(Slot* slot);

  /** Blocks until every slot is free (sync mode's "one frame at a time"), or after abort(). Returns when the last one
   *  was released; TimePoint{} before the first release. */
  TimePoint wait_until_empty();
  /** Blocks until every submitted frame has been released; false after abort(). Thread: submitter. */
  bool wait_until_none_in_flight();
  /** With fewer than size(), slots are left in which a decoded frame waits and can be replaced by a newer one. */
  void set_in_flight_limit(int frames);
  /** Waits for the work on all slots' streams, whatever became of it. */
  void drain() noexcept;
  /** An error somewhere: all calls return null from now on. */
  void abort();

  int size() const { return static_cast<int>(slots_.size()); }
  int in_use() const;

 private:
  Slot* take(std::deque<Slot*>& queue);

  std::vector<std::unique_ptr<Slot>> slots_;
  mutable std::mutex mutex_;
  // One a thread: waking one that has nothing to do costs as much as a small frame's copy.
  std::condition_variable decoder_wakes_;
  std::condition_variable submitter_wakes_;
  std::condition_variable encoder_wakes_;
  std::deque<Slot*> free_;
  std::deque<Slot*> decoded_;
  std::deque<Slot*> submitted_;
  int in_flight_ = 0;  // submitted and not released
  TimePoint last_release_;
  int in_flight_limit_;
  bool decoded_closed_ = false;
  bool submitted_closed_ = false;
  bool aborted_ = false;
};

}  // namespace framelane
