// gblur on CUDA.
#pragma once

#include <memory>

#include "kernels/filter.h"
#include "kernels/spatial/separable.h"

namespace framelane {

/** gblur for frames of `format`; planes outside the mask `planes` are copied. Reflect-101 at the borders. */
std::unique_ptr<CompiledFilter> compile_gblur_cuda(const FrameFormat& format, const SeparableWeights& weights,
                                                   int planes);

}  // namespace framelane
