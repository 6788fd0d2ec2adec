// CUDA calls that fail become DeviceError. For .cu files and the CUDA device only.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/errors.h"

namespace framelane {

/** Throws DeviceError with the call's text and CUDA's reason; clears the error where it is not sticky. */
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* call);

/** Wraps every CUDA call that can fail: check_cuda(cudaX(...), "cudaX"). */
inline void check_cuda(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw_cuda_error(status, call);
}

}  // namespace framelane

#define FRAMELANE_CUDA(call) ::framelane::check_cuda((call), #call)
/** After a kernel launch: reports a bad configuration (not faults inside the kernel, which come later). */
#define FRAMELANE_CUDA_LAUNCHED(kernel) ::framelane::check_cuda(cudaGetLastError(), "launch of " kernel)
