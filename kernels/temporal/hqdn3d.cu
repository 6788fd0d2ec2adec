#include <algorithm>

#include "kernels/cuda/check.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/plane_tiles.cuh"
#include "kernels/temporal/hqdn3d.h"

namespace framelane {
namespace {

// Across: a block walks 32 rows from left to right in steps of kStepColumns. Its first warp filters, a row a thread,
// and each step waits for the table look-up of the one before; meanwhile the other warps load the next columns and
// store the last ones, coalesced, through three tiles in shared memory. Rows of a tile begin in different banks.
constexpr int kRows = 32;
constexpr int kStepColumns = 64;
constexpr int kTilePitch = kStepColumns + 2;
constexpr int kAcrossThreads = 128;
constexpr int kMovers = kAcrossThreads - kRows;

// Down: a column a thread, so that a warp reads 64 contiguous bytes a row; a batch of rows is loaded while the one
// before is filtered. Blocks are small because a frame has few columns, and each SM should get some.
constexpr int kDownThreads = 64;
constexpr int kDownBatch = 8;

// In time: 8 samples a thread, 16 bytes of scratch and of state at a time. Bytes moved a sample of 8 bits: 2 of
// scratch and 2 of state in, 2 of state and 1 out; the two passes before move 1 in and 2 out, 2 in and 2 out.
constexpr int kTimeThreadsX = 32;
constexpr int kTimeThreadsY = 4;
constexpr int kTimeSamples = 8;

// Tables of up to 14 bits a sample lie in shared memory; that of 16 bits (256 KiB) is left to the L1 cache.
constexpr int kSharedSteps = 2 * 256 * 16;

struct PlaneJob {
  const std::byte* src;
  std::byte* dst;
  std::uint16_t* spatial;  // scratch: H, then V
  std::uint16_t* past;     // state: T
  std::ptrdiff_t src_pitch_bytes;
  std::ptrdiff_t dst_pitch_bytes;
  std::ptrdiff_t wide_pitch;  // of spatial and past, in elements
  int width;
  int height;
  const std::int16_t* spatial_steps;
  const std::int16_t* temporal_steps;
  bool dst_aligned;  // all rows of dst start on a 16-byte boundary
};

struct FrameJob {
  PlaneJob planes[kMaxPlanes];
  PlaneTiles tiles;
  int depth_bits;
  bool first_frame;
};

/** The centre of the table to use: of a copy in shared memory where that fits. All threads of the block call it. A
 *  template, because a pointer that may be to either memory makes each look-up slower. */
template <bool kSharedTable>
__device__ const std::int16_t* table_centre(std::int16_t* shared, const std::int16_t* steps) {
  if constexpr (kSharedTable) {
    for (int i = static_cast<int>(threadIdx.x); i < kSharedSteps / 8; i += static_cast<int>(blockDim.x)) {
      reinterpret_cast<uint4*>(shared)[i] = reinterpret_cast<const uint4*>(steps)[i];
    }
    __syncthreads();
    return shared + kSharedSteps / 2;
  } else {
    return steps + 256 * 256;
  }
}

template <typename Sample>
__device__ void load_tile(std::uint16_t* tile, const PlaneJob& job, int x0, int y0, int mover, int depth_bits) {
  const int columns = min(kStepColumns, job.width - x0);
  const int rows = min(kRows, job.height - y0);
  for (int i = mover; i < rows * kStepColumns; i += kMovers) {
    const int row = i / kStepColumns;
    const int column = i % kStepColumns;
    if (column >= columns) continue;
    const auto* src = reinterpret_cast<const Sample*>(job.src + (y0 + row) * job.src_pitch_bytes);
    tile[row * kTilePitch + column] = static_cast<std::uint16_t>(hqdn3d_widen(__ldg(src + x0 + column), depth_bits));
  }
}

__device__ void store_tile(const std::uint16_t* tile, const PlaneJob& job, int x0, int y0, int mover) {
  const int columns = min(kStepColumns, job.width - x0);
  const int rows = min(kRows, job.height - y0);
  for (int i = mover; i < rows * kStepColumns; i += kMovers) {
    const int row = i / kStepColumns;
    const int column = i % kStepColumns;
    if (column < columns) job.spatial[(y0 + row) * job.wide_pitch + x0 + column] = tile[row * kTilePitch + column];
  }
}

/** One row of a tile; `previous` is H of the column before it, or negative at the left edge. Returns the last H. */
__device__ int filter_tile_row(std::uint16_t* row, int columns, int previous, bool top_row, const std::int16_t* centre,
                               int bin_shift) {
  int x = 0;
  if (previous < 0) {
    previous = row[0];
    if (top_row) previous = hqdn3d_step(previous, previous, centre, bin_shift);
    row[0] = static_cast<std::uint16_t>(previous);
    x = 1;
  }
#pragma unroll 8
  for (; x < columns; ++x) {
    previous = hqdn3d_step(previous, row[x], centre, bin_shift);
    row[x] = static_cast<std::uint16_t>(previous);
  }
  return previous;
}

template <typename Sample, bool kSharedTable>
__global__ void __launch_bounds__(kAcrossThreads) across_kernel(const __grid_constant__ FrameJob frame) {
  __shared__ alignas(16) std::int16_t table[kSharedTable ? kSharedSteps : 8];
  __shared__ std::uint16_t tiles[3][kRows * kTilePitch];
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& job = frame.planes[place.plane];
  const std::int16_t* centre = table_centre<kSharedTable>(table, job.spatial_steps);
  const int y0 = place.y * kRows;
  const int row = static_cast<int>(threadIdx.x);
  const int mover = row - kRows;  // negative: filters
  const int steps = (job.width + kStepColumns - 1) / kStepColumns;

  int previous = -1;
  for (int turn = 0; turn < steps + 2;
       ++turn) {  // loads tile `turn`, filters the one before, stores the one before that
    const int filtered = turn - 1;
    if (mover >= 0) {
      const int stored = turn - 2;
      if (stored >= 0) store_tile(tiles[stored % 3], job, stored * kStepColumns, y0, mover);
      if (turn < steps) load_tile<Sample>(tiles[turn % 3], job, turn * kStepColumns, y0, mover, frame.depth_bits);
    } else if (filtered >= 0 && filtered < steps && y0 + row < job.height) {
      previous = filter_tile_row(tiles[filtered % 3] + row * kTilePitch,
                                 min(kStepColumns, job.width - filtered * kStepColumns), previous, y0 + row == 0,
                                 centre, hqdn3d_bin_shift(frame.depth_bits));
    }
    __syncthreads();
  }
}

template <bool kSharedTable>
__global__ void __launch_bounds__(kDownThreads) down_kernel(const __grid_constant__ FrameJob frame) {
  __shared__ alignas(16) std::int16_t table[kSharedTable ? kSharedSteps : 8];
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& job = frame.planes[place.plane];
  const std::int16_t* centre = table_centre<kSharedTable>(table, job.spatial_steps);
  const int bin_shift = hqdn3d_bin_shift(frame.depth_bits);
  const int x = place.x * kDownThreads + static_cast<int>(threadIdx.x);
  if (x >= job.width) return;
  std::uint16_t* column = job.spatial + x;

  const auto load_batch = [&](int(&values)[kDownBatch], int y0) {
#pragma unroll
    for (int i = 0; i < kDownBatch; ++i) values[i] = y0 + i < job.height ? column[(y0 + i) * job.wide_pitch] : 0;
  };
  int previous = column[0];
  int values[kDownBatch];
  load_batch(values, 1);
  for (int y0 = 1; y0 < job.height; y0 += kDownBatch) {
    int next_values[kDownBatch];
    load_batch(next_values, y0 + kDownBatch);
#pragma unroll
    for (int i = 0; i < kDownBatch; ++i) {
      previous = hqdn3d_step(previous, values[i], centre, bin_shift);
      if (y0 + i < job.height) column[(y0 + i) * job.wide_pitch] = static_cast<std::uint16_t>(previous);
    }
#pragma unroll
    for (int i = 0; i < kDownBatch; ++i) values[i] = next_values[i];
  }
}

/** 16 bytes as the 8 values that they are. */
__device__ void load_wide(int (&values)[kTimeSamples], const std::uint16_t* from) {
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  const std::uint32_t pairs[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < kTimeSamples; ++i) values[i] = static_cast<int>(pairs[i / 2] >> (i % 2 * 16) & 0xFFFF);
}

__device__ std::uint32_t packed(int low, int high) {
  return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
}

__device__ void store_wide(std::uint16_t* to, const int (&values)[kTimeSamples]) {
  *reinterpret_cast<uint4*>(to) = make_uint4(packed(values[0], values[1]), packed(values[2], values[3]),
                                             packed(values[4], values[5]), packed(values[6], values[7]));
}

__device__ void store_codes(std::uint8_t* to, const int (&codes)[kTimeSamples]) {
  *reinterpret_cast<uint2*>(to) = make_uint2(packed(codes[0] | codes[1] << 8, codes[2] | codes[3] << 8),
                                             packed(codes[4] | codes[5] << 8, codes[6] | codes[7] << 8));
}

__device__ void store_codes(std::uint16_t* to, const int (&codes)[kTimeSamples]) { store_wide(to, codes); }

/** s of the first frame, which stands for T of the one before it. */
template <typename Sample>
__device__ void load_first(int (&values)[kTimeSamples], const PlaneJob& job, int x, int y, int depth_bits) {
  const auto* src = reinterpret_cast<const Sample*>(job.src + y * job.src_pitch_bytes);
#pragma unroll
  for (int i = 0; i < kTimeSamples; ++i) values[i] = hqdn3d_widen(src[min(x + i, job.width - 1)], depth_bits);
}

template <typename Sample>
__global__ void time_kernel(const __grid_constant__ FrameJob frame) {
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& job = frame.planes[place.plane];
  const int x = (place.x * kTimeThreadsX + static_cast<int>(threadIdx.x)) * kTimeSamples;
  const int y = place.y * kTimeThreadsY + static_cast<int>(threadIdx.y);
  if (x >= job.width || y >= job.height) return;
  const int bin_shift = hqdn3d_bin_shift(frame.depth_bits);
  const std::int16_t* __restrict__ centre = job.temporal_steps + (65536 >> bin_shift);

  // The wide rows are padded to 64 bytes: whole accesses stay inside them, also at the right edge.
  const std::ptrdiff_t wide = y * job.wide_pitch + x;
  int now[kTimeSamples];
  int past[kTimeSamples];
  load_wide(now, job.spatial + wide);
  if (frame.first_frame) {
    load_first<Sample>(past, job, x, y, frame.depth_bits);
  } else {
    load_wide(past, job.past + wide);
  }
  int codes[kTimeSamples];
#pragma unroll
  for (int i = 0; i < kTimeSamples; ++i) {
    past[i] = hqdn3d_step(past[i], now[i], centre, bin_shift);
    codes[i] = past[i] >> (16 - frame.depth_bits);
  }
  store_wide(job.past + wide, past);

  auto* dst = reinterpret_cast<Sample*>(job.dst + y * job.dst_pitch_bytes) + x;
  if (job.dst_aligned && x + kTimeSamples <= job.width) {
    store_codes(dst, codes);
    return;
  }
#pragma unroll
  for (int i = 0; i < kTimeSamples; ++i) {
    if (x + i < job.width) dst[i] = static_cast<Sample>(codes[i]);
  }
}

class CudaHqdn3d final : public CompiledFilter {
 public:
  CudaHqdn3d(const Hqdn3dTables& tables, const FrameFormat& format)
      : format_(format), wide_(hqdn3d_wide_format(format)) {
    for (const bool chroma : {false, true}) {
      spatial_steps_[chroma] = DeviceBuffer<std::int16_t>(std::span(tables.spatial(chroma).steps));
      temporal_steps_[chroma] = DeviceBuffer<std::int16_t>(std::span(tables.temporal(chroma).steps));
    }
    for (int plane = 0; plane < wide_.pixel.plane_count(); ++plane) {
      const int width = wide_.plane_width(plane);
      const int height = wide_.plane_height(plane);
      across_tiles_.add(width, height, width, kRows);
      down_tiles_.add(width, height, kDownThreads, height);
      time_tiles_.add(width, height, kTimeThreadsX * kTimeSamples, kTimeThreadsY);
    }
  }

