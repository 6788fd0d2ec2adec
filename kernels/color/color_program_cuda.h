// The CUDA side of colour programs.
#pragma once

#include <memory>

#include "kernels/color/color_pass.h"

namespace framelane {

/** Uploads `plan` (blocking, on the current device). */
std::unique_ptr<CompiledFilter> compile_color_program_cuda(const ColorPlan& plan);

}  // namespace framelane
