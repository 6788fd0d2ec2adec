#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "kernels/color/color_program_cuda.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/device_buffer.h"

namespace framelane {
namespace {

// ---- Tables: a plane-wise program, and alpha beside the pixel pass. Moves 2 bytes a byte of the frame.

// 256 threads with 16 bytes each in flight, and few registers: 8 blocks fill a multiprocessor.
constexpr int kThreads = 256;
constexpr int kVectorBytes = 16;
// Each block copies its table to shared memory first; four vectors a thread make that worth it (16 KiB of samples
// for at most 8 KiB of table) and still give a 4K luma plane 500 blocks.
constexpr int kVectorsPerThread = 4;
// Up to 12 bits the table fits in 8 KiB of shared memory. Deeper ones are read through the first cache level, which
// holds all of them (128 KiB of 256 on Hopper).
constexpr int kSharedEntries = 4096;

struct TablePlane {
  PassPlane memory;
  int width;
  int height;
  const std::uint16_t* table;  // null: copied
  bool aligned;                // every row of both sides starts on a vector's boundary
};

struct TablePass {
  TablePlane planes[kMaxPlanes];
  int max_code;
};

template <typename Sample, bool kShared>
__global__ void __launch_bounds__(kThreads) look_up_kernel(TablePass pass) {
  constexpr int kCount = kVectorBytes / static_cast<int>(sizeof(Sample));
  using Pack = SamplePack<Sample, kCount>;
  __shared__ Sample shared_table[kShared ? (sizeof(Sample) == 1 ? 256 : kSharedEntries) : 1];
  const TablePlane& plane = pass.planes[blockIdx.y];
  const unsigned vectors_a_row = (plane.width + kCount - 1) / kCount;
  const unsigned vectors = vectors_a_row * plane.height;  // 32 bits hold any plane under 64 GiB, and divide quickly
  if (blockIdx.x * kThreads >= vectors) return;           // the grid is as wide as the largest plane needs

  const std::uint16_t* __restrict__ table = plane.table;
  if (kShared && table != nullptr) {
    for (int i = threadIdx.x; i <= pass.max_code; i += kThreads) shared_table[i] = static_cast<Sample>(table[i]);
    __syncthreads();
  }
  for (unsigned v = blockIdx.x * kThreads + threadIdx.x; v < vectors; v += gridDim.x * kThreads) {
    const int y = static_cast<int>(v / vectors_a_row);
    const int x = static_cast<int>(v % vectors_a_row) * kCount;
    const Sample* __restrict__ src = src_row<Sample>(plane.memory, y) + x;
    Sample* __restrict__ dst = dst_row<Sample>(plane.memory, y) + x;
    const auto result = [&](Sample code) -> Sample {
      if (table == nullptr) return code;
      const int entry = legal_code(code, pass.max_code);
      return kShared ? shared_table[entry] : static_cast<Sample>(__ldg(table + entry));
    };
    if (plane.aligned && x + kCount <= plane.width) {
      Pack pack = *reinterpret_cast<const Pack*>(src);
#pragma unroll
      for (int i = 0; i < kCount; ++i) pack.sample[i] = result(pack.sample[i]);
      *reinterpret_cast<Pack*>(dst) = pack;
    } else {
      const int count = min(kCount, plane.width - x);
      for (int i = 0; i < count; ++i) dst[i] = result(src[i]);
    }
  }
}

bool rows_aligned(const PassPlane& plane) {
  const auto aligned = [](std::uintptr_t value) { return value % kVectorBytes == 0; };
  return aligned(reinterpret_cast<std::uintptr_t>(plane.src)) && aligned(reinterpret_cast<std::uintptr_t>(plane.dst)) &&
         aligned(static_cast<std::uintptr_t>(plane.src_pitch_bytes)) &&
         aligned(static_cast<std::uintptr_t>(plane.dst_pitch_bytes));
}

template <typename Sample>
void launch_look_up(const TablePass& pass, int planes, int depth_bits, CUstream_st* stream) {
  std::size_t most_vectors = 1;
  for (int i = 0; i < planes; ++i) {
    const std::size_t a_row = (pass.planes[i].width * sizeof(Sample) + kVectorBytes - 1) / kVectorBytes;
    most_vectors = std::max(most_vectors, a_row * static_cast<std::size_t>(pass.planes[i].height));
  }
  constexpr std::size_t kVectorsPerBlock = kThreads * kVectorsPerThread;
  const dim3 grid(static_cast<unsigned>((most_vectors + kVectorsPerBlock - 1) / kVectorsPerBlock), planes);
  if (1 << depth_bits <= kSharedEntries) {
    look_up_kernel<Sample, true><<<grid, kThreads, 0, stream>>>(pass);
  } else if constexpr (sizeof(Sample) == 2) {
    look_up_kernel<Sample, false><<<grid, kThreads, 0, stream>>>(pass);
  }
  FRAMELANE_CUDA_LAUNCHED("colour tables");
}

// ---- Pixels: everything else. Moves 2 bytes a byte of the frame; the 3D table (17^3: 77 KiB, 33^3: 562 KiB) comes
// from the caches.

// A thread takes four luma samples a row (a 4-byte or 8-byte access) of one row of chroma samples: two chroma samples
// of 4:2:0. Blocks of 128 threads leave the registers that four pixels in flight need.
constexpr int kPixelThreads = 128;
constexpr int kPixelsPerThread = 4;

template <typename Sample, int kShiftX>
__global__ void __launch_bounds__(kPixelThreads)
    filter_pixels_kernel(PixelPass pass, unsigned tiles_a_row, unsigned tiles) {
  const unsigned tile = blockIdx.x * kPixelThreads + threadIdx.x;
  if (tile >= tiles) return;
  const int x = static_cast<int>(tile % tiles_a_row) * kPixelsPerThread;
  filter_tile<Sample, kShiftX, kPixelsPerThread>(pass, x, static_cast<int>(tile / tiles_a_row));
}

template <typename Sample, int kShiftX>
void launch_filter_pixels(const PixelPass& pass, CUstream_st* stream) {
  const int chroma_rows = (pass.height + (1 << pass.chroma_shift_y) - 1) >> pass.chroma_shift_y;
  const unsigned tiles_a_row = (pass.width + kPixelsPerThread - 1) / kPixelsPerThread;
  const unsigned tiles = tiles_a_row * chroma_rows;
  const unsigned blocks = (tiles + kPixelThreads - 1) / kPixelThreads;
  filter_pixels_kernel<Sample, kShiftX><<<blocks, kPixelThreads, 0, stream>>>(pass, tiles_a_row, tiles);
  FRAMELANE_CUDA_LAUNCHED("colour program");
}

// ---- The compiled filter.

class CudaColorFilter final : public CompiledFilter {
 public:
  explicit CudaColorFilter(const ColorPlan& plan) {
    for (int plane = 0; plane < kMaxPlanes; ++plane) code_tables_[plane] = upload(plan.code_tables[plane]);
    for (int plane = 0; plane < 3; ++plane) input_tables_[plane] = upload(plan.input_tables[plane]);
    std::vector<ColorOp> ops = plan.ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (plan.lut_tables[i] == nullptr) continue;
      lut_tables_.push_back(upload(*plan.lut_tables[i]));
      ops[i].lut3d.table = lut_tables_.back().data();
    }
    ops_ = upload(ops);
  }

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    const PixelFormat& pixel = arguments.src.format.pixel;
    if (pixel.depth_bits > 8) {
      run_as<std::uint16_t>(arguments.dst, arguments.src, stream);
    } else {
      run_as<std::uint8_t>(arguments.dst, arguments.src, stream);
    }
  }

