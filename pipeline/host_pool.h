// Host memory that frames are decoded into and filtered frames land in, reused from frame to frame.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "pipeline/device.h"

struct AVBufferRef;
struct AVBufferPool;

namespace framelane {

/** Blocks of one size each, kept for reuse (libavutil's AVBufferPool, with the device's pinned memory behind it).
 *  Grows while more blocks are in flight than ever before; in steady state it allocates nothing. A block may outlive
 *  the pool's users: an encoder with frame threads keeps frames for a while.
 *  Thread: all calls may come from any thread. Owns: its blocks, through references. */
class HostPool {
 public:
  explicit HostPool(std::shared_ptr<Device> device);
  ~HostPool();
  HostPool(const HostPool&) = delete;
  HostPool& operator=(const HostPool&) = delete;

  /** A block of at least `bytes` of the current kind, 64-byte aligned. Throws DeviceError when memory is out. */
  AVBufferRef* get(std::size_t bytes);
  /** The kind of later blocks. Blocks already out keep theirs. */
  void set_kind(HostMemory kind) { kind_ = kind; }
  HostMemory kind() const { return kind_; }
  const Device& device() const { return *device_; }
  /** True when `buffer` came from a pool of pinned memory (of any HostPool of this device). */
  static bool is_pinned(const AVBufferRef& buffer);
  /** True when `buffer` came from a HostPool: one block that holds a whole frame. */
  static bool is_pooled(const AVBufferRef& buffer);

 private:
  struct Kind {
    AVBufferPool* pool = nullptr;
    const void* allocator = nullptr;  // belongs to `pool`
    std::size_t bytes = 0;
  };
  std::shared_ptr<Device> device_;
  std::atomic<HostMemory> kind_{HostMemory::kPinned};
  std::mutex mutex_;
  Kind kinds_[2];
};

}  // namespace framelane