  std::size_t scratch_bytes() const override { return frame_layout(wide_).bytes; }
  std::size_t state_bytes() const override { return frame_layout(wide_).bytes; }
  bool has_ordered_pass() const override { return true; }

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    const bool shared_table = format_.pixel.depth_bits < 16;
    const auto across = is_byte()      ? across_kernel<std::uint8_t, true>
                        : shared_table ? across_kernel<std::uint16_t, true>
                                       : across_kernel<std::uint16_t, false>;
    const auto down = shared_table ? down_kernel<true> : down_kernel<false>;
    across<<<across_tiles_.blocks, kAcrossThreads, 0, stream>>>(job(arguments, across_tiles_));
    FRAMELANE_CUDA_LAUNCHED("across_kernel");
    down<<<down_tiles_.blocks, kDownThreads, 0, stream>>>(job(arguments, down_tiles_));
    FRAMELANE_CUDA_LAUNCHED("down_kernel");
    if (format_.pixel.alpha) copy_alpha(arguments, stream);
  }

  void run_ordered(const FilterArguments& arguments, CUstream_st* stream) const override {
    const auto time = is_byte() ? time_kernel<std::uint8_t> : time_kernel<std::uint16_t>;
    time<<<time_tiles_.blocks, dim3(kTimeThreadsX, kTimeThreadsY), 0, stream>>>(job(arguments, time_tiles_));
    FRAMELANE_CUDA_LAUNCHED("time_kernel");
  }

