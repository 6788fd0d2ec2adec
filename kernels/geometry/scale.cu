#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/check.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/plane_tiles.cuh"
#include "kernels/geometry/scale.h"

namespace framelane {
namespace {

// One block makes 64x16 output samples with 256 threads, four samples each. It first sums its source rows horizontally
// into shared memory (float), then sums those vertically: each source sample is read from DRAM about once, and each
// output sample written once. Four rows a thread share each weight and keep four loads in flight. Where a tile needs
// more source rows than kSharedRows (shrinking to less than about a tenth), two launches do the same by way of float
// rows in scratch: as many blocks as the source has rows then share the horizontal sums.
constexpr int kTileWidth = 64;
constexpr int kTileHeight = 16;
constexpr int kRowGroups = 4;  // threads of one column
constexpr int kThreads = kTileWidth * kRowGroups;
constexpr int kRowsPerThread = kTileHeight / kRowGroups;
constexpr int kSharedRows = 48 * 1024 / (kTileWidth * static_cast<int>(sizeof(float)));  // what needs no opt-in

/** ResampleTaps in device memory, the weights as [k · output size + i]: neighbouring threads read neighbours. */
struct AxisJob {
  const int* first;
  const float* weights;
  int taps;
};

struct PlaneJob {
  const std::byte* src;
  std::byte* dst;
  std::ptrdiff_t src_pitch_bytes;
  std::ptrdiff_t dst_pitch_bytes;
  int src_height;
  int dst_width;
  int dst_height;
  AxisJob horizontal;
  AxisJob vertical;
  CodeMap codes;
  float* rows;  // horizontal sums: src_height rows of dst_width, in scratch; two launches only
};

struct FrameJob {
  PlaneJob planes[kMaxPlanes];
  PlaneTiles tiles;
  float max_code;
};

/** Horizontal sums of output column x over `count` source rows from first_row, every kRowGroups-th from `group` on,
 *  into sums[row · stride]. */
template <typename Sample>
__device__ __forceinline__ void sum_rows(float* sums, std::ptrdiff_t stride, const PlaneJob& job, int x, int first_row,
                                         int count, int group) {
  const int first = job.horizontal.first[x];
  for (int row = group; row < count; row += kRowGroups * kRowsPerThread) {
    const Sample* rows[kRowsPerThread];
    float sum[kRowsPerThread] = {};
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
      const int y = first_row + min(row + i * kRowGroups, count - 1);
      rows[i] = reinterpret_cast<const Sample*>(job.src + y * job.src_pitch_bytes) + first;
    }
    const float* __restrict__ weights = job.horizontal.weights + x;
    for (int k = 0; k < job.horizontal.taps; ++k, weights += job.dst_width) {
      const float weight = __ldg(weights);
#pragma unroll
      for (int i = 0; i < kRowsPerThread; ++i) sum[i] = fmaf(weight, static_cast<float>(__ldg(rows[i] + k)), sum[i]);
    }
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
      if (row + i * kRowGroups < count) sums[(row + i * kRowGroups) * stride] = sum[i];
    }
  }
}

/** Vertical sums of output column x, rows y + group, y + group + kRowGroups, …; column[row · stride] holds the
 *  horizontal sums of source row first_row + row. */
template <typename Sample>
__device__ __forceinline__ void sum_column(const float* column, std::ptrdiff_t stride, const PlaneJob& job, int x,
                                           int y, int first_row, int group, float max_code) {
  const float* sums[kRowsPerThread];
  const float* weights[kRowsPerThread];
  float sum[kRowsPerThread] = {};
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const int row = min(y + group + i * kRowGroups, job.dst_height - 1);
    sums[i] = column + (job.vertical.first[row] - first_row) * stride;
    weights[i] = job.vertical.weights + row;
  }
  for (int k = 0; k < job.vertical.taps; ++k) {
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
      sum[i] = fmaf(__ldg(weights[i]), *sums[i], sum[i]);
      sums[i] += stride;
      weights[i] += job.dst_height;
    }
  }
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const int row = y + group + i * kRowGroups;
    if (row >= job.dst_height) return;
    const float code = fminf(fmaxf(fmaf(job.codes.gain, sum[i], job.codes.offset), 0.0F), max_code);
    auto* dst = reinterpret_cast<Sample*>(job.dst + row * job.dst_pitch_bytes);
    dst[x] = static_cast<Sample>(__float2int_rd(code + 0.5F));
  }
}

