// Beside the frame's way: what devices whose memory is the host's have in common.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "pipeline/cpu_cores.h"
#include "pipeline/device.h"
#include "pipeline/host_queue.h"

namespace framelane {

/** Filters run their CPU twins; streams are threads with a queue, events are HostEvents.
 *  Thread: any. Owns: no stream; it knows the queues of those that live. */
class HostDevice : public Device {
 public:
  Backend backend() const override { return Backend::kCpu; }
  std::unique_ptr<Event> create_event() override { return std::make_unique<HostEvent>(); }
  std::unique_ptr<TimedEvent> create_timed_event() override { return std::make_unique<HostEvent>(); }
  MemoryBlock allocate(std::size_t bytes) override;
  MemoryBlock allocate_host(std::size_t bytes, HostMemory kind) override;
  /** Throws what failed on a stream. */
  void synchronize() override;

 protected:
  int threads() const { return threads_; }  ///< of this machine
  /** A queue of this device's, with a thread named after the order of creation. */
  std::shared_ptr<HostQueue> create_queue(HostQueue::Task prepare);
  /** How many threads each filter's loops use from now on. */
  static void set_filter_threads(int count);

 private:
  int threads_ = cpu_cores();
  std::mutex mutex_;
  int queues_created_ = 0;
  std::vector<std::weak_ptr<HostQueue>> queues_;
};

/** Copies `src.height` rows. */
void copy_rows(const PlaneView& dst, const PlaneView& src, std::size_t row_bytes);

}  // namespace framelane