 private:
  bool is_byte() const { return format_.pixel.bytes_per_sample() == 1; }

  FrameJob job(const FilterArguments& arguments, const PlaneTiles& tiles) const {
    const FrameView spatial = view_frame(wide_, arguments.scratch);
    const FrameView past = view_frame(wide_, arguments.state);
    FrameJob frame{{}, tiles, format_.pixel.depth_bits, arguments.frame_index == 0};
    for (int plane = 0; plane < wide_.pixel.plane_count(); ++plane) {
      const PlaneView& src = arguments.src.planes[plane];
      const PlaneView& dst = arguments.dst.planes[plane];
      const bool chroma = format_.pixel.is_chroma(plane);
      frame.planes[plane] = {src.data,
                             dst.data,
                             spatial.planes[plane].row<std::uint16_t>(0),
                             past.planes[plane].row<std::uint16_t>(0),
                             src.pitch_bytes,
                             dst.pitch_bytes,
                             spatial.planes[plane].pitch_bytes / 2,
                             src.width,
                             src.height,
                             spatial_steps_[chroma].data(),
                             temporal_steps_[chroma].data(),
                             reinterpret_cast<std::uintptr_t>(dst.data) % 16 == 0 && dst.pitch_bytes % 16 == 0};
    }
    return frame;
  }

  void copy_alpha(const FilterArguments& arguments, CUstream_st* stream) const {
    const int alpha = format_.pixel.color_planes();
    const PlaneView& dst = arguments.dst.planes[alpha];
    const PlaneView& src = arguments.src.planes[alpha];
    FRAMELANE_CUDA(cudaMemcpy2DAsync(dst.data, static_cast<std::size_t>(dst.pitch_bytes), src.data,
                                     static_cast<std::size_t>(src.pitch_bytes), format_.row_bytes(alpha),
                                     static_cast<std::size_t>(dst.height), cudaMemcpyDeviceToDevice, stream));
  }

  FrameFormat format_;
  FrameFormat wide_;
  PlaneTiles across_tiles_;
  PlaneTiles down_tiles_;
  PlaneTiles time_tiles_;
  DeviceBuffer<std::int16_t> spatial_steps_[2];  // luma's, chroma's
  DeviceBuffer<std::int16_t> temporal_steps_[2];
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_hqdn3d_cuda(const Hqdn3dTables& tables, const FrameFormat& format) {
  return std::make_unique<CudaHqdn3d>(tables, format);
}

}  // namespace framelane
