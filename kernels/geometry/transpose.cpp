#include "kernels/geometry/transpose.h"

#include <utility>

#include "kernels/geometry/plane_copy.h"
#include "kernels/parallel_rows.h"

namespace framelane {
namespace {

enum class Passthrough : std::uint8_t { kNone, kPortrait, kLandscape };

/** A plane with rows in ascending memory order, which is all that OpenCV takes; `upside_down` if it was not. */
struct AscendingPlane {
  cv::Mat mat;
  bool upside_down;
};

AscendingPlane ascending(PlaneView plane, int depth_bits) {
  const bool upside_down = plane.pitch_bytes < 0;
  if (upside_down) {
    plane.data += (plane.height - 1) * plane.pitch_bytes;
    plane.pitch_bytes = -plane.pitch_bytes;
  }
  return {as_mat(plane, depth_bits), upside_down};
}

void transpose_plane(const PlaneView& dst_plane, const PlaneView& src_plane, int depth_bits,
                     const Transposition& transposition) {
  const auto [src, src_upside_down] = ascending(src_plane, depth_bits);
  auto [dst, dst_upside_down] = ascending(dst_plane, depth_bits);
  const bool flip_columns = transposition.flip_src_rows != src_upside_down;  // the source's rows become columns
  const bool flip_rows = transposition.flip_dst_rows != dst_upside_down;
  // Some rows at a time, so that the flips find them in the cache.
  parallel_rows(dst.rows, [&, &from = src, &to = dst](int first, int last) {
    constexpr int kRows = 16;
    for (int row = first; row < last; row += kRows) {
      const cv::Range rows(row, std::min(row + kRows, last));
      const cv::Range columns = flip_rows ? cv::Range(from.cols - rows.end, from.cols - rows.start) : rows;
      cv::Mat part = to.rowRange(rows);
      cv::transpose(from.colRange(columns), part);
      if (flip_columns || flip_rows) cv::flip(part, part, flip_columns ? (flip_rows ? -1 : 1) : 0);
    }
  });
}

class CpuTranspose final : public CompiledFilter {
 public:
  explicit CpuTranspose(const Transposition& transposition) : transposition_(transposition) {}

  void run(const FilterArguments& arguments, CUstream_st* /*stream*/) const override {
    const PixelFormat& pixel = arguments.dst.format.pixel;
    for (int plane = 0; plane < pixel.plane_count(); ++plane) {
      transpose_plane(arguments.dst.planes[plane], arguments.src.planes[plane], pixel.depth_bits, transposition_);
    }
  }

 private:
  Transposition transposition_;
};

class Transpose final : public Filter {
 public:
  Transpose(const Transposition& transposition, Passthrough passthrough)
      : transposition_(transposition), passthrough_(passthrough) {}

  FrameFormat output_format(const FrameFormat& input) const override {
    if (passes(input)) return input;
    FrameFormat output = input;
    std::swap(output.width, output.height);
    std::swap(output.pixel.chroma_shift_x, output.pixel.chroma_shift_y);
    if (input.sample_aspect.num > 0) std::swap(output.sample_aspect.num, output.sample_aspect.den);
    return output;
  }

  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    if (passes(input)) return compile_frame_copy({}, input, backend);
    if constexpr (kHasCuda) {
      if (backend == Backend::kCuda) return compile_transpose_cuda(transposition_, output_format(input));
    }
    return std::make_unique<CpuTranspose>(transposition_);
  }

 private:
  bool passes(const FrameFormat& input) const {
    return (passthrough_ == Passthrough::kPortrait && input.height >= input.width) ||
           (passthrough_ == Passthrough::kLandscape && input.width >= input.height);
  }

  Transposition transposition_;
  Passthrough passthrough_;
};

Transposition transposition_of(const std::string& dir) {
  if (dir == "clock" || dir == "1") return {.flip_src_rows = true, .flip_dst_rows = false};
  if (dir == "cclock" || dir == "2") return {.flip_src_rows = false, .flip_dst_rows = true};
  if (dir == "clock_flip" || dir == "3") return {.flip_src_rows = true, .flip_dst_rows = true};
  return {};
}

std::unique_ptr<Filter> create(const ParameterValues& values) {
  const std::string& passthrough = values.text("passthrough");
  return std::make_unique<Transpose>(transposition_of(values.text("dir")),
                                     passthrough == "portrait"    ? Passthrough::kPortrait
                                     : passthrough == "landscape" ? Passthrough::kLandscape
                                                                  : Passthrough::kNone);
}

}  // namespace

const FilterDescriptor& transpose_filter() {
  static const FilterDescriptor descriptor{
      .name = "transpose",
      .aliases = {},
      .help = "Turn the picture by 90 degrees, mirrored or not; 4:2:2 becomes 4:4:0 and the other way round.",
      .kind = FilterKind::kGeometry,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kNone,
      .parameters = {{.name = "dir",
                      .help = "clock: clockwise; cclock: counterclockwise; …_flip: then turned upside down; 0 to 3 in "
                              "ffmpeg's order",
                      .type = ParameterType::kChoice,
                      .default_value = "cclock_flip",
                      .choices = {"cclock_flip", "clock", "cclock", "clock_flip", "0", "1", "2", "3"}},
                     {.name = "passthrough",
                      .help = "leave frames of this orientation as they are",
                      .type = ParameterType::kChoice,
                      .default_value = "none",
                      .choices = {"none", "portrait", "landscape"}}},
      .oracle = "ffmpeg transpose; cv::transpose plane by plane where ffmpeg would convert 4:2:2 or 4:4:0 first",
      .tolerance = "exact: samples are copied",
      .conformance_settings = {"dir=clock", "dir=cclock", "dir=clock_flip", "dir=cclock_flip"},
      .create = create,
      .spatial_radius = [](const ParameterValues&) { return 0; },
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost = [](const ParameterValues&) { return FilterCost{.bytes = 2, .operations = 0}; }};
  return descriptor;
}

}  // namespace framelane
