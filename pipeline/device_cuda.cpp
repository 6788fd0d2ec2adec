// Beside the frame's way: a GPU as a device, by the CUDA runtime.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "kernels/cuda/check.h"
#include "kernels/cuda/delay.h"
#include "kernels/errors.h"
#include "pipeline/cuda_graph.h"
#include "pipeline/device.h"

namespace framelane {
namespace {

constexpr std::size_t kHostAlignment = 64;

/** Owns a stream that does not synchronise with the default stream. */
class StreamHandle {
 public:
  StreamHandle() { FRAMELANE_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~StreamHandle() { static_cast<void>(cudaStreamDestroy(stream_)); }
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/** Owns an event. */
class EventHandle {
 public:
  explicit EventHandle(unsigned flags) { FRAMELANE_CUDA(cudaEventCreateWithFlags(&event_, flags)); }
  ~EventHandle() { static_cast<void>(cudaEventDestroy(event_)); }
  EventHandle(const EventHandle&) = delete;
  EventHandle& operator=(const EventHandle&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/** Puts events on the host's time axis: an event whose host time is known, and the distance of others from it.
 *  Distances are floats of milliseconds (1 µs at 10 s), so the anchor is set anew every few seconds.
 *  Thread: any. */
class EventClock {
 public:
  EventClock() { set_anchor(); }

  TimePoint time_of(cudaEvent_t event) {
    const std::scoped_lock lock(mutex_);
    if (Clock::now() - anchored_at_ > kAnchorAge) set_anchor();
    float distance_ms = 0;
    FRAMELANE_CUDA(cudaEventElapsedTime(&distance_ms, anchor_, event));
    return anchored_at_ + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double, std::milli>(static_cast<double>(distance_ms)));
  }

 private:
  static constexpr std::chrono::seconds kAnchorAge{4};

  /** Takes the shortest of a few round trips: it knows the host's time best. */
  void set_anchor() {
    Clock::duration shortest = Clock::duration::max();
    for (EventHandle& candidate : candidates_) {
      const TimePoint before = Clock::now();
      FRAMELANE_CUDA(cudaEventRecord(candidate.get(), stream_.get()));
      FRAMELANE_CUDA(cudaEventSynchronize(candidate.get()));
      const Clock::duration round_trip = Clock::now() - before;
      if (round_trip >= shortest) continue;
      shortest = round_trip;
      anchor_ = candidate.get();
      anchored_at_ = before + round_trip / 2;
    }
  }

  std::mutex mutex_;
  StreamHandle stream_;
  std::array<EventHandle, 3> candidates_{EventHandle{cudaEventDefault}, EventHandle{cudaEventDefault},
                                         EventHandle{cudaEventDefault}};
  cudaEvent_t anchor_ = nullptr;  // one of the candidates
  TimePoint anchored_at_;
};

/** The CUDA event behind an Event of either type. */
struct CudaEventBase {
  explicit CudaEventBase(unsigned flags) : handle(flags) {}

  /** Looks, and sleeps between two looks: the cores belong to the decoder. An event with cudaEventBlockingSync would
   *  have the GPU raise an interrupt whenever it is reached, waited for or not, and its streams stop for that (1080p on
   *  an H200: 0.10 ms a frame instead of 0.07). */
  void wait_on_host() const {
    using std::chrono::microseconds;
    const TimePoint begin = Clock::now();
    while (true) {
      const cudaError_t status = cudaEventQuery(handle.get());
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) check_cuda(status, "cudaEventQuery");
      std::this_thread::sleep_for(
          std::clamp<Clock::duration>((Clock::now() - begin) / 8, microseconds(5), microseconds(200)));
    }
  }

  EventHandle handle;
};

class CudaEvent : public Event, public CudaEventBase {
 public:
  CudaEvent() : CudaEventBase(cudaEventDisableTiming) {}
  void wait() override { wait_on_host(); }
};

class CudaTimedEvent : public TimedEvent, public CudaEventBase {
 public:
  explicit CudaTimedEvent(std::shared_ptr<EventClock> clock)
      : CudaEventBase(cudaEventDefault), clock_(std::move(clock)) {}
  void wait() override { wait_on_host(); }
  TimePoint time() override { return clock_->time_of(handle.get()); }

 private:
  std::shared_ptr<EventClock> clock_;
};

class CudaStream : public Stream {
 public:
  void copy_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    FRAMELANE_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, handle_.get()));
    if (capturing_) captured_up_ = {dst, bytes};
  }
  void copy_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    FRAMELANE_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, handle_.get()));
    if (capturing_) captured_down_ = {const_cast<std::byte*>(src), bytes};
  }
  void copy_plane(const PlaneView& dst, const PlaneView& src, std::size_t row_bytes) override {
    FRAMELANE_CUDA(cudaMemcpy2DAsync(dst.data, static_cast<std::size_t>(dst.pitch_bytes), src.data,
                                     static_cast<std::size_t>(src.pitch_bytes), row_bytes,
                                     static_cast<std::size_t>(src.height), cudaMemcpyDeviceToDevice, handle_.get()));
  }
  void run(const CompiledFilter& filter, const FilterArguments& arguments) override {
    filter.run(arguments, handle_.get());
  }
  void run_ordered(const CompiledFilter& filter, const FilterArguments& arguments) override {
    filter.run_ordered(arguments, handle_.get());
  }
  void record(Event& event) override {
    // Within a capture an event would else only order the graph's nodes, and hold no time.
    const unsigned flags = capturing_ ? cudaEventRecordExternal : cudaEventRecordDefault;
    FRAMELANE_CUDA(cudaEventRecordWithFlags(dynamic_cast<CudaEventBase&>(event).handle.get(), handle_.get(), flags));
  }
  void wait_for(Event& event) override {
    FRAMELANE_CUDA(cudaStreamWaitEvent(handle_.get(), dynamic_cast<CudaEventBase&>(event).handle.get(), 0));
  }
  void synchronize() override { FRAMELANE_CUDA(cudaStreamSynchronize(handle_.get())); }
  std::unique_ptr<WorkGraph> capture(const std::function<void()>& enqueue,
                                     std::unique_ptr<WorkGraph> previous) override {
    cudaGraph_t graph = record_graph(enqueue);
    if (previous) {
      const GraphHandle description(graph);
      if (static_cast<CudaGraph&>(*previous).update(description, captured_up_, captured_down_)) return previous;
      graph = record_graph(enqueue);
    }
    return std::make_unique<CudaGraph>(graph, captured_up_, captured_down_);
  }
  void launch(WorkGraph& graph, const std::byte* up, std::byte* down) override {
    static_cast<CudaGraph&>(graph).launch(up, down, handle_.get());
  }
  void delay(std::chrono::microseconds duration) override { enqueue_delay(duration, handle_.get()); }
  void occupy(std::chrono::microseconds duration) override { enqueue_occupation(duration, handle_.get()); }

 private:
  cudaGraph_t record_graph(const std::function<void()>& enqueue) {
    captured_up_ = captured_down_ = {};
    // Other threads allocate and copy meanwhile: only this one's calls belong to the capture.
    FRAMELANE_CUDA(cudaStreamBeginCapture(handle_.get(), cudaStreamCaptureModeThreadLocal));
    capturing_ = true;
    cudaGraph_t graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      capturing_ = false;
      static_cast<void>(cudaStreamEndCapture(handle_.get(), &graph));
      if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
      throw;
    }
    capturing_ = false;
    FRAMELANE_CUDA(cudaStreamEndCapture(handle_.get(), &graph));
    return graph;
  }

  StreamHandle handle_;
  bool capturing_ = false;
  CapturedCopy captured_up_;
  CapturedCopy captured_down_;
};

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int ordinal) : ordinal_(ordinal) {
    FRAMELANE_CUDA(cudaSetDevice(ordinal));
    FRAMELANE_CUDA(cudaGetDeviceProperties(&properties_, ordinal));
    clock_ = std::make_shared<EventClock>();
  }

  Backend backend() const override { return Backend::kCuda; }
  std::string name() const override { return fmt::format("{} (cuda:{})", properties_.name, ordinal_); }
  bool shares_host_memory() const override { return false; }
  int copy_engines() const override { return properties_.asyncEngineCount; }
  bool has_graphs() const override { return true; }
  /** One frame in each engine (copy up, kernels, copy down), one that the decoder fills, one that the encoder reads,
   *  and one of slack for uneven frames. */
  int default_slots() const override { return 6; }

  std::unique_ptr<Stream> create_stream(StreamRole) override { return std::make_unique<CudaStream>(); }
  std::unique_ptr<Event> create_event() override { return std::make_unique<CudaEvent>(); }
  std::unique_ptr<TimedEvent> create_timed_event() override { return std::make_unique<CudaTimedEvent>(clock_); }

  MemoryBlock allocate(std::size_t bytes) override {
    ++device_allocations_;
    use_in_this_thread();
    void* data = nullptr;
    FRAMELANE_CUDA(cudaMalloc(&data, bytes));
    MemoryBlock block(static_cast<std::byte*>(data), [](std::byte* memory) { static_cast<void>(cudaFree(memory)); });
    FRAMELANE_CUDA(cudaMemset(data, 0, bytes));
    FRAMELANE_CUDA(cudaDeviceSynchronize());
    return block;
  }

  MemoryBlock allocate_host(std::size_t bytes, HostMemory kind) override {
    if (kind == HostMemory::kPageable) return allocate_pageable(bytes);
    ++pinned_allocations_;
    use_in_this_thread();  // a codec's own thread would open a context on the first GPU instead
    void* data = nullptr;
    FRAMELANE_CUDA(cudaHostAlloc(&data, bytes, cudaHostAllocPortable));
    return {static_cast<std::byte*>(data), [](std::byte* memory) { static_cast<void>(cudaFreeHost(memory)); }};
  }

  void use_in_this_thread() override {
    FRAMELANE_CUDA(cudaSetDevice(ordinal_));
    prctl(PR_SET_TIMERSLACK, 1UL);  // ns: waits for events sleep for microseconds, not for Linux's usual 50 more
  }
  void synchronize() override { FRAMELANE_CUDA(cudaDeviceSynchronize()); }
  void copy_blocking_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    FRAMELANE_CUDA(cudaMemcpy(dst, src, bytes, cudaMemcpyHostToDevice));
    // From pageable memory cudaMemcpy may return before the last bytes have arrived, and our streams do not wait.
    FRAMELANE_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  }
  void copy_blocking_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    FRAMELANE_CUDA(cudaMemcpy(dst, src, bytes, cudaMemcpyDeviceToHost));
  }
  void set_concurrent_frames(bool) override {}

 private:
  static MemoryBlock allocate_pageable(std::size_t bytes) {
    const std::size_t rounded = (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
    auto* data = static_cast<std::byte*>(std::aligned_alloc(kHostAlignment, rounded));
    if (data == nullptr) throw DeviceError(fmt::format("out of memory: {} bytes for a frame", bytes));
    return {data, [](std::byte* memory) { std::free(memory); }};
  }

  int ordinal_;
  cudaDeviceProp properties_{};
  std::shared_ptr<EventClock> clock_;
};

int driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace

std::string cuda_unavailable_reason() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {};
  static_cast<void>(cudaGetLastError());
  if (driver_version() == 0) return "no NVIDIA driver on this machine";
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format("the NVIDIA driver supports CUDA {}, this build needs {}", version_text(driver_version()),
                       version_text(CUDART_VERSION));
  }
  if (status == cudaErrorNoDevice || status == cudaSuccess)
    return "no NVIDIA GPU is visible (see CUDA_VISIBLE_DEVICES)";
  return cudaGetErrorString(status);
}

std::shared_ptr<Device> create_cuda_device(int ordinal) {
  int count = 0;
  FRAMELANE_CUDA(cudaGetDeviceCount(&count));
  if (ordinal >= count) {
    throw DeviceError(
        fmt::format("no device cuda:{}: this machine shows {} (see 'framelane devices')", ordinal, count));
  }
  return std::make_shared<CudaDevice>(ordinal);
}

std::vector<DeviceDescription> list_cuda_devices() {
  std::vector<DeviceDescription> devices;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    FRAMELANE_CUDA(cudaGetDeviceProperties(&properties, ordinal));
    devices.push_back(
        {fmt::format("cuda:{}", ordinal), properties.name,
         fmt::format("compute capability {}.{}, {:.1f} GiB, {} multiprocessors, {} copy engines", properties.major,
                     properties.minor, static_cast<double>(properties.totalGlobalMem) / (1 << 30),
                     properties.multiProcessorCount, properties.asyncEngineCount)});
  }
  return devices;
}

}  // namespace framelane