/** Both sums of one tile; dynamic shared memory holds its horizontal sums. */
template <typename Sample>
__global__ void scale_kernel(const __grid_constant__ FrameJob frame) {
  extern __shared__ float tile_sums[];
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& job = frame.planes[place.plane];
  const int column = static_cast<int>(threadIdx.x) % kTileWidth;
  const int group = static_cast<int>(threadIdx.x) / kTileWidth;
  const int x = place.x * kTileWidth + column;
  const int y = place.y * kTileHeight;
  const int first_row = job.vertical.first[y];
  const int last_row = job.vertical.first[min(y + kTileHeight, job.dst_height) - 1] + job.vertical.taps;
  if (x < job.dst_width) {
    sum_rows<Sample>(tile_sums + column, kTileWidth, job, x, first_row, last_row - first_row, group);
  }
  __syncthreads();
  if (x < job.dst_width) {
    sum_column<Sample>(tile_sums + column, kTileWidth, job, x, y, first_row, group, frame.max_code);
  }
}

/** First of two launches; tiles lie over the source's rows and the destination's columns. */
template <typename Sample>
__global__ void scale_rows_kernel(const __grid_constant__ FrameJob frame) {
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& job = frame.planes[place.plane];
  const int x = place.x * kTileWidth + static_cast<int>(threadIdx.x) % kTileWidth;
  const int y = place.y * kTileHeight;
  if (x >= job.dst_width) return;
  float* sums = job.rows + std::ptrdiff_t{y} * job.dst_width + x;
  sum_rows<Sample>(sums, job.dst_width, job, x, y, min(kTileHeight, job.src_height - y),
                   static_cast<int>(threadIdx.x) / kTileWidth);
}

/** Second of two launches. */
template <typename Sample>
__global__ void scale_columns_kernel(const __grid_constant__ FrameJob frame) {
  const TilePlace place = tile_of_block(frame.tiles, static_cast<int>(blockIdx.x));
  const PlaneJob& job = frame.planes[place.plane];
  const int x = place.x * kTileWidth + static_cast<int>(threadIdx.x) % kTileWidth;
  if (x >= job.dst_width) return;
  sum_column<Sample>(job.rows + x, job.dst_width, job, x, place.y * kTileHeight, 0,
                     static_cast<int>(threadIdx.x) / kTileWidth, frame.max_code);
}

/** ResampleTaps on the device. Owns: the memory. */
class DeviceTaps {
 public:
  explicit DeviceTaps(const ResampleTaps& taps)
      : taps_(taps.taps), first_(std::span<const int>(taps.first)), weights_(std::span<const float>(by_tap(taps))) {}
  AxisJob job() const { return {first_.data(), weights_.data(), taps_}; }

 private:
  static std::vector<float> by_tap(const ResampleTaps& taps) {
    std::vector<float> weights;
    weights.reserve(taps.weights.size());
    for (int k = 0; k < taps.taps; ++k) {
      for (int i = 0; i < taps.output_size(); ++i) weights.push_back(taps.of(i)[k]);
    }
    return weights;
  }

  int taps_;
  DeviceBuffer<int> first_;
  DeviceBuffer<float> weights_;
};

/** The most source rows that a tile's output rows draw on. */
int tile_rows(const ResampleTaps& vertical) {
  int most = 0;
  for (int y = 0; y < vertical.output_size(); y += kTileHeight) {
    const int last = std::min(y + kTileHeight, vertical.output_size()) - 1;
    most = std::max(most, vertical.first[last] + vertical.taps - vertical.first[y]);
  }
  return most;
}

