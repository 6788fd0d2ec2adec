#include "kernels/geometry/transpose.h"

#include <cstdint>

#include "kernels/cuda/check.h"
#include "kernels/cuda/plane_tiles.cuh"

namespace framelane {
namespace {

// A block turns a tile of 64x64 bytes or 32x32 words of 16 bits: 16x16 threads, each with a square of samples (4x4 or
// 2x2) that it loads as words, turns in registers and puts into shared memory as words of output rows. Global reads
// and writes are 64-byte runs of whole words. The pad of one word spreads a column of words over the banks. Bytes
// moved: each sample once in, once out.
constexpr int kThreads = 16;  // per side
constexpr int kPaddedWords = kThreads + 1;

template <typename Sample>
constexpr int kSide = static_cast<int>(4 / sizeof(Sample));  // samples per word, and of a thread's square
template <typename Sample>
constexpr int kTile = kThreads* kSide<Sample>;

struct PlaneJob {
  const std::byte* src;
  std::byte* dst;
  std::ptrdiff_t src_pitch_bytes;
  std::ptrdiff_t dst_pitch_bytes;
  int dst_width;     // the source's height
  int dst_height;    // the source's width
  bool src_aligned;  // all rows start on a 4-byte boundary
  bool dst_aligned;
};

struct FrameJob {
  PlaneJob planes[kMaxPlanes];
  PlaneTiles tiles;
  Transposition transposition;
};

/** Samples x to x + kSide - 1 of a row, zeros beyond `width`. */
template <typename Sample>
__device__ std::uint32_t load_word(const std::byte* __restrict__ row, int x, int width, bool aligned) {
  const auto* samples = reinterpret_cast<const Sample*>(row);
  if (aligned && x + kSide<Sample> <= width) return *reinterpret_cast<const std::uint32_t*>(samples + x);
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < kSide<Sample>; ++i) {
    if (x + i < width) word |= std::uint32_t{samples[x + i]} << (8 * sizeof(Sample) * i);
  }
  return word;
}

template <typename Sample>
__device__ void store_word(std::byte* __restrict__ row, int x, int width, bool aligned, std::uint32_t word) {
  auto* samples = reinterpret_cast<Sample*>(row);
  if (aligned && x + kSide<Sample> <= width) {
    *reinterpret_cast<std::uint32_t*>(samples + x) = word;
    return;
  }
#pragma unroll
  for (int i = 0; i < kSide<Sample>; ++i) {
    if (x + i < width) samples[x + i] = static_cast<Sample>(word >> (8 * sizeof(Sample) * i));
  }
}

/** Turns a square of samples: word i, sample j becomes word j, sample i. */
__device__ void turn_square(std::uint32_t (&words)[2]) {
  const std::uint32_t first = __byte_perm(words[0], words[1], 0x5410);
  words[1] = __byte_perm(words[0], words[1], 0x7632);
  words[0] = first;
}

__device__ void turn_square(std::uint32_t (&words)[4]) {
  const std::uint32_t low01 = __byte_perm(words[0], words[1], 0x5140);  // samples 0 and 1 of words 0 and 1, paired
  const std::uint32_t low23 = __byte_perm(words[2], words[3], 0x5140);
  const std::uint32_t high01 = __byte_perm(words[0], words[1], 0x7362);
  const std::uint32_t high23 = __byte_perm(words[2], words[3], 0x7362);
  words[0] = __byte_perm(low01, low23, 0x5410);
  words[1] = __byte_perm(low01, low23, 0x7632);
  words[2] = __byte_perm(high01, high23, 0x5410);
  words[3] = __byte_perm(high01, high23, 0x7632);
}

/** Coordinates are those of the plain transposition; flips only choose which row is touched. */
template <typename Sample>
__device__ void load_square(std::uint32_t (&words)[kSide<Sample>], const PlaneJob& job, bool flip, int x, int y) {
#pragma unroll
  for (int i = 0; i < kSide<Sample>; ++i) {
    const int row = y + i;
    words[i] = 0;
    if (row >= job.dst_width) continue;
    const std::byte* src = job.src + (flip ? job.dst_width - 1 - row : row) * job.src_pitch_bytes;
    words[i] = load_word<Sample>(src, x, job.dst_height, job.src_aligned);
  }
}

template <typename Sample>
__global__ void transpose_kernel(const __grid_constant__ FrameJob frame) {
  constexpr int kSideOf = kSide<Sample>;
  __shared__ std::uint32_t tile[kTile<Sample>][kPaddedWords];  // [output row][word of it]
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& job = frame.planes[place.plane];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int dst_x = place.x * kTile<Sample>;  // also the source's first row
  const int dst_y = place.y * kTile<Sample>;  // also the source's first column

  std::uint32_t words[kSideOf];
  load_square<Sample>(words, job, frame.transposition.flip_src_rows, dst_y + tx * kSideOf, dst_x + ty * kSideOf);
  turn_square(words);
#pragma unroll
  for (int i = 0; i < kSideOf; ++i) tile[tx * kSideOf + i][ty] = words[i];
  __syncthreads();

#pragma unroll
  for (int i = 0; i < kSideOf; ++i) {
    const int tile_row = ty + i * kThreads;
    const int row = dst_y + tile_row;
    if (row >= job.dst_height) return;
    std::byte* dst =
        job.dst + (frame.transposition.flip_dst_rows ? job.dst_height - 1 - row : row) * job.dst_pitch_bytes;
    store_word<Sample>(dst, dst_x + tx * kSideOf, job.dst_width, job.dst_aligned, tile[tile_row][tx]);
  }
}

bool is_aligned(const PlaneView& plane) {
  return reinterpret_cast<std::uintptr_t>(plane.data) % 4 == 0 && plane.pitch_bytes % 4 == 0;
}

class CudaTranspose final : public CompiledFilter {
 public:
  CudaTranspose(const Transposition& transposition, const FrameFormat& output) : transposition_(transposition) {
    const int tile = kThreads * 4 / output.pixel.bytes_per_sample();
    for (int plane = 0; plane < output.pixel.plane_count(); ++plane) {
      tiles_.add(output.plane_width(plane), output.plane_height(plane), tile, tile);
    }
  }

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    FrameJob frame{{}, tiles_, transposition_};
    for (int plane = 0; plane < tiles_.planes; ++plane) {
      const PlaneView& dst = arguments.dst.planes[plane];
      const PlaneView& src = arguments.src.planes[plane];
      frame.planes[plane] = {src.data,  dst.data,   src.pitch_bytes, dst.pitch_bytes,
                             dst.width, dst.height, is_aligned(src), is_aligned(dst)};
    }
    const bool bytes = arguments.dst.format.pixel.bytes_per_sample() == 1;
    const auto kernel = bytes ? transpose_kernel<std::uint8_t> : transpose_kernel<std::uint16_t>;
    kernel<<<tiles_.blocks, dim3(kThreads, kThreads), 0, stream>>>(frame);
    FRAMELANE_CUDA_LAUNCHED("transpose_kernel");
  }

 private:
  Transposition transposition_;
  PlaneTiles tiles_;
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_transpose_cuda(const Transposition& transposition, const FrameFormat& output) {
  return std::make_unique<CudaTranspose>(transposition, output);
}

}  // namespace framelane
