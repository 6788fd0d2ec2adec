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

/** For tests: extra work on the stream of a frame, to force reordering. */
using StreamDelay = std::function<std::chrono::microseconds(std::int64_t frame)>;

struct SubmitRules {
  CudaGraphs cuda_graphs = CudaGraphs::kAuto;
  HostMemory sync_memory = HostMemory::kPageable;  ///< of results in sync mode
  std::chrono::microseconds occupation{0};         ///< in place of the filters; see SimulatedWork
  StreamDelay delay;
};

/** Enqueues each frame's work on a stream, by the frame's mode, and passes the slot on without waiting for it (but in
 *  sync mode, which waits after every step). On a device that has graphs, the work may be launched as a graph that was
 *  captured once for the slot; not where a temporal filter waits for other slots' frames. */
class SubmitStage {
 public:
  /** All outlive this. Result frames' memory comes from `results`. */
  SubmitStage(Device& device, FilterChain& chain, FrameRing& ring, HostPool& results, StageControl& control,
              SubmitRules rules);
  /** Waits for all streams: after an error their work may still use the temporal filters' states. */
  ~SubmitStage();

  /** Sends copies of `frame` through every slot, and forgets them: buffers get their size, the driver loads the
   *  kernels, and a device that cannot run them says so before an output is begun. With CudaGraphs::kAuto, measures
   *  whether graphs are faster. Before the threads start. */
  void warm_up(const AVFrame& frame, Mode mode);
  /** What SubmitRules::cuda_graphs came to; false too where a temporal filter works on the first frame. */
  bool uses_cuda_graphs() const { return use_graphs_; }
  /** The thread's body; closes the ring's submitted end. Throws DeviceError. */
  void run();

 private:
  struct Views;    // where one frame's work reads and writes
  struct Streams;  // which streams it goes through

  void reset_states();
  Clock::duration send_copies(const AVFrame& frame, Mode mode, int frames);
  bool graphs_are_faster(const AVFrame& frame, Mode mode);
  void submit(Slot& slot);
  void submit_blocking(Slot& slot, const FilterPlan& plan);
  void submit_async(Slot& slot, const FilterPlan& plan);
  void submit_graph(Slot& slot, const FilterPlan& plan, const Views& views, Stream& stream);
  void enqueue(Slot& slot, const FilterPlan& plan, const Views& views, const Streams& streams);
  bool can_be_graph(const FilterPlan& plan) const;
  Streams streams_for(Slot& slot);
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
  const SubmitRules rules_;
  bool use_graphs_ = false;
  std::unique_ptr<Stream> shared_stream_;  // async mode's only one
  std::unique_ptr<Stream> upload_stream_;  // multistream mode's copies; none where memory is shared
  std::unique_ptr<Stream> download_stream_;
  std::vector<MemoryBlock> states_;  // of temporal filters
  std::vector<std::int64_t> state_frames_;
  std::vector<Event*> state_done_;  // the latest ordered pass of each
  bool concurrent_ = false;
};

}  // namespace framelane
