// Separable filters of small radius on CUDA: gblur and unsharp at their usual settings. The radius is a compile-time
// constant, so that each sum is a straight run of multiply-adds on registers. Also the choice between this kernel and
// the fused one with a loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/spatial/separable.cuh"

namespace framelane {

/** Four neighbouring samples of a row, loaded and stored at once. */
template <typename Sample>
struct alignas(4 * sizeof(Sample)) Quad {
  std::uint32_t words[sizeof(Sample)];

  __device__ __forceinline__ int code(int i) const {
    if constexpr (sizeof(Sample) == 1) return static_cast<int>(words[0] >> 8 * i & 0xFF);
    if constexpr (sizeof(Sample) == 2) return static_cast<int>(words[i / 2] >> i % 2 * 16 & 0xFFFF);
  }

  static __device__ __forceinline__ Quad of(const int (&codes)[4]) {
    const auto pair = [&](int i, unsigned bytes) {
      return __byte_perm(static_cast<unsigned>(codes[i]), static_cast<unsigned>(codes[i + 1]), bytes);
    };
    if constexpr (sizeof(Sample) == 1) return {{__byte_perm(pair(0, 0x0040), pair(2, 0x0040), 0x5410)}};
    if constexpr (sizeof(Sample) == 2) return {{pair(0, 0x5410), pair(2, 0x5410)}};
  }
};

// A block is four warps. It filters 128 columns, a quad a lane, eight rows a thread, and of those 32 rows the part that
// has all its neighbours: 112 outputs at radius 8. So all lanes are busy in the column pass, and 14 % of it is work
// done twice. In the row pass a lane is a row and a warp a quarter of the width. All pitches are odd numbers of quads:
// no bank conflicts along either axis. Bytes moved: each sample once in, once out, the tiles' common samples from L2.
// Measured on an H200, 8-bit 4:2:0, 4K: 20 us at radius 2, 34 us at radius 8 (1.8 and 2.9 device copies of the frame),
// of which loading and storing are 13 and 15; the rest is the multiply-adds, 36 a sample at radius 8. 1080p: 8.5 and
// 12.5 us.
constexpr int kUnrolledWarps = 4;
constexpr int kUnrolledThreads = 32 * kUnrolledWarps;
constexpr int kColumnQuads = 32;
constexpr int kRowsAThread = 8;
constexpr int kUnrolledRows = kRowsAThread * kUnrolledWarps;

template <int kRadius, typename Sample>
struct UnrolledTile {
  static constexpr int kHaloQuads = (kRadius + 3) / 4;
  static constexpr int kOutputQuads = kColumnQuads - 2 * kHaloQuads;
  static constexpr int kSourceRows = kUnrolledRows + 2 * kRadius;
  static constexpr int kWarpQuads = (kOutputQuads + kUnrolledWarps - 1) / kUnrolledWarps;  // in the row pass
  static constexpr int kWidth = 4 * kOutputQuads;

  Quad<Sample> source[kSourceRows][kColumnQuads + 1];
  float4 columns[kUnrolledRows][kColumnQuads + 1];  ///< the column pass's result
  Quad<Sample> result[kUnrolledRows][kOutputQuads | 1];
  float row_weights[kRadius + 1];  ///< from the middle outwards: the weights are symmetric
  float column_weights[kRadius + 1];
};

// Blocks on a multiprocessor: as many as its shared memory holds. On Hopper that leaves a thread 64 registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr int kSharedKilobytes = __CUDA_ARCH__ == 800 ? 164 : 100;
#else
constexpr int kSharedKilobytes = 228;
#endif
template <typename Tile>
constexpr int kUnrolledBlocks = std::min<int>(8, kSharedKilobytes * 1024 / (sizeof(Tile) + 1024));

/** The weight at a distance from the middle; 0 beyond the radius. */
__device__ __forceinline__ float weight_at(const AxisWeights<float>& weights, int distance) {
  return distance <= weights.radius ? weights.padded[kOutputs + weights.radius + distance] : 0.0F;
}

/** Adds sample n of a run to the sums of which it is a term: sums[i] has the samples i to i + 2 * kRadius. */
template <int kRadius, int kSums>
__device__ __forceinline__ void add_sample(float (&sums)[kSums], const float (&half)[kRadius + 1], int n,
                                           float sample) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    const int distance = n - i - kRadius;
    if (distance >= -kRadius && distance <= kRadius) sums[i] += half[distance < 0 ? -distance : distance] * sample;
  }
}

template <typename Sample>
__device__ __forceinline__ bool in_whole_quads(const std::byte* rows, std::ptrdiff_t pitch_bytes) {
  return (reinterpret_cast<std::uintptr_t>(rows) | static_cast<std::uintptr_t>(pitch_bytes)) % sizeof(Quad<Sample>) ==
         0;
}

