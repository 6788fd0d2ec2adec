#include "kernels/spatial/gblur.h"

#include <type_traits>
#include <utility>

#include "kernels/plane_mask.h"
#include "kernels/spatial/separable_unrolled.cuh"

namespace framelane {
namespace {

/** The blurred code is the result. */
struct KeepBlurred {
  using Value = float;
  using UnrolledRadii = std::integer_sequence<int, 2, 4, 6, 8, 12, 16>;  // sigma 0.5, 1, 1.5, 2, 3, 4
  /** To nearest even: beside 2^23 a float has no room for a fraction. Sums lie in [0, 2^16). */
  __device__ int rounded(float sum, int /*plane*/) const { return __float_as_int(sum + 8388608.0F) & 0xFFFF; }
  __device__ int combined(int /*code*/, int blurred, int /*plane*/) const { return blurred; }
};

// ---- radii above kMaxFusedRadius ----
// One kernel, run twice: it filters columns and stores the result transposed, so that the second run filters what were
// rows and turns the picture back. Between them lie floats in scratch memory. A tile is 32 columns x 64 rows: a warp
// reads 32 neighbouring columns, eight warps eight rows each, and 64 outputs are contiguous when stored. Bytes moved:
// 10 a sample of 8 bits; at such radii the multiply-adds bound it (1616 a sample at sigma 100).
constexpr int kColumnTileWidth = 32;
constexpr int kColumnThreads = 256;
constexpr int kColumnTileHeight = kColumnThreads / 32 * kOutputs;
constexpr int kTurnPitch = kColumnTileWidth + 1;  // odd: no bank conflicts along either axis
constexpr int kLargestRadius = 4096;              // sigma 1024

constexpr std::size_t column_shared_bytes(int radius) {
  return static_cast<std::size_t>(padded_weights(radius) + kColumnTileHeight * kTurnPitch) * sizeof(float);
}
static_assert(column_shared_bytes(kLargestRadius) <= 48 * 1024);

/** Columns of the tile at (x0, y0), filtered, into turn[row][column]. */
template <typename In>
__device__ __forceinline__ void filter_column_tile(float* turn, const float* weights,
                                                   const SeparablePlane<float>& plane, int x0, int y0) {
  const int first_row = static_cast<int>(threadIdx.x) / 32 * kOutputs;
  const int column = static_cast<int>(threadIdx.x) % 32;
  const int x = min(x0 + column, plane.width - 1);
  const int radius = plane.column.radius;
  const int top = y0 + first_row - radius;
  const bool inside = top >= 0 && top + samples_read(radius) <= plane.height;
  float sums[kOutputs];
  convolve(sums, weights, radius, [&](int n) {
    const int y = inside ? top + n : border_index<BorderRule::kReflect101>(top + n, plane.height);
    return static_cast<float>(src_row<In>(plane, y)[x]);
  });
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) turn[(first_row + i) * kTurnPitch + column] = sums[i];
}

template <typename Out>
__device__ __forceinline__ void store_transposed(const float* turn, const SeparablePlane<float>& plane, int x0,
                                                 int y0) {
  const int columns = min(kColumnTileWidth, plane.width - x0);
  const int rows = min(kColumnTileHeight, plane.height - y0);
  for (int column = static_cast<int>(threadIdx.x) / 32; column < columns; column += kColumnThreads / 32) {
    auto* dst = reinterpret_cast<Out*>(plane.dst + (x0 + column) * plane.dst_pitch_bytes);
    for (int row = static_cast<int>(threadIdx.x) % 32; row < rows; row += 32) {
      const float sum = turn[row * kTurnPitch + column];
      if constexpr (std::is_same_v<Out, float>) {
        dst[y0 + row] = sum;
      } else {
        dst[y0 + row] = static_cast<Out>(__float2int_rn(sum));
      }
    }
  }
}

/** dst(y, x) = the column filter of src at (x, y). */
template <typename In, typename Out>
__global__ void __launch_bounds__(kColumnThreads)
    turning_column_kernel(const __grid_constant__ SeparableFrame<float> frame) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const SeparablePlane<float>& plane = frame.planes[place.plane];
  auto* weights = reinterpret_cast<float*>(shared_bytes);
  float* turn = weights + padded_weights(plane.column.radius);
  load_weights(weights, plane.column);
  __syncthreads();
  filter_column_tile<In>(turn, weights, plane, place.x * kColumnTileWidth, place.y * kColumnTileHeight);
  __syncthreads();
  store_transposed<Out>(turn, plane, place.x * kColumnTileWidth, place.y * kColumnTileHeight);
}

