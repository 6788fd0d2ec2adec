// Separable filters on CUDA, shared by gblur and unsharp. A thread computes kOutputs neighbouring sums at once: it
// loads each sample and each weight once for all of them. The fused kernel reads a plane once, filters a tile's columns
// into shared memory, then the rows of that, and writes the plane once; separable_unrolled.cuh does the same for small
// radii, three to four times as fast.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/check.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/plane_tiles.cuh"
#include "kernels/filter.h"
#include "kernels/spatial/border.cuh"

namespace framelane {

constexpr int kOutputs = 8;  // sums a thread forms at once: 8 multiplications for a sample load, in 20 registers
constexpr int kUnroll = 4;   // samples a step of the inner loop: its weights are one 16-byte load

/** Samples that kOutputs neighbouring sums of this radius read, in whole steps of the inner loop. */
__host__ __device__ constexpr int samples_read(int radius) {
  return (2 * radius + kOutputs + kUnroll - 1) / kUnroll * kUnroll;
}
/** Length of a weight table: the weights with zeros on both sides, so that the inner loop has no special cases. */
__host__ __device__ constexpr int padded_weights(int radius) { return kOutputs + samples_read(radius); }

/** One axis' weights in device memory; `padded` has padded_weights(radius) numbers, the first weight at kOutputs. */
template <typename Value>
struct AxisWeights {
  const Value* padded = nullptr;
  int radius = 0;
};

/** A filter's weight tables, uploaded at once. Owns: the device memory. */
template <typename Value>
class WeightTables {
 public:
  /** Each table has 2 * radius + 1 weights. */
  explicit WeightTables(const std::vector<std::vector<Value>>& tables) {
    std::vector<Value> all;
    for (const std::vector<Value>& table : tables) {
      const int radius = static_cast<int>(table.size() / 2);
      starts_.push_back({all.size(), radius});
      all.resize(all.size() + padded_weights(radius), Value{0});
      std::copy(table.begin(), table.end(),
                all.begin() + static_cast<std::ptrdiff_t>(starts_.back().offset) + kOutputs);
    }
    device_ = DeviceBuffer<Value>(std::span<const Value>(all));
  }

  AxisWeights<Value> operator[](int table) const {
    const Start& start = starts_.at(static_cast<std::size_t>(table));
    return {device_.data() + start.offset, start.radius};
  }

 private:
  struct Start {
    std::size_t offset;
    int radius;
  };
  std::vector<Start> starts_;
  DeviceBuffer<Value> device_;
};

/** One plane of a launch. */
template <typename Value>
struct SeparablePlane {
  const std::byte* src;
  std::byte* dst;
  std::ptrdiff_t src_pitch_bytes;
  std::ptrdiff_t dst_pitch_bytes;
  int width;
  int height;
  AxisWeights<Value> row;
  AxisWeights<Value> column;
};

template <typename Value>
struct SeparableFrame {
  SeparablePlane<Value> planes[kMaxPlanes];
  PlaneTiles tiles;
};

/** Copies a weight table to shared memory. */
template <typename Value>
__device__ void load_weights(Value* shared, const AxisWeights<Value>& weights) {
  for (int i = static_cast<int>(threadIdx.x); i < padded_weights(weights.radius); i += static_cast<int>(blockDim.x)) {
    shared[i] = weights.padded[i];
  }
}

/** sums[i] = sum over k of weight[k] * load(i + k), for kOutputs values of i at once. `weights` is a padded table, on a
 *  16-byte boundary. load(n) is called for n in [0, samples_read(radius)). */
template <typename Value, typename Load>
__device__ __forceinline__ void convolve(Value (&sums)[kOutputs], const Value* weights, int radius, const Load& load) {
  struct alignas(16) Step {
    Value weight[kUnroll];
  };
  // window[j] is the weight of number n - (kOutputs - 1) + j when the samples n to n + kUnroll - 1 are added.
  Value window[kOutputs - 1 + kUnroll] = {};
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) sums[i] = 0;
  const int count = samples_read(radius);
#pragma unroll 1
  for (int n = 0; n < count; n += kUnroll) {
    const Step step = *reinterpret_cast<const Step*>(weights + kOutputs + n);
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) window[kOutputs - 1 + j] = step.weight[j];
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) {
      const Value sample = load(n + j);
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) sums[i] += window[kOutputs - 1 + j - i] * sample;
    }
