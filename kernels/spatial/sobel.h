// sobel on CUDA.
#pragma once

#include <memory>

#include "kernels/filter.h"

namespace framelane {

/** An edge's strength is sqrt(gx^2 + gy^2) * scale + delta, in codes. */
struct SobelSettings {
  float scale = 1;
  float delta = 0;
  int planes = 15;  ///< mask; the others are copied
};

/** sobel for frames of `format`. Reflect-101 at the borders. */
std::unique_ptr<CompiledFilter> compile_sobel_cuda(const FrameFormat& format, const SobelSettings& settings);

}  // namespace framelane