template <typename In, typename Out>
void launch_turning_column(const SeparableFrame<float>& frame, int radius, CUstream_st* stream) {
  turning_column_kernel<In, Out>
      <<<static_cast<unsigned>(frame.tiles.blocks), kColumnThreads, column_shared_bytes(radius), stream>>>(frame);
  FRAMELANE_CUDA_LAUNCHED("turning_column_kernel");
}

/** Bytes between the rows of a transposed plane: whole 128-byte lines. */
std::size_t turned_pitch_bytes(int height) { return (static_cast<std::size_t>(height) + 31) / 32 * 32 * sizeof(float); }

template <typename Sample>
class CudaGaussianBlur final : public CompiledFilter {
 public:
  CudaGaussianBlur(const FrameFormat& format, const SeparableWeights& weights, int planes)
      : weights_({{1.0F}, {weights.row.begin(), weights.row.end()}, {weights.column.begin(), weights.column.end()}}),
        fused_(std::max(weights.row_radius(), weights.column_radius()) <= kMaxFusedRadius) {
    for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
      const bool selected = mask_selects(planes, format.pixel, plane);
      row_[plane] = weights_[selected ? 1 : 0];
      column_[plane] = weights_[selected ? 2 : 0];
      if (fused_) continue;
      turned_offset_[plane] = scratch_bytes_;
      scratch_bytes_ +=
          turned_pitch_bytes(format.plane_height(plane)) * static_cast<std::size_t>(format.plane_width(plane));
    }
  }

  std::size_t scratch_bytes() const override { return scratch_bytes_; }

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    if (fused_) {
      launch_separable<BorderRule::kReflect101, Sample>(arguments, row_, column_, KeepBlurred{}, stream);
      return;
    }
    launch_turning_column<Sample, float>(to_scratch(arguments), weights_[2].radius, stream);
    launch_turning_column<float, Sample>(from_scratch(arguments), weights_[1].radius, stream);
  }

 private:
  SeparableFrame<float> to_scratch(const FilterArguments& arguments) const {
    SeparableFrame<float> frame{};
    for (int plane = 0; plane < arguments.src.format.pixel.plane_count(); ++plane) {
      const PlaneView& src = arguments.src.planes[plane];
      frame.planes[plane] = {src.data,
                             arguments.scratch + turned_offset_[plane],
                             src.pitch_bytes,
                             static_cast<std::ptrdiff_t>(turned_pitch_bytes(src.height)),
                             src.width,
                             src.height,
                             {},
                             column_[plane]};
      frame.tiles.add(src.width, src.height, kColumnTileWidth, kColumnTileHeight);
    }
    return frame;
  }

  SeparableFrame<float> from_scratch(const FilterArguments& arguments) const {
    SeparableFrame<float> frame{};
    for (int plane = 0; plane < arguments.dst.format.pixel.plane_count(); ++plane) {
      const PlaneView& dst = arguments.dst.planes[plane];
      frame.planes[plane] = {arguments.scratch + turned_offset_[plane],
                             dst.data,
                             static_cast<std::ptrdiff_t>(turned_pitch_bytes(dst.height)),
                             dst.pitch_bytes,
                             dst.height,
                             dst.width,
                             {},
                             row_[plane]};
      frame.tiles.add(dst.height, dst.width, kColumnTileWidth, kColumnTileHeight);
    }
    return frame;
  }

  WeightTables<float> weights_;  ///< copy, along rows, along columns
  AxisWeights<float> row_[kMaxPlanes];
  AxisWeights<float> column_[kMaxPlanes];
  bool fused_;
  std::size_t turned_offset_[kMaxPlanes] = {};
  std::size_t scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_gblur_cuda(const FrameFormat& format, const SeparableWeights& weights,
                                                   int planes) {
  if (format.pixel.bytes_per_sample() == 1) {
    return std::make_unique<CudaGaussianBlur<std::uint8_t>>(format, weights, planes);
  }
  return std::make_unique<CudaGaussianBlur<std::uint16_t>>(format, weights, planes);
}

}  // namespace framelane