#pragma unroll
    for (int j = 0; j < kOutputs - 1; ++j) window[j] = window[j + kUnroll];
  }
}

// ---- the fused kernel ----
// A tile is 128 x 32 outputs, so that the columns filtered twice are few (12 % at radius 8) and a warp reads and writes
// whole sectors. Eight warps. In the column pass a warp's lanes are neighbouring columns; in the row pass they are the
// tile's 32 rows, in shared memory with an odd pitch: no bank conflicts in either. Bytes moved: each sample once in,
// once out; neighbouring tiles' common samples come from L2. At radius 32: 141 multiply-adds a sample, which is what
// bounds it.
constexpr int kTileWidth = 128;
constexpr int kTileHeight = 32;
constexpr int kFusedThreads = 256;
constexpr int kFusedWarps = kFusedThreads / 32;
constexpr int kRowGroups = kTileHeight / kOutputs;
/** Radii that the fused kernel takes: with larger ones most of the column pass would be work done twice. */
constexpr int kMaxFusedRadius = 32;

/** Columns that the row pass reads of a tile, and their pitch. */
__host__ __device__ constexpr int middle_columns(int row_radius) {
  return kTileWidth - kOutputs + samples_read(row_radius);
}
__host__ __device__ constexpr int middle_pitch(int row_radius) { return middle_columns(row_radius) | 1; }

/** Pitch of the blurred tile: an odd number of 4-byte banks. */
template <typename Sample>
constexpr int kBlurredPitch = kTileWidth + static_cast<int>(4 / sizeof(Sample));

/** Shared memory of the fused kernel: two weight tables, the column pass's result, the blurred tile. */
template <typename Value, typename Sample>
constexpr std::size_t fused_shared_bytes(int row_radius, int column_radius) {
  const int values =
      padded_weights(row_radius) + padded_weights(column_radius) + kTileHeight * middle_pitch(row_radius);
  return static_cast<std::size_t>(values) * sizeof(Value) + kTileHeight * kBlurredPitch<Sample> * sizeof(Sample);
}
static_assert(fused_shared_bytes<float, std::uint16_t>(kMaxFusedRadius, kMaxFusedRadius) <= 48 * 1024);

template <typename Sample, typename Value>
__device__ __forceinline__ const Sample* src_row(const SeparablePlane<Value>& plane, int y) {
  return reinterpret_cast<const Sample*>(plane.src + y * plane.src_pitch_bytes);
}

/** Filters the columns around the tile at (x0, y0) into `middle`. */
template <BorderRule kBorder, typename Sample, typename Value>
__device__ __forceinline__ void filter_columns(Value* middle, const Value* weights, const SeparablePlane<Value>& plane,
                                               int x0, int y0) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first_row = warp % kRowGroups * kOutputs;
  const int top = y0 + first_row - plane.column.radius;
  const bool inside = top >= 0 && top + samples_read(plane.column.radius) <= plane.height;
  const int columns = middle_columns(plane.row.radius);
  const int pitch = middle_pitch(plane.row.radius);
  for (int column = warp / kRowGroups * 32 + lane; column < columns; column += kFusedWarps / kRowGroups * 32) {
    const int x = border_index<kBorder>(x0 - plane.row.radius + column, plane.width);
    Value sums[kOutputs];
    convolve(sums, weights, plane.column.radius, [&](int n) {
      const int y = inside ? top + n : border_index<kBorder>(top + n, plane.height);
      return static_cast<Value>(src_row<Sample>(plane, y)[x]);
    });
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) middle[(first_row + i) * pitch + column] = sums[i];
  }
}

/** Filters the rows of `middle` into `blurred`. */
template <typename Sample, typename Value, typename Operation>
__device__ __forceinline__ void filter_rows(Sample* blurred, const Value* middle, const Value* weights, int row_radius,
                                            const Operation& operation, int plane) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = static_cast<int>(threadIdx.x) % 32;
  const Value* src = middle + row * middle_pitch(row_radius);
  for (int x = warp * kOutputs; x < kTileWidth; x += kFusedWarps * kOutputs) {
    Value sums[kOutputs];
    convolve(sums, weights, row_radius, [&](int n) { return src[x + n]; });
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      blurred[row * kBlurredPitch<Sample> + x + i] = static_cast<Sample>(operation.rounded(sums[i], plane));
    }
  }
}

