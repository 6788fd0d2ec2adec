// Beside the frame's way: the CPU as a device. A stream is a worker thread with a queue.
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include <opencv2/core/utility.hpp>

#include "kernels/errors.h"
#include "pipeline/device.h"

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

/** Counts marks: the n-th record() has been reached when `reached_` is at least n. */
class CpuEvent : public TimedEvent {
 public:
  void wait() override { wait_for_mark(last_mark()); }

  TimePoint time() override {
    const std::scoped_lock lock(mutex_);
    return time_;
  }

  std::int64_t new_mark() {
    const std::scoped_lock lock(mutex_);
    return ++recorded_;
  }
  std::int64_t last_mark() {
    const std::scoped_lock lock(mutex_);
    return recorded_;
  }
  void wait_for_mark(std::int64_t mark) {
    std::unique_lock lock(mutex_);
    reached_changed_.wait(lock, [&] { return reached_ >= mark; });
    if (failure_) std::rethrow_exception(failure_);
  }
  void reach(std::int64_t mark, std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    reached_ = mark;
    time_ = Clock::now();
    failure_ = std::move(failure);
    reached_changed_.notify_all();  // under the lock: whoever waits may destroy this event as soon as it can
  }

 private:
  std::mutex mutex_;
  std::condition_variable reached_changed_;
  std::int64_t recorded_ = 0;
  std::int64_t reached_ = 0;
  TimePoint time_{};
  std::exception_ptr failure_;
};

/** Filters then take the time that the decoder's threads leave, which wait for each other now and then, and the ring
 *  holds enough decoded frames to fill it: 5 % more frames a second on two cores than at equal priority. */
void lower_priority() {
  constexpr int kNicer = 10;
  setpriority(PRIO_PROCESS, 0, std::min(getpriority(PRIO_PROCESS, 0) + kNicer, 19));  // on Linux: of this thread
}

/** After a task has failed, later ones are skipped and marks carry the failure to whoever waits for them. */
class CpuStream : public Stream {
 public:
  CpuStream(int number, StreamRole role)
      : worker_([this, role](const std::stop_token& stop) {
          if (role == StreamRole::kOneOfSeveral) lower_priority();
          work(stop);
        }) {
    pthread_setname_np(worker_.native_handle(), fmt::format("stream{}", number).c_str());
  }

  ~CpuStream() override {
    {
      const std::scoped_lock lock(mutex_);
      worker_.request_stop();
    }
    changed_.notify_all();
  }

  void copy_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) override { copy(dst, src, bytes); }
  void copy_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) override { copy(dst, src, bytes); }

  void copy_plane(const PlaneView& dst, const PlaneView& src, std::size_t row_bytes) override {
    push([=] {
      for (int y = 0; y < src.height; ++y) std::memcpy(dst.row<std::byte>(y), src.row<std::byte>(y), row_bytes);
    });
  }

  void run(const CompiledFilter& filter, const FilterArguments& arguments) override {
    push([&filter, arguments] { filter.run(arguments, nullptr); });
  }

  void run_ordered(const CompiledFilter& filter, const FilterArguments& arguments) override {
    push([&filter, arguments] { filter.run_ordered(arguments, nullptr); });
  }

  void record(Event& event) override {
    auto& cpu_event = static_cast<CpuEvent&>(event);
    const std::int64_t mark = cpu_event.new_mark();
    push_always([this, &cpu_event, mark] { cpu_event.reach(mark, failure_); });
  }

  void wait_for(Event& event) override {
    auto& cpu_event = static_cast<CpuEvent&>(event);
    push([&cpu_event, mark = cpu_event.last_mark()] { cpu_event.wait_for_mark(mark); });
  }

  void synchronize() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tasks_.empty() && !busy_; });
    if (failure_) std::rethrow_exception(failure_);
  }

  void delay(std::chrono::microseconds duration) override {
    push([duration] { std::this_thread::sleep_for(duration); });
  }

 private:
  using Task = std::function<void()>;

  void copy(std::byte* dst, const std::byte* src, std::size_t bytes) {
    push([=] { std::memcpy(dst, src, bytes); });
  }

  void push(Task task) {
    push_always([this, task = std::move(task)] {
      if (failure_) return;
      try {
        task();
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
  }

  void push_always(Task task) {
    {
      const std::scoped_lock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_all();
  }

  /** Finishes what is queued before it stops, so that no event is waited for in vain. */
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !tasks_.empty() || stop.stop_requested(); });
      if (tasks_.empty()) return;
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      busy_ = true;
      lock.unlock();
      task();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool busy_ = false;
  std::exception_ptr failure_;  // written by the worker; read by it, and by synchronize() under the lock when idle
  std::jthread worker_;         // last: stops before the rest is gone
};

class CpuDevice : public Device {
 public:
  Backend backend() const override { return Backend::kCpu; }
  std::string name() const override { return fmt::format("CPU, {} threads", threads_); }
  bool shares_host_memory() const override { return true; }
  /** One frame a core, one that the decoder fills, one that the encoder reads, and some in store for filters to work
   *  on while the decoder's threads wait for each other. */
  int default_slots() const override { return std::min(threads_ + 6, 64); }

  std::unique_ptr<Stream> create_stream(StreamRole role) override {
    return std::make_unique<CpuStream>(streams_++, role);
  }
  std::unique_ptr<Event> create_event() override { return std::make_unique<CpuEvent>(); }
  std::unique_ptr<TimedEvent> create_timed_event() override { return std::make_unique<CpuEvent>(); }

  MemoryBlock allocate(std::size_t bytes) override {
    ++device_allocations_;
    MemoryBlock block = allocate_aligned(bytes);
    std::memset(block.get(), 0, bytes);
    return block;
  }

  MemoryBlock allocate_host(std::size_t bytes, HostMemory kind) override {
    if (kind == HostMemory::kPinned) ++pinned_allocations_;
    return allocate_aligned(bytes);
  }

  void use_in_this_thread() override {}
  void synchronize() override {}
  void copy_blocking_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
  void copy_blocking_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }

  void set_concurrent_frames(bool several) override { cv::setNumThreads(several || !kParallelLoops ? 1 : threads_); }

 private:
  int threads_ = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::atomic<int> streams_{0};
};

}  // namespace

std::shared_ptr<Device> create_cpu_device() { return std::make_shared<CpuDevice>(); }

}  // namespace framelane
