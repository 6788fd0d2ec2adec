// [input > decode > ring > submit > encode > output]: one run from a file, camera or stream to a file, pipe or nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/filter_chain.h"
#include "pipeline/device.h"
#include "pipeline/frame_path.h"
#include "pipeline/media_input.h"
#include "pipeline/media_output.h"
#include "pipeline/mode.h"
#include "pipeline/recorder.h"

namespace framelane {

enum class OnFull : std::uint8_t { kDefault, kBlock, kDropOldest, kDropNewest };

/** `full_ring` is decided by `on_full`. */
struct PipelineOptions : FramePathOptions {
  MediaInputOptions input;
  MediaOutputOptions output;
  OnFull on_full = OnFull::kDefault;  ///< default: files block, live sources drop the oldest
};

/** What the overlay and the progress line show besides times. */
struct PipelineStatus {
  Mode mode = Mode::kMultistream;
  int slots = 0;
  int slots_in_use = 0;
  std::int64_t frames_in = 0;   ///< decoded
  std::int64_t frames_out = 0;  ///< encoded
  std::int64_t dropped = 0;     ///< by a full ring
  InputDamage damage;
  OutputTotals output;
  double position_s = 0;  ///< pts of the last frame out
  std::uint64_t filters_on = ~std::uint64_t{0};
  bool paused = false;
};

/** One run from an input to an output.
 *  Thread: construct, start(), wait_for() and finish() on one thread; everything else from any. */
class Pipeline {
 public:
  /** Opens the input, decodes its first frame, compiles the chain for it, fills the ring with slots, tries a GPU with
   *  that frame, opens the output. Throws InputError, UsageError, OutputError, DeviceError; nothing is left behind
   * then. */
  Pipeline(PipelineOptions options, PipelineHooks hooks = {});
  ~Pipeline();  ///< requests a stop and joins
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void start();
  /** True once all frames have left; false after `timeout`. */
  bool wait_for(std::chrono::milliseconds timeout);
  /** Joins the threads, finishes the output (or aborts it after an error) and rethrows the first error. */
  void finish();
  /** Decodes no more; frames in flight still leave. */
  void request_stop();
  /** Unblocks reads of an input that does not end (second Ctrl-C, live sources). */
  void interrupt_input();

  void set_mode(Mode mode);
  /** Pausing holds the encoder before its next frame; step() lets one frame pass. */
  void set_paused(bool paused);
  void step();
  /** Switches filter `index` on or off; returns false where it cannot be (no such filter, geometry). */
  bool toggle_filter(std::size_t index);

  PipelineStatus status() const;
  /** The chain as the user wrote it; bit i of PipelineStatus::filters_on is filter i. */
  const std::vector<FilterUse>& filters() const;
  const Recorder& recorder() const;
  const FrameFormat& input_format() const;
  const FrameFormat& output_format() const;
  const MediaInput& input() const;
  std::string output_description() const;
  /** What PipelineOptions::cuda_graphs came to. */
  bool uses_cuda_graphs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace framelane
