// Beside the frame's way: what devices whose memory is the host's have in common.
#include "pipeline/host_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <opencv2/core/utility.hpp>

#include "kernels/errors.h"

namespace framelane {
namespace {

constexpr std::size_t kBlockAlignment = 256;

/** The thread sanitizer does not see how TBB, under OpenCV's parallel loops, hands work to its threads. */
#ifdef __SANITIZE_THREAD__
constexpr bool kParallelLoops = false;
#else
constexpr bool kParallelLoops = true;
#endif

MemoryBlock allocate_aligned(std::size_t bytes) {
  const std::size_t rounded = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kBlockAlignment, std::max(rounded, kBlockAlignment)));
  if (data == nullptr) throw DeviceError(fmt::format("out of memory: {} bytes for a frame", bytes));
  return {data, [](std::byte* block) { std::free(block); }};
}

}  // namespace

MemoryBlock HostDevice::allocate(std::size_t bytes) {
  ++device_allocations_;
  MemoryBlock block = allocate_aligned(bytes);
  std::memset(block.get(), 0, bytes);
  return block;
}

MemoryBlock HostDevice::allocate_host(std::size_t bytes, HostMemory kind) {
  if (kind == HostMemory::kPinned) ++pinned_allocations_;
  return allocate_aligned(bytes);
}

void HostDevice::synchronize() {
  std::vector<std::shared_ptr<HostQueue>> queues;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& queue : queues_) queues.push_back(queue.lock());
  }
  for (const auto& queue : queues) {
    if (queue) queue->synchronize();
  }
}

std::shared_ptr<HostQueue> HostDevice::create_queue(HostQueue::Task prepare) {
  const std::scoped_lock lock(mutex_);
  auto queue = std::make_shared<HostQueue>(fmt::format("stream{}", queues_created_++), std::move(prepare));
  std::erase_if(queues_, [](const auto& other) { return other.expired(); });
  queues_.push_back(queue);
  return queue;
}

void HostDevice::set_filter_threads(int count) { cv::setNumThreads(kParallelLoops ? count : 1); }

void copy_rows(const PlaneView& dst, const PlaneView& src, std::size_t row_bytes) {
  for (int y = 0; y < src.height; ++y) std::memcpy(dst.row<std::byte>(y), src.row<std::byte>(y), row_bytes);
}

}  // namespace framelane
