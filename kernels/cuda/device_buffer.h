// Device memory for a compiled filter's weights and tables.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "kernels/cuda/check.h"

namespace framelane {

/** An array in device memory, filled once. Owns: the memory. Move-only. */
template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /** Allocates and copies `host` (blocking). */
  explicit DeviceBuffer(std::span<const T> host) : size_(host.size()) {
    if (size_ == 0) return;
    FRAMELANE_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), host.size_bytes()));
    FRAMELANE_CUDA(cudaMemcpy(data_, host.data(), host.size_bytes(), cudaMemcpyHostToDevice));
    // From pageable memory cudaMemcpy may return before the last bytes have arrived, and our streams do not wait.
    FRAMELANE_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceBuffer() { static_cast<void>(cudaFree(data_)); }

  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace framelane
