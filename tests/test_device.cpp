// Streams, events and memory of every device of this machine.
#include "pipeline/device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "kernels/errors.h"
#include "pipeline/device_simulated.h"
#include "pipeline/host_pool.h"

extern "C" {
#include <libavutil/buffer.h>
}

namespace framelane::testing {
namespace {

using namespace std::chrono_literals;

std::vector<std::shared_ptr<Device>> devices() {
  constexpr double kAtOnce = std::numeric_limits<double>::infinity();
  std::vector<std::shared_ptr<Device>> result{create_cpu_device(),
                                              create_simulated_device({kAtOnce, kAtOnce, kAtOnce, kAtOnce})};
  if (cuda_unavailable_reason().empty()) result.push_back(create_device("cuda"));
  return result;
}

class FailingFilter : public CompiledFilter {
 public:
  void run(const FilterArguments&, CUstream_st*) const override { throw DeviceError("the filter failed"); }
};

TEST(Device, CopiesComeBackAsTheyWere) {
  for (const auto& device : devices()) {
    constexpr std::size_t kBytes = 1 << 20;
    const MemoryBlock up = device->allocate_host(kBytes, HostMemory::kPinned);
    const MemoryBlock down = device->allocate_host(kBytes, HostMemory::kPinned);
    const MemoryBlock memory = device->allocate(kBytes);
    for (std::size_t i = 0; i < kBytes; ++i) up.get()[i] = static_cast<std::byte>(i * 7 % 251);
    const auto stream = device->create_stream(StreamRole::kAllSlots);
    stream->copy_to_device(memory.get(), up.get(), kBytes);
    stream->copy_to_host(down.get(), memory.get(), kBytes);
    stream->synchronize();
    EXPECT_EQ(std::memcmp(up.get(), down.get(), kBytes), 0) << device->name();
  }
}

TEST(Device, MemoryStartsAsZero) {
  for (const auto& device : devices()) {
    const MemoryBlock memory = device->allocate(1000);
    const MemoryBlock host = device->allocate_host(1000, HostMemory::kPageable);
    device->copy_blocking_to_host(host.get(), memory.get(), 1000);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(host.get()[i], std::byte{0}) << device->name();
  }
}

TEST(Device, StreamWaitsForAnotherStreamsEvent) {
  for (const auto& device : devices()) {
    const auto slow = device->create_stream(StreamRole::kAllSlots);
    const auto fast = device->create_stream(StreamRole::kAllSlots);
    const auto slow_done = device->create_timed_event();
    const auto fast_done = device->create_timed_event();
    slow->delay(30ms);
    slow->record(*slow_done);
    fast->wait_for(*slow_done);
    fast->record(*fast_done);
    fast_done->wait();
    EXPECT_GE(fast_done->time() + std::chrono::microseconds(50), slow_done->time()) << device->name();
  }
}

TEST(Device, EventTimesLieOnTheHostsClock) {
  for (const auto& device : devices()) {
    const auto stream = device->create_stream(StreamRole::kAllSlots);
    const auto begin = device->create_timed_event();
    const auto end = device->create_timed_event();
    stream->synchronize();
    const TimePoint before = Clock::now();
    stream->record(*begin);
    stream->delay(20ms);
    stream->record(*end);
    end->wait();
    const TimePoint after = Clock::now();
    constexpr std::chrono::microseconds kCalibration{200};
    EXPECT_GE(begin->time(), before - kCalibration) << device->name();
    EXPECT_LE(end->time(), after + kCalibration) << device->name();
    EXPECT_GE(milliseconds(end->time() - begin->time()), 19.5) << device->name();
    EXPECT_LE(milliseconds(end->time() - begin->time()), 200) << device->name() << " (on a busy machine)";
  }
}

TEST(Device, EventThatWasNeverRecordedIsDone) {
  for (const auto& device : devices()) {
    device->create_event()->wait();
    const auto stream = device->create_stream(StreamRole::kAllSlots);
    const auto event = device->create_event();
    stream->wait_for(*event);
    stream->synchronize();
  }
}

TEST(Device, CountsItsAllocations) {
  for (const auto& device : devices()) {
    const AllocationCounts before = device->allocations();
    const MemoryBlock memory = device->allocate(64);
    const MemoryBlock pinned = device->allocate_host(64, HostMemory::kPinned);
    const MemoryBlock pageable = device->allocate_host(64, HostMemory::kPageable);
    EXPECT_EQ(device->allocations().device, before.device + 1);
    EXPECT_EQ(device->allocations().pinned, before.pinned + 1);
  }
}

TEST(CpuDevice, FailureReachesWhoeverWaits) {
  const auto device = create_cpu_device();
  const auto stream = device->create_stream(StreamRole::kAllSlots);
  const auto event = device->create_event();
  const FailingFilter filter;
  stream->run(filter, {});
  stream->record(*event);
  EXPECT_THROW(event->wait(), DeviceError);
  EXPECT_THROW(stream->synchronize(), DeviceError);
}

TEST(DeviceChoice, NamesWhatIsWrong) {
  EXPECT_THROW(create_device("gpu"), UsageError);
  EXPECT_THROW(create_device("cuda:x"), UsageError);
  if (!cuda_unavailable_reason().empty()) {
    EXPECT_THROW(create_device("cuda"), DeviceError);
    EXPECT_EQ(create_device("auto")->backend(), Backend::kCpu);
  } else {
    EXPECT_THROW(create_device("cuda:99"), DeviceError);
    EXPECT_EQ(create_device("auto")->backend(), Backend::kCuda);
  }
}

TEST(HostPool, ReusesBlocksAndKnowsThem) {
  for (const auto& device : devices()) {
    HostPool pool(device);
    AVBufferRef* first = pool.get(1000);
    const auto* data = first->data;
    EXPECT_TRUE(HostPool::is_pooled(*first));
    EXPECT_TRUE(HostPool::is_pinned(*first));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
    const AllocationCounts grown = device->allocations();
    av_buffer_unref(&first);
    AVBufferRef* again = pool.get(900);
    EXPECT_EQ(again->data, data);
    EXPECT_EQ(device->allocations(), grown);
    pool.set_kind(HostMemory::kPageable);
    AVBufferRef* pageable = pool.get(1000);
    EXPECT_TRUE(HostPool::is_pooled(*pageable));
    EXPECT_FALSE(HostPool::is_pinned(*pageable));
    av_buffer_unref(&again);
    av_buffer_unref(&pageable);
    AVBufferRef* foreign = av_buffer_alloc(1000);
    EXPECT_FALSE(HostPool::is_pooled(*foreign));
    av_buffer_unref(&foreign);
  }
}

TEST(HostPool, BlockOutlivesThePool) {
  AVBufferRef* block = nullptr;
  {
    HostPool pool(create_cpu_device());
    block = pool.get(4096);
  }
  std::memset(block->data, 1, 4096);
  av_buffer_unref(&block);
}

}  // namespace
}  // namespace framelane::testing
