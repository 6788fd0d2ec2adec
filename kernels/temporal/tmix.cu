#include "kernels/cuda/check.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/plane_tiles.cuh"
#include "kernels/plane_mask.h"
#include "kernels/temporal/tmix.h"

namespace framelane {
namespace {

// A thread mixes 16 bytes of a row, its sums in registers; a warp reads 512 contiguous bytes of each frame. The ring is
// aligned for that, the frames around it need not be. Bytes moved a sample: one in and one out, one into the ring, and
// one from each of the `frames - 1` slots.
constexpr int kThreadsX = 32;
constexpr int kThreadsY = 4;
constexpr int kChunkBytes = 16;

template <typename Sample>
constexpr int kSamples = static_cast<int>(kChunkBytes / sizeof(Sample));

struct PlaneJob {
  const std::byte* src;
  std::byte* dst;
  std::byte* ring;  // the plane in slot 0
  std::ptrdiff_t src_pitch_bytes;
  std::ptrdiff_t dst_pitch_bytes;
  std::ptrdiff_t ring_pitch_bytes;
  int width;
  int height;
  bool aligned;  // all rows of src and dst start on a 16-byte boundary
};

struct FrameJob {
  PlaneJob planes[kMaxPlanes];
  PlaneTiles tiles;
  TmixWindow window;
  const float* weights;
  int frames;
  std::size_t slot_bytes;
  float scale;
  int max_code;
};

/** 16 bytes of samples, in registers. */
template <typename Sample>
struct Chunk {
  std::uint32_t words[4] = {};

  static constexpr int kPerWord = static_cast<int>(4 / sizeof(Sample));
  static constexpr int kBits = static_cast<int>(8 * sizeof(Sample));

  __device__ int sample(int i) const {
    return static_cast<int>((words[i / kPerWord] >> (i % kPerWord * kBits)) & ((1U << kBits) - 1));
  }
  /** Sets a sample that is still 0. */
  __device__ void set(int i, int code) {
    words[i / kPerWord] |= static_cast<std::uint32_t>(code) << (i % kPerWord * kBits);
  }
};

template <typename Sample>
__device__ Chunk<Sample> load_aligned(const std::byte* from) {
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  return {{words.x, words.y, words.z, words.w}};
}

template <typename Sample>
__device__ void store_aligned(std::byte* to, const Chunk<Sample>& chunk) {
  *reinterpret_cast<uint4*>(to) = make_uint4(chunk.words[0], chunk.words[1], chunk.words[2], chunk.words[3]);
}

/** `count` samples from any address, zeros behind them. */
template <typename Sample>
__device__ Chunk<Sample> load_samples(const std::byte* from, int count) {
  Chunk<Sample> chunk;
#pragma unroll
  for (int i = 0; i < kSamples<Sample>; ++i) {
    if (i < count) chunk.set(i, reinterpret_cast<const Sample*>(from)[i]);
  }
  return chunk;
}

template <typename Sample>
__device__ void store_samples(std::byte* to, const Chunk<Sample>& chunk, int count) {
#pragma unroll
  for (int i = 0; i < kSamples<Sample>; ++i) {
    if (i < count) reinterpret_cast<Sample*>(to)[i] = static_cast<Sample>(chunk.sample(i));
  }
}

/** Sum and product each rounded, as on the CPU: no fused multiply-add, which would round once. */
template <typename Sample>
__device__ void add_weighted(float (&sums)[kSamples<Sample>], const Chunk<Sample>& chunk, float weight) {
#pragma unroll
  for (int i = 0; i < kSamples<Sample>; ++i) {
    sums[i] = __fadd_rn(sums[i], __fmul_rn(static_cast<float>(chunk.sample(i)), weight));
  }
}

template <typename Sample>
__device__ Chunk<Sample> rounded(const float (&sums)[kSamples<Sample>], float scale, int max_code) {
  Chunk<Sample> chunk;
#pragma unroll
  for (int i = 0; i < kSamples<Sample>; ++i) {
    chunk.set(i, min(max(__float2int_rn(__fmul_rn(sums[i], scale)), 0), max_code));
  }
  return chunk;
}

template <typename Sample>
__global__ void mix_kernel(const __grid_constant__ FrameJob frame) {
  const TilePlace tile = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& job = frame.planes[tile.plane];
  const int x = (tile.x * kThreadsX + static_cast<int>(threadIdx.x)) * kSamples<Sample>;
  const int y = tile.y * kThreadsY + static_cast<int>(threadIdx.y);
  if (x >= job.width || y >= job.height) return;
  const int count = min(kSamples<Sample>, job.width - x);
  const bool vector_access = job.aligned && count == kSamples<Sample>;
  const std::ptrdiff_t x_bytes = static_cast<std::ptrdiff_t>(x) * static_cast<std::ptrdiff_t>(sizeof(Sample));
  const std::byte* src = job.src + y * job.src_pitch_bytes + x_bytes;
  std::byte* dst = job.dst + y * job.dst_pitch_bytes + x_bytes;
  std::byte* ring = job.ring + y * job.ring_pitch_bytes + x_bytes;

  const Chunk<Sample> newest = vector_access ? load_aligned<Sample>(src) : load_samples<Sample>(src, count);
  // Before the slots are read: frame 0 finds itself in its predecessors' place.
  store_aligned(ring + static_cast<std::size_t>(frame.window.newest_slot) * frame.slot_bytes, newest);

  float sums[kSamples<Sample>] = {};
  int slot = frame.window.oldest_slot;
#pragma unroll 4
  for (int k = 0; k < frame.frames - 1; ++k) {
    add_weighted(sums, load_aligned<Sample>(ring + static_cast<std::size_t>(slot) * frame.slot_bytes),
                 __ldg(frame.weights + k));
    if (k >= frame.window.repeats) slot = slot + 1 == frame.frames ? 0 : slot + 1;
  }
  add_weighted(sums, newest, __ldg(frame.weights + frame.frames - 1));

  const Chunk<Sample> mixed = rounded<Sample>(sums, frame.scale, frame.max_code);
  vector_access ? store_aligned(dst, mixed) : store_samples(dst, mixed, count);
}

bool is_aligned(const PlaneView& plane) {
  return reinterpret_cast<std::uintptr_t>(plane.data) % kChunkBytes == 0 && plane.pitch_bytes % kChunkBytes == 0;
}

class CudaTmix final : public CompiledFilter {
 public:
  CudaTmix(const TmixWeights& weights, const FrameFormat& format)
      : format_(format),
        ring_(tmix_ring(format, weights.planes)),
        planes_(weights.planes),
        frames_(static_cast<int>(weights.weights.size())),
        scale_(weights.scale),
        weights_(std::span<const float>(weights.weights)) {
    for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
      if (!selected(plane)) continue;
      tiles_.add(format.plane_width(plane), format.plane_height(plane),
                 kThreadsX * kChunkBytes / format.pixel.bytes_per_sample(), kThreadsY);
    }
  }

