// The CUDA half of plane_fixture.h; defined in CUDA builds only.
#pragma once

#include <vector>

#include "tests/plane_fixture.h"

namespace framelane::testing {

/** 0 where there is no driver or no GPU. */
int cuda_device_count();

/** run_compiled() on the current CUDA device: `outputs[n]` gets what becomes of `frames[n]`. Blocking. */
void run_on_cuda(const CompiledFilter& filter, const std::vector<HostFrame>& frames, std::vector<HostFrame>& outputs);

}  // namespace framelane::testing
