#include <cstdint>

#include "kernels/cuda/check.h"
#include "kernels/geometry/plane_copy.h"
#include "kernels/cuda/plane_tiles.cuh"

namespace framelane {
namespace {

// A warp moves 128 contiguous bytes of a row as 32 words, whatever the source's alignment; four rows a thread keep
// enough loads in flight. Bytes moved: each sample once in, once out.
constexpr int kThreadsX = 32;
constexpr int kThreadsY = 8;
constexpr int kRowsPerThread = 4;
constexpr int kTileRows = kThreadsY * kRowsPerThread;

struct PlaneJob {
  const std::byte* src;
  std::byte* dst;
  std::ptrdiff_t src_pitch_bytes;
  std::ptrdiff_t dst_pitch_bytes;
  int src_row_bytes;
  int width;
  int height;
  PlaneCopy copy;
  bool aligned;  // all rows of both planes start on a 4-byte boundary
};

struct FrameJob {
  PlaneJob planes[kMaxPlanes];
  PlaneTiles tiles;
};

template <typename Sample>
constexpr int kSamplesPerWord = static_cast<int>(4 / sizeof(Sample));

template <typename Sample>
__device__ std::uint32_t reverse_samples(std::uint32_t word) {
  return __byte_perm(word, 0, sizeof(Sample) == 1 ? 0x0123 : 0x1032);
}

/** Whether the aligned words around the word at `byte` lie inside the source row. */
__device__ bool word_is_readable(const PlaneJob& job, int byte) { return ((byte + 7) & ~3) <= job.src_row_bytes; }

/** Four bytes at any address, from two aligned words. */
__device__ std::uint32_t load_word(const std::byte* __restrict__ row, int byte) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(row + (byte & ~3));
  const int shift_bits = (byte & 3) * 8;
  const std::uint32_t low = __ldg(words);
  return shift_bits == 0 ? low : __funnelshift_r(low, __ldg(words + 1), shift_bits);
}

__device__ const std::byte* source_row(const PlaneJob& job, int y) {
  return job.src + (job.copy.origin_y + (job.copy.mirror_y ? -y : y)) * job.src_pitch_bytes;
}

/** Rows y, y + kThreadsY, … of the words at column x. */
template <typename Sample>
__device__ void copy_words(const PlaneJob& job, int x, int y, int byte) {
  std::uint32_t words[kRowsPerThread];
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const int row = min(y + i * kThreadsY, job.height - 1);
    words[i] = load_word(source_row(job, row), byte);
  }
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const int row = y + i * kThreadsY;
    if (row >= job.height) return;
    auto* dst = reinterpret_cast<Sample*>(job.dst + row * job.dst_pitch_bytes) + x;
    *reinterpret_cast<std::uint32_t*>(dst) = job.copy.mirror_x ? reverse_samples<Sample>(words[i]) : words[i];
  }
}

/** The same, sample by sample: row ends, and frames whose rows are not aligned. */
template <typename Sample>
__device__ void copy_samples(const PlaneJob& job, int x, int y) {
  const int end = min(x + kSamplesPerWord<Sample>, job.width);
  for (int row = y; row < min(y + kTileRows, job.height); row += kThreadsY) {
    const auto* src = reinterpret_cast<const Sample*>(source_row(job, row));
    auto* dst = reinterpret_cast<Sample*>(job.dst + row * job.dst_pitch_bytes);
    for (int i = x; i < end; ++i) dst[i] = src[job.copy.origin_x + (job.copy.mirror_x ? -i : i)];
  }
}

template <typename Sample>
__global__ void copy_kernel(const __grid_constant__ FrameJob frame) {
  const TilePlace tile = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& job = frame.planes[tile.plane];
  constexpr int kSamples = kSamplesPerWord<Sample>;
  const int x = (tile.x * kThreadsX + static_cast<int>(threadIdx.x)) * kSamples;
  const int y = tile.y * kTileRows + static_cast<int>(threadIdx.y);
  if (x >= job.width || y >= job.height) return;
  const int first_sample = job.copy.mirror_x ? job.copy.origin_x - x - (kSamples - 1) : job.copy.origin_x + x;
  const int byte = first_sample * static_cast<int>(sizeof(Sample));
  if (job.aligned && x + kSamples <= job.width && word_is_readable(job, byte)) {
    copy_words<Sample>(job, x, y, byte);
  } else {
    copy_samples<Sample>(job, x, y);
  }
}

bool is_aligned(const PlaneView& plane) {
  return reinterpret_cast<std::uintptr_t>(plane.data) % 4 == 0 && plane.pitch_bytes % 4 == 0;
}

class CudaFrameCopy final : public CompiledFilter {
 public:
  CudaFrameCopy(const FrameCopy& copy, const FrameFormat& output) : copy_(copy) {
    const int word_samples = 4 / output.pixel.bytes_per_sample();
    for (int plane = 0; plane < output.pixel.plane_count(); ++plane) {
      tiles_.add(output.plane_width(plane), output.plane_height(plane), kThreadsX * word_samples, kTileRows);
    }
  }

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    const PixelFormat& pixel = arguments.dst.format.pixel;
    FrameJob frame{{}, tiles_};
    for (int plane = 0; plane < tiles_.planes; ++plane) {
      const PlaneView& dst = arguments.dst.planes[plane];
      const PlaneView& src = arguments.src.planes[plane];
      frame.planes[plane] = {src.data,
                             dst.data,
                             src.pitch_bytes,
                             dst.pitch_bytes,
                             src.width * pixel.bytes_per_sample(),
                             dst.width,
                             dst.height,
                             copy_[plane],
                             is_aligned(src) && is_aligned(dst)};
    }
    const auto kernel = pixel.bytes_per_sample() == 1 ? copy_kernel<std::uint8_t> : copy_kernel<std::uint16_t>;
    kernel<<<tiles_.blocks, dim3(kThreadsX, kThreadsY), 0, stream>>>(frame);
    FRAMELANE_CUDA_LAUNCHED("copy_kernel");
  }

 private:
  FrameCopy copy_;
  PlaneTiles tiles_;
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_frame_copy_cuda(const FrameCopy& copy, const FrameFormat& output) {
  return std::make_unique<CudaFrameCopy>(copy, output);
}

}  // namespace framelane