  std::size_t state_bytes() const override { return ring_.slot_bytes * static_cast<std::size_t>(frames_); }
  bool has_ordered_pass() const override { return ring_.slot_bytes != 0; }

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    for (int plane = 0; plane < format_.pixel.plane_count(); ++plane) {
      if (selected(plane)) continue;
      const PlaneView& dst = arguments.dst.planes[plane];
      const PlaneView& src = arguments.src.planes[plane];
      FRAMELANE_CUDA(cudaMemcpy2DAsync(dst.data, static_cast<std::size_t>(dst.pitch_bytes), src.data,
                                       static_cast<std::size_t>(src.pitch_bytes), format_.row_bytes(plane),
                                       static_cast<std::size_t>(dst.height), cudaMemcpyDeviceToDevice, stream));
    }
  }

  void run_ordered(const FilterArguments& arguments, CUstream_st* stream) const override {
    FrameJob frame{{},
                   tiles_,
                   TmixWindow(arguments.frame_index, frames_),
                   weights_.data(),
                   frames_,
                   ring_.slot_bytes,
                   scale_,
                   format_.pixel.max_code()};
    int jobs = 0;
    for (int plane = 0; plane < format_.pixel.plane_count(); ++plane) {
      if (!selected(plane)) continue;
      const PlaneView& dst = arguments.dst.planes[plane];
      const PlaneView& src = arguments.src.planes[plane];
      frame.planes[jobs++] = {src.data,        dst.data,        arguments.state + ring_.offset[plane],
                              src.pitch_bytes, dst.pitch_bytes, ring_.pitch_bytes[plane],
                              dst.width,       dst.height,      is_aligned(src) && is_aligned(dst)};
    }
    const auto kernel = format_.pixel.bytes_per_sample() == 1 ? mix_kernel<std::uint8_t> : mix_kernel<std::uint16_t>;
    kernel<<<tiles_.blocks, dim3(kThreadsX, kThreadsY), 0, stream>>>(frame);
    FRAMELANE_CUDA_LAUNCHED("mix_kernel");
  }

 private:
  bool selected(int plane) const { return mask_selects(planes_, format_.pixel, plane); }

  FrameFormat format_;
  TmixRing ring_;
  PlaneTiles tiles_;
  int planes_;
  int frames_;
  float scale_;
  DeviceBuffer<float> weights_;
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_tmix_cuda(const TmixWeights& weights, const FrameFormat& format) {
  return std::make_unique<CudaTmix>(weights, format);
}

}  // namespace framelane
