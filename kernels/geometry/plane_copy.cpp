#include "kernels/geometry/plane_copy.h"

#include <cstring>

#include "kernels/parallel_rows.h"

namespace framelane {
namespace {

template <typename Sample>
void copy_row(Sample* dst, const Sample* src, int width, bool mirrored) {
  const auto bytes = static_cast<std::size_t>(width) * sizeof(Sample);
  if (!mirrored) {
    std::memcpy(dst, src, bytes);
    return;
  }
  // One row at a time, because OpenCV knows no negative pitch, which a decoder's frame may have.
  constexpr int kType = sizeof(Sample) == 1 ? CV_8UC1 : CV_16UC1;
  const cv::Mat from(1, width, kType, const_cast<Sample*>(src - (width - 1)));
  cv::Mat to(1, width, kType, dst);
  cv::flip(from, to, 1);
}

template <typename Sample>
void copy_plane(const PlaneView& dst, const PlaneView& src, const PlaneCopy& copy) {
  parallel_rows(dst.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      const Sample* from = src.row<Sample>(copy.origin_y + (copy.mirror_y ? -y : y)) + copy.origin_x;
      copy_row(dst.row<Sample>(y), from, dst.width, copy.mirror_x);
    }
  });
}

class CpuFrameCopy final : public CompiledFilter {
 public:
  explicit CpuFrameCopy(const FrameCopy& copy) : copy_(copy) {}

  void run(const FilterArguments& arguments, CUstream_st* /*stream*/) const override {
    const PixelFormat& pixel = arguments.dst.format.pixel;
    for (int plane = 0; plane < pixel.plane_count(); ++plane) {
      const auto copy_samples = pixel.bytes_per_sample() == 1 ? copy_plane<std::uint8_t> : copy_plane<std::uint16_t>;
      copy_samples(arguments.dst.planes[plane], arguments.src.planes[plane], copy_[plane]);
    }
  }

 private:
  FrameCopy copy_;
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_frame_copy(const FrameCopy& copy, const FrameFormat& output, Backend backend) {
  if constexpr (kHasCuda) {
    if (backend == Backend::kCuda) return compile_frame_copy_cuda(copy, output);
  }
  return std::make_unique<CpuFrameCopy>(copy);
}

}  // namespace framelane
