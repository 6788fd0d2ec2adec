#include "tests/plane_fixture_cuda.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/cuda/check.h"

namespace framelane::testing {
namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr std::byte kCanary{0xA5};

/** Owns: one block of device memory. */
class DeviceMemory {
 public:
  explicit DeviceMemory(std::span<const std::byte> host) : size_(host.size()) {
    FRAMELANE_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(size_, 1)));
    FRAMELANE_CUDA(cudaMemcpy(data_, host.data(), size_, cudaMemcpyHostToDevice));
  }
  DeviceMemory(DeviceMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory() { static_cast<void>(cudaFree(data_)); }

  std::byte* data() const { return data_; }
  void download(std::span<std::byte> host) const {
    FRAMELANE_CUDA(cudaMemcpy(host.data(), data_, host.size(), cudaMemcpyDeviceToHost));
  }
  std::vector<std::byte> download() const {
    std::vector<std::byte> host(size_);
    download(host);
    return host;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/** `bytes` of `content` with canaries after them. */
DeviceMemory guarded(std::size_t bytes, std::byte content) {
  std::vector<std::byte> host(bytes + kGuardBytes, kCanary);
  std::fill_n(host.begin(), bytes, content);
  return DeviceMemory(host);
}

bool guard_intact(const DeviceMemory& memory) {
  const std::vector<std::byte> host = memory.download();
  return std::all_of(host.end() - kGuardBytes, host.end(), [](std::byte b) { return b == kCanary; });
}

/** Owns: a stream that does not wait for the default stream, as the pipeline's do not. */
class Stream {
 public:
  Stream() { FRAMELANE_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

struct FrameMemory {
  DeviceMemory src;
  DeviceMemory dst;
  DeviceMemory scratch;
};

}  // namespace

int cuda_device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

void run_on_cuda(const CompiledFilter& filter, const std::vector<HostFrame>& frames, std::vector<HostFrame>& outputs) {
  const DeviceMemory state = guarded(filter.state_bytes(), std::byte{0});
  std::vector<FrameMemory> memory;
  for (std::size_t n = 0; n < frames.size(); ++n) {
    memory.push_back({DeviceMemory(frames[n].memory()), DeviceMemory(outputs[n].memory()),
                      guarded(filter.scratch_bytes(), kCanary)});
  }
  FRAMELANE_CUDA(cudaDeviceSynchronize());  // a pageable copy may still be on its way when cudaMemcpy returns

  const auto arguments = [&](std::size_t n) {
    return FilterArguments{outputs[n].view_at(memory[n].dst.data()), frames[n].view_at(memory[n].src.data()),
                           memory[n].scratch.data(), state.data(), static_cast<std::int64_t>(n)};
  };
  const Stream stream;
  for (std::size_t n = frames.size(); n-- > 0;) filter.run(arguments(n), stream.get());
  if (filter.has_ordered_pass()) {
    for (std::size_t n = 0; n < frames.size(); ++n) filter.run_ordered(arguments(n), stream.get());
  }
  FRAMELANE_CUDA(cudaStreamSynchronize(stream.get()));

  EXPECT_TRUE(guard_intact(state)) << "the kernel wrote beyond its state";
  for (std::size_t n = 0; n < frames.size(); ++n) {
    EXPECT_TRUE(guard_intact(memory[n].scratch)) << "the kernel wrote beyond its scratch";
    EXPECT_TRUE(std::ranges::equal(memory[n].src.download(), frames[n].memory())) << "the kernel wrote to its source";
    memory[n].dst.download(outputs[n].memory());
  }
}

}  // namespace framelane::testing