 private:
  template <typename T>
  static DeviceBuffer<T> upload(const std::vector<T>& host) {
    return DeviceBuffer<T>(std::span<const T>(host));
  }

  template <typename Sample>
  void run_as(const FrameView& dst, const FrameView& src, CUstream_st* stream) const {
    const PixelFormat& pixel = src.format.pixel;
    const int first_table_plane = ops_.size() == 0 ? 0 : pixel.color_planes();
    if (first_table_plane < pixel.plane_count()) run_tables<Sample>(dst, src, first_table_plane, stream);
    if (ops_.size() == 0) return;
    PixelPass pass = make_pixel_pass(dst, src);
    pass.ops = ops_.data();
    pass.op_count = static_cast<int>(ops_.size());
    for (int plane = 0; plane < 3; ++plane) pass.input_table[plane] = input_tables_[plane].data();
    with_chroma_shift_x(pixel, [&]<int kShiftX>() { launch_filter_pixels<Sample, kShiftX>(pass, stream); });
  }

  template <typename Sample>
  void run_tables(const FrameView& dst, const FrameView& src, int first, CUstream_st* stream) const {
    const PixelFormat& pixel = src.format.pixel;
    TablePass pass{};
    pass.max_code = pixel.max_code();
    int planes = 0;
    for (int plane = first; plane < pixel.plane_count(); ++plane) {
      const PassPlane memory = pass_plane(dst, src, plane);
      pass.planes[planes++] = {memory, src.planes[plane].width, src.planes[plane].height, code_tables_[plane].data(),
                               rows_aligned(memory)};
    }
    launch_look_up<Sample>(pass, planes, pixel.depth_bits, stream);
  }

  std::array<DeviceBuffer<std::uint16_t>, kMaxPlanes> code_tables_;
  std::array<DeviceBuffer<float>, 3> input_tables_;
  std::vector<DeviceBuffer<LutEntry>> lut_tables_;
  DeviceBuffer<ColorOp> ops_;
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_color_program_cuda(const ColorPlan& plan) {
  return std::make_unique<CudaColorFilter>(plan);
}

}  // namespace framelane
