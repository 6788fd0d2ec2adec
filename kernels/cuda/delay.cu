#include "kernels/cuda/check.h"
#include "kernels/cuda/delay.h"

namespace framelane {
namespace {

__device__ unsigned long long nanoseconds_now() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin(unsigned long long duration_ns) {
  const unsigned long long begin = nanoseconds_now();
  while (nanoseconds_now() - begin < duration_ns) __nanosleep(1000);
}

}  // namespace

void enqueue_delay(std::chrono::microseconds duration, CUstream_st* stream) {
  spin<<<1, 1, 0, stream>>>(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
  FRAMELANE_CUDA_LAUNCHED("spin");
}

}  // namespace framelane
