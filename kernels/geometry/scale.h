// scale, compiled: what its CPU and CUDA halves share.
#pragma once

#include <array>
#include <memory>

#include "kernels/filter.h"
#include "kernels/geometry/resample_taps.h"

namespace framelane {

/** What happens to a plane's resampled codes: gain · code + offset, for a change of range. */
struct CodeMap {
  float gain = 1;
  float offset = 0;
  bool operator==(const CodeMap&) const = default;
};

/** Everything that scaling frames of one format to another takes. */
struct ScalePlan {
  FrameFormat input;
  FrameFormat output;
  /** [0]: full-size planes, [1]: chroma planes (equal to [0] without subsampling; unused for gray). */
  std::array<ResampleTaps, 2> horizontal;
  std::array<ResampleTaps, 2> vertical;
  std::array<CodeMap, kMaxPlanes> codes;
};

/** Defined in scale_cpu.cpp and scale.cu. Both: intermediate sums in float, rounded once, to nearest. */
std::unique_ptr<CompiledFilter> compile_scale_cpu(ScalePlan plan);
std::unique_ptr<CompiledFilter> compile_scale_cuda(const ScalePlan& plan);

}  // namespace framelane