/** Loads the samples around the tile at (x0, y0). A lane is a quad of columns; quads that cross the plane's sides are
 *  put together from single samples, as are all of a plane whose rows do not begin on whole quads. All of a thread's
 *  loads are under way before the first is used: waiting for each row nearly doubles the time to load and store. */
template <BorderRule kBorder, int kRadius, typename Sample>
__device__ __forceinline__ void load_source(UnrolledTile<kRadius, Sample>& tile, const SeparablePlane<float>& plane,
                                            int x0, int y0) {
  using Tile = UnrolledTile<kRadius, Sample>;
  constexpr int kLoads = Tile::kSourceRows / kUnrolledWarps;
  static_assert(Tile::kSourceRows % kUnrolledWarps == 0 && kLoads <= 32);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // Lane i finds the place of the warp's row i, for all lanes.
  const int own_y = border_index<kBorder>(y0 - kRadius + warp + lane * kUnrolledWarps, plane.height);
  int rows[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) rows[i] = __shfl_sync(0xFFFFFFFFU, own_y, i);

  const int x = x0 + 4 * (lane - Tile::kHaloQuads);
  Quad<Sample> quads[kLoads];
  if (x >= 0 && x + 4 <= plane.width && in_whole_quads<Sample>(plane.src, plane.src_pitch_bytes)) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      quads[i] = *reinterpret_cast<const Quad<Sample>*>(src_row<Sample>(plane, rows[i]) + x);
    }
  } else {
    int columns[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) columns[i] = border_index<kBorder>(x + i, plane.width);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const Sample* src = src_row<Sample>(plane, rows[i]);
      quads[i] = Quad<Sample>::of({src[columns[0]], src[columns[1]], src[columns[2]], src[columns[3]]});
    }
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) tile.source[warp + i * kUnrolledWarps][lane] = quads[i];
}

template <int kRadius, typename Sample>
__device__ __forceinline__ void filter_source_columns(UnrolledTile<kRadius, Sample>& tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first_row = static_cast<int>(threadIdx.x) / 32 * kRowsAThread;
  float sums[4][kRowsAThread] = {};
#pragma unroll
  for (int n = 0; n < kRowsAThread + 2 * kRadius; ++n) {
    const Quad<Sample> quad = tile.source[first_row + n][lane];
#pragma unroll
    for (int i = 0; i < 4; ++i) add_sample<kRadius>(sums[i], tile.column_weights, n, static_cast<float>(quad.code(i)));
  }
#pragma unroll
  for (int row = 0; row < kRowsAThread; ++row) {
    tile.columns[first_row + row][lane] = {sums[0][row], sums[1][row], sums[2][row], sums[3][row]};
  }
}

/** Filters rows and forms the results. Where the width is no multiple of four warps', the last repeats quads of its
 *  neighbour. */
template <int kRadius, typename Sample, typename Operation>
__device__ __forceinline__ void filter_source_rows(UnrolledTile<kRadius, Sample>& tile, const Operation& operation,
                                                   int plane) {
  using Tile = UnrolledTile<kRadius, Sample>;
  constexpr int kSkipped = 4 * Tile::kHaloQuads - kRadius;  // columns left of the first output's first neighbour
  const int row = static_cast<int>(threadIdx.x) % 32;
  const int first = min(static_cast<int>(threadIdx.x) / 32 * Tile::kWarpQuads, Tile::kOutputQuads - Tile::kWarpQuads);
  float sums[4 * Tile::kWarpQuads] = {};
#pragma unroll
  for (int quad = 0; quad < Tile::kWarpQuads + 2 * Tile::kHaloQuads; ++quad) {
    const float4 samples = tile.columns[row][first + quad];
    const int n = 4 * quad - kSkipped;
    add_sample<kRadius>(sums, tile.row_weights, n, samples.x);
    add_sample<kRadius>(sums, tile.row_weights, n + 1, samples.y);
    add_sample<kRadius>(sums, tile.row_weights, n + 2, samples.z);
    add_sample<kRadius>(sums, tile.row_weights, n + 3, samples.w);
  }
#pragma unroll
  for (int quad = 0; quad < Tile::kWarpQuads; ++quad) {
    const Quad<Sample> source = tile.source[kRadius + row][Tile::kHaloQuads + first + quad];
    int codes[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      codes[i] = operation.combined(source.code(i), operation.rounded(sums[4 * quad + i], plane), plane);
    }
    tile.result[row][first + quad] = Quad<Sample>::of(codes);
  }
}

