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

/** Threads of a block: divides the 1024, 1536 or 2048 that a multiprocessor holds, so that none are left over. */
constexpr int kOccupyingThreads = 512;

int blocks_that_fill_the_device() {
  int device = 0;
  int multiprocessors = 0;
  int blocks = 0;
  FRAMELANE_CUDA(cudaGetDevice(&device));
  FRAMELANE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  FRAMELANE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, spin, kOccupyingThreads, 0));
  return multiprocessors * blocks;
}

}  // namespace

void enqueue_delay(std::chrono::microseconds duration, CUstream_st* stream) {
  spin<<<1, 1, 0, stream>>>(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
  FRAMELANE_CUDA_LAUNCHED("spin");
}

void enqueue_occupation(std::chrono::microseconds duration, CUstream_st* stream) {
  spin<<<blocks_that_fill_the_device(), kOccupyingThreads, 0, stream>>>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
  FRAMELANE_CUDA_LAUNCHED("spin");
}

}  // namespace framelane
