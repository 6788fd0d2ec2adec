// Beside the frame's way: the CPU as a device. A stream is a worker thread with a queue.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "pipeline/host_device.h"
#include "pipeline/thread_priority.h"

namespace framelane {
namespace {

/** Filters then take the time that the decoder's threads leave, which wait for each other now and then, and the ring
 *  holds enough decoded frames to fill it: 5 % more frames a second on two cores than at equal priority. */
constexpr int kSlotStreamsNicer = 10;

/** Thread: one at a time. Owns: its queue. */
class CpuStream : public Stream {
 public:
  explicit CpuStream(std::shared_ptr<HostQueue> queue) : queue_(std::move(queue)) {}
  ~CpuStream() override { queue_->close(); }
  CpuStream(const CpuStream&) = delete;
  CpuStream& operator=(const CpuStream&) = delete;

  void copy_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) override { copy(dst, src, bytes); }
  void copy_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) override { copy(dst, src, bytes); }
  void copy_plane(const PlaneView& dst, const PlaneView& src, std::size_t row_bytes) override {
    queue_->push([=] { copy_rows(dst, src, row_bytes); });
  }
  void run(const CompiledFilter& filter, const FilterArguments& arguments) override {
    queue_->push([&filter, arguments] { filter.run(arguments, nullptr); });
  }
  void run_ordered(const CompiledFilter& filter, const FilterArguments& arguments) override {
    queue_->push([&filter, arguments] { filter.run_ordered(arguments, nullptr); });
  }
  void record(Event& event) override { queue_->record(event, Clock::now); }
  void wait_for(Event& event) override {
    queue_->wait_for(event, [](TimePoint) {});
  }
  void synchronize() override { queue_->synchronize(); }
  void delay(std::chrono::microseconds duration) override {
    queue_->push([duration] { std::this_thread::sleep_for(duration); });
  }
  /** One core at least is held. */
  void occupy(std::chrono::microseconds duration) override {
    queue_->push([duration] {
      const TimePoint end = Clock::now() + duration;
      while (Clock::now() < end) {
      }
    });
  }

 private:
  void copy(std::byte* dst, const std::byte* src, std::size_t bytes) {
    queue_->push([=] { std::memcpy(dst, src, bytes); });
  }

  std::shared_ptr<HostQueue> queue_;
};

class CpuDevice : public HostDevice {
 public:
  std::string name() const override { return fmt::format("CPU, {} threads", threads()); }
  bool shares_host_memory() const override { return true; }
  int copy_engines() const override { return 0; }
  /** One frame a core, one that the decoder fills, one that the encoder reads, and some in store for filters to work
   *  on while the decoder's threads wait for each other. */
  int default_slots() const override { return std::min(threads() + 6, 64); }
  std::unique_ptr<Stream> create_stream(StreamRole role) override {
    return std::make_unique<CpuStream>(create_queue([role] {
      if (role == StreamRole::kOneSlot) lower_thread_priority(kSlotStreamsNicer);
    }));
  }
  void use_in_this_thread() override {}
  void copy_blocking_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
  void copy_blocking_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
  void set_concurrent_frames(bool several) override { set_filter_threads(several ? 1 : threads()); }
};

}  // namespace

std::shared_ptr<Device> create_cpu_device() { return std::make_shared<CpuDevice>(); }

}  // namespace framelane