/** Writes the tile at (x0, y0): a warp writes a row. */
template <int kRadius, typename Sample>
__device__ __forceinline__ void store_result(const UnrolledTile<kRadius, Sample>& tile,
                                             const SeparablePlane<float>& plane, int x0, int y0) {
  using Tile = UnrolledTile<kRadius, Sample>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int x = x0 + 4 * lane;
  if (lane >= Tile::kOutputQuads || x >= plane.width) return;
  const bool whole = x + 4 <= plane.width && in_whole_quads<Sample>(plane.dst, plane.dst_pitch_bytes);
#pragma unroll
  for (int i = 0; i < kRowsAThread; ++i) {
    const int row = static_cast<int>(threadIdx.x) / 32 + i * kUnrolledWarps;
    if (y0 + row >= plane.height) return;
    auto* dst = reinterpret_cast<Sample*>(plane.dst + (y0 + row) * plane.dst_pitch_bytes) + x;
    const Quad<Sample> quad = tile.result[row][lane];
    if (whole) {
      *reinterpret_cast<Quad<Sample>*>(dst) = quad;
      continue;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (x + j < plane.width) dst[j] = static_cast<Sample>(quad.code(j));
    }
  }
}

template <BorderRule kBorder, int kRadius, typename Sample, typename Operation>
__global__ void __launch_bounds__(kUnrolledThreads, kUnrolledBlocks<UnrolledTile<kRadius, Sample>>)
    unrolled_separable_kernel(const __grid_constant__ SeparableFrame<float> frame,
                              const __grid_constant__ Operation operation) {
  using Tile = UnrolledTile<kRadius, Sample>;
  __shared__ Tile tile;
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const SeparablePlane<float>& plane = frame.planes[place.plane];
  const int x0 = place.x * Tile::kWidth;
  const int y0 = place.y * kUnrolledRows;
  // Loaded first and stored last, so that the two loads' times pass together.
  const int distance = static_cast<int>(threadIdx.x) / 2;
  const float weight = weight_at(threadIdx.x % 2 == 0 ? plane.row : plane.column, distance);
  load_source<kBorder>(tile, plane, x0, y0);
  if (distance <= kRadius) (threadIdx.x % 2 == 0 ? tile.row_weights : tile.column_weights)[distance] = weight;
  __syncthreads();
  filter_source_columns(tile);
  __syncthreads();
  filter_source_rows(tile, operation, place.plane);
  __syncthreads();
  store_result(tile, plane, x0, y0);
}

template <BorderRule kBorder, int kRadius, typename Sample, typename Operation>
void launch_unrolled_separable(const FilterArguments& arguments, const AxisWeights<float> (&row)[kMaxPlanes],
                               const AxisWeights<float> (&column)[kMaxPlanes], const Operation& operation,
                               CUstream_st* stream) {
  const SeparableFrame<float> frame =
      separable_frame(arguments, row, column, UnrolledTile<kRadius, Sample>::kWidth, kUnrolledRows);
  unrolled_separable_kernel<kBorder, kRadius, Sample>
      <<<static_cast<unsigned>(frame.tiles.blocks), kUnrolledThreads, 0, stream>>>(frame, operation);
  FRAMELANE_CUDA_LAUNCHED("unrolled_separable_kernel");
}

/** Launches with the smallest of kRadii that is at least `radius`; false: there is none. */
template <BorderRule kBorder, typename Sample, typename Operation, int... kRadii>
bool try_unrolled_separable(std::integer_sequence<int, kRadii...> /*radii*/, int radius,
                            const FilterArguments& arguments, const AxisWeights<float> (&row)[kMaxPlanes],
                            const AxisWeights<float> (&column)[kMaxPlanes], const Operation& operation,
                            CUstream_st* stream) {
  const auto launch = [&](auto compiled) {
    if (radius > compiled()) return false;
    launch_unrolled_separable<kBorder, compiled(), Sample>(arguments, row, column, operation, stream);
    return true;
  };
  return (launch(std::integral_constant<int, kRadii>{}) || ...);
}

/** All planes of a frame in one launch. `row` and `column` give each plane's symmetric weights, radii up to
 *  kMaxFusedRadius. Operation::UnrolledRadii, even and ascending, are compiled: a radius takes the next of them, with
 *  weights 0 at the ends, and one beyond them the fused kernel's loop. */
template <BorderRule kBorder, typename Sample, typename Operation>
void launch_separable(const FilterArguments& arguments, const AxisWeights<typename Operation::Value> (&row)[kMaxPlanes],
                      const AxisWeights<typename Operation::Value> (&column)[kMaxPlanes], const Operation& operation,
                      CUstream_st* stream) {
  if constexpr (std::is_same_v<typename Operation::Value, float>) {
    int radius = 0;
    for (int plane = 0; plane < arguments.src.format.pixel.plane_count(); ++plane) {
      radius = std::max({radius, row[plane].radius, column[plane].radius});
    }
    const typename Operation::UnrolledRadii radii;
    if (try_unrolled_separable<kBorder, Sample>(radii, radius, arguments, row, column, operation, stream)) return;
  }
  launch_fused_separable<kBorder, Sample>(arguments, row, column, operation, stream);
}

}  // namespace framelane
