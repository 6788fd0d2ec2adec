// Where frames are filtered: a GPU, or the CPU in the same shape (a stream is a worker thread with a queue, an event
// a host event, copies are not needed because memory is shared), or the timing of a GPU on the CPU
// (device_simulated.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/filter.h"
#include "pipeline/mode.h"
#include "pipeline/recorder.h"

namespace framelane {

/** Whether a stream serves all frames (all work, or all copies one way), or those of one slot. */
enum class StreamRole : std::uint8_t { kAllSlots, kOneSlot };

enum class HostMemory : std::uint8_t { kPageable, kPinned };

/** Marks a point on a stream, for waiting.
 *  Thread: recorded by the submitter; waited for and queried by any. */
class Event {
 public:
  virtual ~Event() = default;
  /** Blocks the calling thread until the work before the mark is done; returns at once if never recorded.
   *  Throws DeviceError if that work failed. */
  virtual void wait() = 0;
};

/** Marks a point on a stream, with its time. */
class TimedEvent : public Event {
 public:
  /** When the mark was reached, on the host's steady clock; call after wait(). */
  virtual TimePoint time() = 0;
};

/** The work of one frame, captured once and launched as a whole: fewer calls to the driver.
 *  Thread: one at a time. Owns: the executable graph; buffers and events that were captured must outlive it. */
class WorkGraph {
 public:
  virtual ~WorkGraph() = default;
};

/** Work in order. Calls return at once unless they say otherwise. Buffers must outlive the work.
 *  Thread: one at a time. */
class Stream {
 public:
  virtual ~Stream() = default;
  /** Whole bytes, host to device or back. Host memory is pinned, except for copy_blocking(). */
  virtual void copy_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) = 0;
  virtual void copy_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) = 0;
  /** Copies rows of a plane within the device. */
  virtual void copy_plane(const PlaneView& dst, const PlaneView& src, std::size_t row_bytes) = 0;
  virtual void run(const CompiledFilter& filter, const FilterArguments& arguments) = 0;
  virtual void run_ordered(const CompiledFilter& filter, const FilterArguments& arguments) = 0;
  virtual void record(Event& event) = 0;
  /** Later work on this stream starts after `event`'s mark (as it is now) was reached. */
  virtual void wait_for(Event& event) = 0;
  /** Blocks until all work is done; throws DeviceError if some of it failed. */
  virtual void synchronize() = 0;
  /** Turns what `enqueue` puts on this stream into a graph instead of running it: at most one copy to the device and
   *  one back, filters and events; no waiting for events of other streams. `previous` is used up: a graph of the same
   *  shape is updated instead of built anew. Only where Device::has_graphs(). */
  virtual std::unique_ptr<WorkGraph> capture(const std::function<void()>& enqueue, std::unique_ptr<WorkGraph> previous);
  /** Runs `graph` on this stream; its copies are from `up` and to `down` this time, host memory of the same kind and
   *  size as was captured. */
  virtual void launch(WorkGraph& graph, const std::byte* up, std::byte* down);
  /** For tests: work that takes this long and does nothing; other streams' work runs beside it. */
  virtual void delay(std::chrono::microseconds duration) = 0;
  /** For `bench --shape`: a kernel that takes this long and leaves no room on the device for another (on the CPU: a
   *  core that is busy so long). */
  virtual void occupy(std::chrono::microseconds duration) = 0;
};

/** Waits for all work of a stream, whatever became of it: for destructors. */
void drain(Stream& stream) noexcept;

/** A block of host or device memory. Owns it; frees it when the last owner lets go. */
using MemoryBlock = std::shared_ptr<std::byte>;

/** How often memory was asked for since the device was created: constant in steady state. */
struct AllocationCounts {
  std::int64_t device = 0;
  std::int64_t pinned = 0;
  bool operator==(const AllocationCounts&) const = default;
};

/** Thread: all calls may come from any thread. Outlives its streams, events and memory (blocks hold a reference). */
class Device {
 public:
  virtual ~Device() = default;
  virtual Backend backend() const = 0;
  /** "NVIDIA H200 (cuda:0)", "CPU, 16 threads". */
  virtual std::string name() const = 0;
  /** True when kernels read and write host memory directly, so that frames need no copies. */
  virtual bool shares_host_memory() const = 0;
  /** Engines that copy beside kernels: 2 copy both ways at once. 0 where memory is shared. */
  virtual int copy_engines() const = 0;
  /** True where a Stream can capture() work. */
  virtual bool has_graphs() const { return false; }
  /** Slots that keep every engine busy where the user asks for no number. */
  virtual int default_slots() const = 0;

  virtual std::unique_ptr<Stream> create_stream(StreamRole role) = 0;
  virtual std::unique_ptr<Event> create_event() = 0;
  virtual std::unique_ptr<TimedEvent> create_timed_event() = 0;

  /** Device memory, 256-byte aligned, zero-filled. Throws DeviceError. */
  virtual MemoryBlock allocate(std::size_t bytes) = 0;
  /** Host memory, 64-byte aligned. Pinned memory is pageable on a device that shares host memory. */
  virtual MemoryBlock allocate_host(std::size_t bytes, HostMemory kind) = 0;
  AllocationCounts allocations() const { return {device_allocations_, pinned_allocations_}; }

  /** Makes this device the calling thread's; every pipeline thread that touches it calls this first. */
  virtual void use_in_this_thread() = 0;
  /** Blocks until all work on all streams is done: `sync` mode's wait after each stage. */
  virtual void synchronize() = 0;
  /** `sync` mode's blocking copies, from and to pageable memory. */
  virtual void copy_blocking_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) = 0;
  virtual void copy_blocking_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) = 0;
  /** Tells that frames are now filtered one at a time (filters use all cores) or several at once (one core each).
   *  Called while no work is in flight. */
  virtual void set_concurrent_frames(bool several) = 0;

 protected:
  std::atomic<std::int64_t> device_allocations_{0};
  std::atomic<std::int64_t> pinned_allocations_{0};
};

/** One line of `framelane devices`. */
struct DeviceDescription {
  std::string id;  ///< what --device takes: "cpu", "cuda:0"
  std::string name;
  std::string details;  ///< memory, compute capability, copy engines; cores
};
std::vector<DeviceDescription> list_devices();

/** Why there is no CUDA device to use ("no NVIDIA driver", "driver 470 is older than CUDA 13.0 needs", "built without
 *  CUDA"); empty when there is one. */
std::string cuda_unavailable_reason();

/** `choice`: "auto" (CUDA where there is one, else the CPU), "cpu", "cuda" or "cuda:N". Throws DeviceError with the
 *  cause, UsageError for another word. */
std::shared_ptr<Device> create_device(const std::string& choice);

std::shared_ptr<Device> create_cpu_device();
/** Only in a build with CUDA. */
std::shared_ptr<Device> create_cuda_device(int ordinal);
std::vector<DeviceDescription> list_cuda_devices();

}  // namespace framelane
