// tmix: the weighted mean of a frame and the frames before it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/filter.h"

namespace framelane {

/** out = scale * sum of weights[k] * frame(n - size + 1 + k), rounded to nearest (halves to even), clipped. The sum is
 *  formed in float32, oldest frame first: that is what ffmpeg's tmix does, and it makes the result exact. */
struct TmixWeights {
  std::vector<float> weights;  ///< one a frame, oldest first
  float scale = 1;
  int planes = 15;  ///< mask; the other planes are copied
};

/** The last frames, in the filter's state: one slot a frame, each with the selected planes one behind the other. Frame
 *  n lies in slot n % frames. */
struct TmixRing {
  std::array<std::size_t, kMaxPlanes> offset{};  ///< of a plane in its slot
  std::array<std::ptrdiff_t, kMaxPlanes> pitch_bytes{};
  std::size_t slot_bytes = 0;
};
TmixRing tmix_ring(const FrameFormat& format, int planes);

/** Where in the ring the frames before frame `frame_index` are. Frame 0 stands for those before the start. */
struct TmixWindow {
  int newest_slot = 0;
  int oldest_slot = 0;
  int repeats = 0;  ///< how many times the oldest frame is taken again before the slots advance

  TmixWindow(std::int64_t frame_index, int frames);
};

/** The CUDA half, in tmix.cu. */
std::unique_ptr<CompiledFilter> compile_tmix_cuda(const TmixWeights& weights, const FrameFormat& format);

}  // namespace framelane
