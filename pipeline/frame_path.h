// source > [decode > ring > submit > encode] > sink: the stages that a frame goes through, and the threads that drive
// them:
//
//   decoder    takes frames from the source into the ring, converts what kernels do not take      (decode_stage)
//   submitter  enqueues H2D, kernels and D2H of each frame on streams                              (submit_stage)
//   encoder    waits for each frame in order, lets the decorator draw on it, gives it to the sink  (encode_stage)
//
// plus the device's own (streams of the CPU device) and those of FFmpeg's codecs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kernels/filter_chain.h"
#include "pipeline/decode_stage.h"
#include "pipeline/device.h"
#include "pipeline/encode_stage.h"
#include "pipeline/frame_ring.h"
#include "pipeline/frame_source.h"
#include "pipeline/host_pool.h"
#include "pipeline/mode.h"
#include "pipeline/preprocess.h"
#include "pipeline/recorder.h"
#include "pipeline/stage_control.h"
#include "pipeline/submit_stage.h"

namespace framelane {

struct FramePathOptions {
  std::shared_ptr<Device> device;
  std::vector<FilterUse> filters;
  Mode mode = Mode::kMultistream;
  std::map<std::int64_t, Mode> switch_at;  ///< from that frame on, that mode
  int slots = 0;                           ///< ring depth, 1 to 64; 0: the device's default
  FullRing full_ring = FullRing::kBlock;
  std::optional<std::int64_t> frame_limit;
  CudaGraphs cuda_graphs = CudaGraphs::kAuto;
  HostMemory sync_memory = HostMemory::kPageable;  ///< of sync mode's results
  SimulatedWork work;
  StreamDelay stream_delay;  ///< for tests
};

/** Thread: construct, start(), wait_for() and join() on one thread; everything else from any. Owns: ring, chain,
 *  threads. */
class FramePath {
 public:
  /** Compiles the chain for frames like `first`, fills the ring with slots and sends copies of it through a GPU,
   *  so that one that cannot run says so here. `source` outlives this; its frames come from `sources` where its codec
   * allows that. Throws UsageError, DeviceError. */
  FramePath(FramePathOptions options, FrameSource& source, FirstFrame first, std::shared_ptr<HostPool> sources,
            PipelineHooks hooks);
  ~FramePath();  ///< requests a stop and joins
  FramePath(const FramePath&) = delete;
  FramePath& operator=(const FramePath&) = delete;

  /** Before start(): a frame as the sink will see it, but for its content. */
  AvFrame output_template();

  /** `sink` outlives the threads. */
  void start(FrameSink& sink);
  /** True once all frames have left; false after `timeout`. */
  bool wait_for(std::chrono::milliseconds timeout);
  void join();
  /** After join(): the first error of a stage behind the source (frames are lost then), and the source's own (what came
   *  before it was delivered). */
  std::exception_ptr stage_error() const { return stage_error_; }
  std::exception_ptr source_error() const { return source_error_; }
  /** Takes no more frames from the source; those in flight still leave. */
  void request_stop() { control_.request_stop(); }

  StageControl& control() { return control_; }
  const StageControl& control() const { return control_; }
  const ModeControl& mode() const { return mode_; }
  const Recorder& recorder() const { return recorder_; }
  const FrameFormat& input_format() const { return input_format_; }
  const FilterChain& chain() const { return chain_; }
  const FrameRing& ring() const { return ring_; }
  std::int64_t frames_in() const { return decode_stage_.frames(); }
  std::int64_t frames_out() const { return encode_stage_.frames(); }
  double position_s() const { return encode_stage_.position_s(); }
  bool uses_cuda_graphs() const { return submit_stage_.uses_cuda_graphs(); }

 private:
  void run_stage(const char* name, const std::function<void()>& body);
  void decode();
  void fail(std::exception_ptr error);

  // In the order in which a frame meets them; destroyed in reverse.
  const FramePathOptions options_;
  const PipelineHooks hooks_;
  Device& device_;
  FrameSource& source_;
  const std::shared_ptr<HostPool> sources_;
  HostPool results_;
  ModeControl mode_;
  StageControl control_{mode_};
  Recorder recorder_;
  AvFrame first_;  // until start()
  const FrameFormat input_format_;
  FilterChain chain_;
  Preprocess preprocess_;
  FrameRing ring_;
  DecodeStage decode_stage_;
  SubmitStage submit_stage_;
  EncodeStage encode_stage_;

  std::mutex mutex_;
  std::condition_variable ended_changed_;
  int running_ = 0;
  std::exception_ptr stage_error_;
  std::exception_ptr source_error_;
  std::vector<std::jthread> threads_;
};

}  // namespace framelane
