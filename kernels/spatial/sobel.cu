#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/check.h"
#include "kernels/cuda/plane_tiles.cuh"
#include "kernels/plane_mask.h"
#include "kernels/spatial/border.cuh"
#include "kernels/spatial/sobel.h"

namespace framelane {
namespace {

// A thread walks down kRows rows of kColumns neighbouring samples, one word (4 bytes, or 8 at 16 bits) a row, and keeps
// the last rows' differences in registers: each row is loaded once for three rows of outputs. A warp is 128 columns
// wide; the two samples beside a thread's word come from L1. Bytes moved: each sample once in, once out; 2 rows in 10
// are read by two blocks, from L2 the second time.
constexpr int kColumns = 4;
constexpr int kRows = 8;
constexpr int kThreadsX = 32;
constexpr int kThreadsY = 8;

struct PlaneJob {
  const std::byte* src;
  std::byte* dst;
  std::ptrdiff_t src_pitch_bytes;
  std::ptrdiff_t dst_pitch_bytes;
  int width;
  int height;
  bool selected;
  bool src_aligned;  // all rows start on a word boundary
  bool dst_aligned;
};

struct FrameJob {
  PlaneJob planes[kMaxPlanes];
  PlaneTiles tiles;
  float scale;
  float delta;
  float max_code;
};

template <typename Sample>
struct alignas(kColumns * sizeof(Sample)) Word {
  Sample sample[kColumns];
};

/** A row's difference across and sum along each column's three samples: [1 0 -1] and [1 2 1]. */
struct RowGradient {
  float difference[kColumns];
  float smooth[kColumns];
};

template <typename Sample>
__device__ __forceinline__ RowGradient load_gradient(const PlaneJob& plane, int x, int y) {
  const auto* row = reinterpret_cast<const Sample*>(plane.src + border_index<BorderRule::kReflect101>(y, plane.height) *
                                                                    plane.src_pitch_bytes);
  float sample[kColumns + 2];
  if (plane.src_aligned && x > 0 && x + kColumns < plane.width) {
    const auto word = *reinterpret_cast<const Word<Sample>*>(row + x);
    sample[0] = row[x - 1];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) sample[i + 1] = word.sample[i];
    sample[kColumns + 1] = row[x + kColumns];
  } else {
#pragma unroll
    for (int i = 0; i < kColumns + 2; ++i) {
      sample[i] = row[border_index<BorderRule::kReflect101>(x - 1 + i, plane.width)];
    }
  }
  RowGradient gradient;
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    gradient.difference[i] = sample[i + 2] - sample[i];
    gradient.smooth[i] = sample[i] + 2 * sample[i + 1] + sample[i + 2];
  }
  return gradient;
}

template <typename Sample>
__device__ __forceinline__ void store_word(const PlaneJob& plane, int x, int y, const Word<Sample>& word) {
  auto* row = reinterpret_cast<Sample*>(plane.dst + y * plane.dst_pitch_bytes);
  if (plane.dst_aligned && x + kColumns <= plane.width) {
    *reinterpret_cast<Word<Sample>*>(row + x) = word;
  } else {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      if (x + i < plane.width) row[x + i] = word.sample[i];
    }
  }
}

template <typename Sample>
__device__ void copy_columns(const PlaneJob& plane, int x, int y, int last_row) {
  for (; y < last_row; ++y) {
    const auto* src = reinterpret_cast<const Sample*>(plane.src + y * plane.src_pitch_bytes);
    Word<Sample> word;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) word.sample[i] = src[min(x + i, plane.width - 1)];
    store_word(plane, x, y, word);
  }
}

template <typename Sample>
__device__ __forceinline__ Sample edge_code(const FrameJob& frame, float gx, float gy) {
  const float strength = sqrtf(gx * gx + gy * gy) * frame.scale + frame.delta;
  return static_cast<Sample>(__float2int_rn(fminf(fmaxf(strength, 0.0F), frame.max_code)));
}

template <typename Sample>
__global__ void __launch_bounds__(kThreadsX* kThreadsY) sobel_kernel(const __grid_constant__ FrameJob frame) {
  const TilePlace tile = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& plane = frame.planes[tile.plane];
  const int x = (tile.x * kThreadsX + static_cast<int>(threadIdx.x)) * kColumns;
  const int first_row = (tile.y * kThreadsY + static_cast<int>(threadIdx.y)) * kRows;
  const int last_row = min(first_row + kRows, plane.height);
  if (x >= plane.width || first_row >= plane.height) return;
  if (!plane.selected) {
    copy_columns<Sample>(plane, x, first_row, last_row);
    return;
  }
  RowGradient above = load_gradient<Sample>(plane, x, first_row - 1);
  RowGradient here = load_gradient<Sample>(plane, x, first_row);
#pragma unroll 2
  for (int y = first_row; y < last_row; ++y) {
    const RowGradient below = load_gradient<Sample>(plane, x, y + 1);
    Word<Sample> word;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const float gx = above.difference[i] + 2 * here.difference[i] + below.difference[i];
      word.sample[i] = edge_code<Sample>(frame, gx, below.smooth[i] - above.smooth[i]);
    }
    store_word(plane, x, y, word);
    above = here;
    here = below;
  }
}

template <typename Sample>
bool is_aligned(const PlaneView& plane) {
  const auto pitch_bytes = static_cast<std::uintptr_t>(plane.pitch_bytes);
  return (reinterpret_cast<std::uintptr_t>(plane.data) | pitch_bytes) % sizeof(Word<Sample>) == 0;
}

template <typename Sample>
class CudaSobel final : public CompiledFilter {
 public:
  explicit CudaSobel(const SobelSettings& settings) : settings_(settings) {}

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    const PixelFormat& pixel = arguments.src.format.pixel;
    FrameJob frame{{}, {}, settings_.scale, settings_.delta, static_cast<float>(pixel.max_code())};
    for (int plane = 0; plane < pixel.plane_count(); ++plane) {
      const PlaneView& src = arguments.src.planes[plane];
      const PlaneView& dst = arguments.dst.planes[plane];
      frame.planes[plane] = {src.data,
                             dst.data,
                             src.pitch_bytes,
                             dst.pitch_bytes,
                             src.width,
                             src.height,
                             mask_selects(settings_.planes, pixel, plane),
                             is_aligned<Sample>(src),
                             is_aligned<Sample>(dst)};
      frame.tiles.add(src.width, src.height, kThreadsX * kColumns, kThreadsY * kRows);
    }
    sobel_kernel<Sample><<<static_cast<unsigned>(frame.tiles.blocks), dim3(kThreadsX, kThreadsY), 0, stream>>>(frame);
    FRAMELANE_CUDA_LAUNCHED("sobel_kernel");
  }

 private:
  SobelSettings settings_;
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_sobel_cuda(const FrameFormat& format, const SobelSettings& settings) {
  if (format.pixel.bytes_per_sample() == 1) return std::make_unique<CudaSobel<std::uint8_t>>(settings);
  return std::make_unique<CudaSobel<std::uint16_t>>(settings);
}

}  // namespace framelane
