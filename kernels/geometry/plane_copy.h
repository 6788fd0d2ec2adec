// Filters that only move samples: crop, hflip, vflip, and a scale or transpose that changes nothing.
#pragma once

#include <array>
#include <memory>

#include "kernels/filter.h"

namespace framelane {

/** Where a destination plane's samples come from: dst(x, y) = src(origin_x ± x, origin_y ± y). */
struct PlaneCopy {
  int origin_x = 0;
  int origin_y = 0;
  bool mirror_x = false;  ///< true: columns run leftwards from origin_x
  bool mirror_y = false;  ///< true: rows run upwards from origin_y
};

/** One PlaneCopy a plane. */
using FrameCopy = std::array<PlaneCopy, kMaxPlanes>;

/** A filter that fills frames of `output` format by `copy`, which must stay inside the source planes. Exact. */
std::unique_ptr<CompiledFilter> compile_frame_copy(const FrameCopy& copy, const FrameFormat& output, Backend backend);

/** Its CUDA half, in plane_copy.cu. */
std::unique_ptr<CompiledFilter> compile_frame_copy_cuda(const FrameCopy& copy, const FrameFormat& output);

}  // namespace framelane