/** Writes the tile, combined with the source. */
template <typename Sample, typename Value, typename Operation>
__device__ __forceinline__ void store_tile(const Sample* blurred, const SeparablePlane<Value>& plane,
                                           const Operation& operation, const TilePlace& place) {
  const int x0 = place.x * kTileWidth;
  const int y0 = place.y * kTileHeight;
  for (int row = static_cast<int>(threadIdx.x) / 32; row < min(kTileHeight, plane.height - y0); row += kFusedWarps) {
    const Sample* src = src_row<Sample>(plane, y0 + row);
    auto* dst = reinterpret_cast<Sample*>(plane.dst + (y0 + row) * plane.dst_pitch_bytes);
    for (int x = static_cast<int>(threadIdx.x) % 32; x < min(kTileWidth, plane.width - x0); x += 32) {
      const int blur = blurred[row * kBlurredPitch<Sample> + x];
      dst[x0 + x] = static_cast<Sample>(operation.combined(src[x0 + x], blur, place.plane));
    }
  }
}

/** `Operation` has a type Value (of weights and sums) and two device functions: rounded(sum, plane), the blurred code,
 *  and combined(code, blurred code, plane), the result. */
template <BorderRule kBorder, typename Sample, typename Operation>
__global__ void __launch_bounds__(kFusedThreads, 4)
    fused_separable_kernel(const __grid_constant__ SeparableFrame<typename Operation::Value> frame,
                           const __grid_constant__ Operation operation) {
  using Value = typename Operation::Value;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const SeparablePlane<Value>& plane = frame.planes[place.plane];
  auto* row_weights = reinterpret_cast<Value*>(shared_bytes);
  Value* column_weights = row_weights + padded_weights(plane.row.radius);
  Value* middle = column_weights + padded_weights(plane.column.radius);
  auto* blurred = reinterpret_cast<Sample*>(middle + kTileHeight * middle_pitch(plane.row.radius));

  load_weights(row_weights, plane.row);
  load_weights(column_weights, plane.column);
  __syncthreads();
  filter_columns<kBorder, Sample>(middle, column_weights, plane, place.x * kTileWidth, place.y * kTileHeight);
  __syncthreads();
  filter_rows(blurred, middle, row_weights, plane.row.radius, operation, place.plane);
  __syncthreads();
  store_tile(blurred, plane, operation, place);
}

/** The planes of a frame in tiles, with each plane's weights. */
template <typename Value>
SeparableFrame<Value> separable_frame(const FilterArguments& arguments, const AxisWeights<Value> (&row)[kMaxPlanes],
                                      const AxisWeights<Value> (&column)[kMaxPlanes], int tile_width, int tile_height) {
  SeparableFrame<Value> frame{};
  for (int plane = 0; plane < arguments.src.format.pixel.plane_count(); ++plane) {
    const PlaneView& src = arguments.src.planes[plane];
    const PlaneView& dst = arguments.dst.planes[plane];
    frame.planes[plane] = {src.data,  dst.data,   src.pitch_bytes, dst.pitch_bytes,
                           src.width, src.height, row[plane],      column[plane]};
    frame.tiles.add(src.width, src.height, tile_width, tile_height);
  }
  return frame;
}

/** All planes of a frame in one launch. `row` and `column` give each plane's weights, radii up to kMaxFusedRadius. */
template <BorderRule kBorder, typename Sample, typename Operation>
void launch_fused_separable(const FilterArguments& arguments,
                            const AxisWeights<typename Operation::Value> (&row)[kMaxPlanes],
                            const AxisWeights<typename Operation::Value> (&column)[kMaxPlanes],
                            const Operation& operation, CUstream_st* stream) {
  using Value = typename Operation::Value;
  const SeparableFrame<Value> frame = separable_frame(arguments, row, column, kTileWidth, kTileHeight);
  std::size_t shared_bytes = 0;
  for (int plane = 0; plane < frame.tiles.planes; ++plane) {
    shared_bytes = std::max(shared_bytes, fused_shared_bytes<Value, Sample>(row[plane].radius, column[plane].radius));
  }
  fused_separable_kernel<kBorder, Sample, Operation>
      <<<static_cast<unsigned>(frame.tiles.blocks), kFusedThreads, shared_bytes, stream>>>(frame, operation);
  FRAMELANE_CUDA_LAUNCHED("fused_separable_kernel");
}

}  // namespace framelane
