// decode > ring > submit > encode: the memory that frames lie in at both ends.
#include "pipeline/host_pool.h"

#include <algorithm>
#include <new>
#include <unordered_map>

extern "C" {
#include <libavutil/buffer.h>
}

namespace framelane {
namespace {

/** Which blocks are out there. Frames come back from codecs as plain AVBufferRefs; their address tells whose they
 *  are. */
class BlockRegistry {
 public:
  static BlockRegistry& instance() {
    static BlockRegistry registry;
    return registry;
  }
  void add(const void* data, HostMemory kind) {
    const std::scoped_lock lock(mutex_);
    kinds_.insert_or_assign(data, kind);
  }
  void remove(const void* data) {
    const std::scoped_lock lock(mutex_);
    kinds_.erase(data);
  }
  bool contains(const void* data) {
    const std::scoped_lock lock(mutex_);
    return kinds_.contains(data);
  }
  bool is_pinned(const void* data) {
    const std::scoped_lock lock(mutex_);
    const auto found = kinds_.find(data);
    return found != kinds_.end() && found->second == HostMemory::kPinned;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, HostMemory> kinds_;
};

/** What an AVBufferPool needs to make blocks, and to tell an error through C. */
struct Allocator {
  std::shared_ptr<Device> device;
  HostMemory kind;
  std::exception_ptr failure;
};

void release_block(void* opaque, std::uint8_t* data) {
  BlockRegistry::instance().remove(data);
  delete static_cast<MemoryBlock*>(opaque);
}

AVBufferRef* allocate_block(void* opaque, std::size_t bytes) {
  auto& allocator = *static_cast<Allocator*>(opaque);
  try {
    auto block = std::make_unique<MemoryBlock>(allocator.device->allocate_host(bytes, allocator.kind));
    auto* data = reinterpret_cast<std::uint8_t*>(block->get());
    AVBufferRef* buffer = av_buffer_create(data, bytes, release_block, block.get(), 0);
    if (buffer == nullptr) return nullptr;
    block.release();
    BlockRegistry::instance().add(data, allocator.kind);
    return buffer;
  } catch (...) {
    allocator.failure = std::current_exception();
    return nullptr;
  }
}

void free_allocator(void* opaque) { delete static_cast<Allocator*>(opaque); }

}  // namespace

HostPool::HostPool(std::shared_ptr<Device> device) : device_(std::move(device)) {}

HostPool::~HostPool() {
  for (Kind& kind : kinds_) av_buffer_pool_uninit(&kind.pool);
}

AVBufferRef* HostPool::get(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const HostMemory memory = kind_;
  Kind& kind = kinds_[static_cast<std::size_t>(memory)];
  if (kind.pool == nullptr || kind.bytes < bytes) {
    av_buffer_pool_uninit(&kind.pool);
    auto allocator = std::make_unique<Allocator>(Allocator{device_, memory, nullptr});
    kind.allocator = allocator.get();
    kind.pool = av_buffer_pool_init2(bytes, allocator.get(), allocate_block, free_allocator);
    if (kind.pool == nullptr) throw std::bad_alloc();
    allocator.release();
    kind.bytes = bytes;
  }
  if (AVBufferRef* buffer = av_buffer_pool_get(kind.pool)) return buffer;
  const auto* allocator = static_cast<const Allocator*>(kind.allocator);
  if (allocator->failure) std::rethrow_exception(allocator->failure);
  throw std::bad_alloc();
}

bool HostPool::is_pinned(const AVBufferRef& buffer) { return BlockRegistry::instance().is_pinned(buffer.data); }
bool HostPool::is_pooled(const AVBufferRef& buffer) { return BlockRegistry::instance().contains(buffer.data); }

}  // namespace framelane
