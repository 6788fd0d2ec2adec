// The CUDA half of transpose.
#pragma once

#include <memory>

#include "kernels/filter.h"

namespace framelane {

/** dst(x, y) = src(y, x), with the source's rows or the destination's rows upside down. */
struct Transposition {
  bool flip_src_rows = false;
  bool flip_dst_rows = false;
};

/** For frames of the transposed format `output`; defined in transpose.cu. Exact. */
std::unique_ptr<CompiledFilter> compile_transpose_cuda(const Transposition& transposition, const FrameFormat& output);

}  // namespace framelane
