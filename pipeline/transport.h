// ring > submit > [discard]: transport and filters alone. The frames are there already, in host memory, and results are
// thrown away once they are back: a fast GPU would else hide behind the decoder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/filter_chain.h"
#include "pipeline/frame_path.h"
#include "pipeline/media_input.h"

namespace framelane {

/** Fills frame `number` of a series: a gradient that moves by a sample a frame, with noise of 1/16 of the range on it.
 */
void paint_synthetic(const FrameView& view, int number);

/** Frames of one format in host memory, to be sent again and again. Copyable, cheap.
 *  Thread: reads from any. Owns: the frames, in pinned memory, and in pageable memory for sync mode. */
class KeptFrames {
 public:
  /** `count` frames by paint_synthetic(); the same for each run of the program. */
  static KeptFrames synthetic(const std::shared_ptr<Device>& device, const FrameFormat& format, int count);
  /** The first `count` frames of an input (fewer where it ends), as the pipeline would hand them to the ring. Throws
   *  InputError, as MediaInput does. */
  static KeptFrames decoded(const std::shared_ptr<Device>& device, const MediaInputOptions& input, int count);

  const FrameFormat& format() const;
  int count() const;

 private:
  friend class ReplaySource;
  struct State;
  std::shared_ptr<const State> state_;
};

/** `sync_memory` is that of the frames, too. The number of frames is `frames`, not `frame_limit`. */
struct TransportOptions : FramePathOptions {
  std::int64_t frames = 0;  ///< to send, at least 1
};

struct TransportResult {
  std::vector<FrameRecord> records;
  int slots = 0;
  bool cuda_graphs = false;  ///< what kAuto came to
};

/** Sends frames from `kept` in turn through one FramePath, and waits for the last. Blocking; throws DeviceError and
 *  UsageError; returns early, with the records so far, when `stop` becomes true (checked every 50 ms). */
TransportResult run_transport(const KeptFrames& kept, const TransportOptions& options,
                              const std::function<bool()>& stop = {});

}  // namespace framelane
