// decode > ring > [submit: H2D > kernels > D2H] > encode.  Thread: submitter.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/filter_chain.h"
#include "pipeline/frame_ring.h"
#include "pipeline/host_pool.h"
#include "pipeline/stage_control.h"

namespace framelane {

/** For tests: extra work on the stream of a frame. */
using StreamDelay = std::function<std::chrono::microseconds(std::int64_t frame)>;

/** Enqueues each frame's work on a stream, by the frame's mode, and passes the slot on without waiting for it (but in
 *  sync mode, which waits after every step). */
class SubmitStage {
 public:
  /** All outlive this. Result frames' memory comes from `results`. */
  SubmitStage(Device& device, FilterChain& chain, FrameRing& ring, HostPool& results, StageControl& control,
              StreamDelay delay);
  /** Waits for all streams: after an error their work may still use the temporal filters' states. */
  ~SubmitStage();

  /** Sends copies of `frame` through every slot, and forgets them: buffers get their size, the driver loads the
   * kernels, and a device that cannot run them says so before an output is begun. Before the threads start. */
  void warm_up(const AVFrame& frame, Mode mode);
  /** The thread's body; closes the ring's submitted end. Throws DeviceError. */
  void run();

 private:
  struct Views;  // where one frame's work reads and writes

  void reset_states();
  void submit(Slot& slot);
  void submit_blocking(Slot& slot, const FilterPlan& plan);
  void submit_async(Slot& slot, const FilterPlan& plan, Stream& stream);
  bool prepare_concurrency(Mode mode);
  void prepare_result(Slot& slot);
  Views views_of(Slot& slot);
  void run_filters(Slot& slot, const FilterPlan& plan, const Views& views, Stream& stream);
  void run_step(Slot& slot, const PlanStep& step, FilterArguments arguments, Stream& stream);

  Device& device_;
  FilterChain& chain_;
  FrameRing& ring_;
  HostPool& results_;
  StageControl& control_;
  StreamDelay delay_;
  std::unique_ptr<Stream> shared_stream_;  // async mode's only one
  std::vector<MemoryBlock> states_;        // of temporal filters
  std::vector<std::int64_t> state_frames_;
  std::vector<Event*> state_done_;  // the latest ordered pass of each
  bool concurrent_ = false;
};

}  // namespace framelane