class CudaScale final : public CompiledFilter {
 public:
  explicit CudaScale(const ScalePlan& plan)
      : output_(plan.output),
        codes_(plan.codes),
        horizontal_{DeviceTaps(plan.horizontal[0]), DeviceTaps(plan.horizontal[1])},
        vertical_{DeviceTaps(plan.vertical[0]), DeviceTaps(plan.vertical[1])},
        shared_rows_(std::max(tile_rows(plan.vertical[0]), tile_rows(plan.vertical[1]))) {
    for (int plane = 0; plane < output_.pixel.plane_count(); ++plane) {
      const int width = output_.plane_width(plane);
      const int src_height = plan.input.plane_height(plane);
      dst_tiles_.add(width, output_.plane_height(plane), kTileWidth, kTileHeight);
      row_tiles_.add(width, src_height, kTileWidth, kTileHeight);
      rows_offset_[plane] = row_samples_;
      row_samples_ += static_cast<std::size_t>(width) * static_cast<std::size_t>(src_height);
    }
  }

  std::size_t scratch_bytes() const override { return one_launch() ? 0 : row_samples_ * sizeof(float); }

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    if (output_.pixel.bytes_per_sample() == 1) {
      launch<std::uint8_t>(arguments, stream);
    } else {
      launch<std::uint16_t>(arguments, stream);
    }
  }

 private:
  bool one_launch() const { return shared_rows_ <= kSharedRows; }

  template <typename Sample>
  void launch(const FilterArguments& arguments, CUstream_st* stream) const {
    FrameJob frame = frame_job(arguments);
    if (one_launch()) {
      const std::size_t shared_bytes = static_cast<std::size_t>(shared_rows_) * kTileWidth * sizeof(float);
      scale_kernel<Sample><<<dst_tiles_.blocks, kThreads, shared_bytes, stream>>>(frame);
      FRAMELANE_CUDA_LAUNCHED("scale_kernel");
      return;
    }
    frame.tiles = row_tiles_;
    scale_rows_kernel<Sample><<<row_tiles_.blocks, kThreads, 0, stream>>>(frame);
    FRAMELANE_CUDA_LAUNCHED("scale_rows_kernel");
    frame.tiles = dst_tiles_;
    scale_columns_kernel<Sample><<<dst_tiles_.blocks, kThreads, 0, stream>>>(frame);
    FRAMELANE_CUDA_LAUNCHED("scale_columns_kernel");
  }

  FrameJob frame_job(const FilterArguments& arguments) const {
    FrameJob frame{{}, dst_tiles_, static_cast<float>(output_.pixel.max_code())};
    for (int plane = 0; plane < dst_tiles_.planes; ++plane) {
      const PlaneView& dst = arguments.dst.planes[plane];
      const PlaneView& src = arguments.src.planes[plane];
      const int axis = output_.pixel.is_chroma(plane) ? 1 : 0;
      auto* rows = reinterpret_cast<float*>(arguments.scratch);
      frame.planes[plane] = {src.data,
                             dst.data,
                             src.pitch_bytes,
                             dst.pitch_bytes,
                             src.height,
                             dst.width,
                             dst.height,
                             horizontal_[axis].job(),
                             vertical_[axis].job(),
                             codes_[plane],
                             one_launch() ? nullptr : rows + rows_offset_[plane]};
    }
    return frame;
  }

  FrameFormat output_;
  std::array<CodeMap, kMaxPlanes> codes_;
  std::array<DeviceTaps, 2> horizontal_;
  std::array<DeviceTaps, 2> vertical_;
  int shared_rows_;
  PlaneTiles dst_tiles_;
  PlaneTiles row_tiles_;
  std::array<std::size_t, kMaxPlanes> rows_offset_{};
  std::size_t row_samples_ = 0;
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_scale_cuda(const ScalePlan& plan) { return std::make_unique<CudaScale>(plan); }

}  // namespace framelane
