// What the user changes while frames are on their way.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "pipeline/mode.h"

namespace framelane {

/** Timed work in place of real work, for `bench --shape`. */
struct SimulatedWork {
  std::chrono::microseconds preprocess{0};  ///< the decoder's thread spins so long in each frame's preprocessing
  std::chrono::microseconds kernels{0};     ///< a kernel that fills the device runs so long, in place of the filters
};

/** Thread: all calls may come from any thread. */
class StageControl {
 public:
  explicit StageControl(ModeControl& mode) : mode_(mode) {}

  ModeControl& mode() { return mode_; }

  void request_stop();
  bool stop_requested() const { return stop_; }

  /** Blocks while paused, until a step, resume or stop; true if it did. Thread: encoder. */
  bool wait_while_paused();
  void set_paused(bool paused);
  bool paused() const;
  void step();

  /** Bit i: filter i is on. */
  std::uint64_t filters_on() const { return filters_on_; }
  void toggle_filter(std::size_t index) { filters_on_ ^= std::uint64_t{1} << index; }

 private:
  ModeControl& mode_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> filters_on_{~std::uint64_t{0}};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool paused_ = false;
  int steps_ = 0;
};

}  // namespace framelane
