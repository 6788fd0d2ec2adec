#include "kernels/cuda/check.h"

#include <fmt/format.h>

namespace framelane {

void throw_cuda_error(cudaError_t status, const char* call) {
  static_cast<void>(cudaGetLastError());
  throw DeviceError(fmt::format("CUDA: {} failed: {} ({})", call, cudaGetErrorString(status), cudaGetErrorName(status)));
}

}  // namespace framelane
