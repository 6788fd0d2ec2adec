// Edge strength by Sobel's operator.
#include "kernels/spatial/sobel.h"

#include <algorithm>
#include <limits>

#include "kernels/plane_mask.h"
#include "kernels/spatial/bands.h"

namespace framelane {
namespace {

class CpuSobel final : public CompiledFilter {
 public:
  CpuSobel(const FrameFormat& format, const SobelSettings& settings)
      : pixel_(format.pixel),
        settings_(settings),
        delta_(std::min(settings.delta, static_cast<float>(pixel_.max_code()))),
        largest_strength_(settings.scale > 0 ? (static_cast<float>(pixel_.max_code()) - delta_) / settings.scale
                                             : std::numeric_limits<float>::max()) {}

  void run(const FilterArguments& arguments, CUstream_st*) const override {
    for (int plane = 0; plane < pixel_.plane_count(); ++plane) {
      const cv::Mat src = as_mat(arguments.src.planes[plane], pixel_.depth_bits);
      cv::Mat dst = as_mat(arguments.dst.planes[plane], pixel_.depth_bits);
      if (mask_selects(settings_.planes, pixel_, plane)) {
        parallel_bands(src.rows, 1, [&](const cv::Range& band) { detect_edges(dst, src, band); });
      } else {
        src.copyTo(dst);
      }
    }
  }

 private:
  // On floats throughout, which hold every sum exactly: OpenCV vectorises that best (measured, also for bytes).
  void detect_edges(const cv::Mat& dst, const cv::Mat& src, const cv::Range& band) const {
    const cv::Mat codes = widen_band(src, band, 1, CV_32F);
    cv::Mat horizontal;
    cv::Mat vertical;
    cv::Sobel(codes, horizontal, CV_32F, 1, 0, 3, 1, 0, cv::BORDER_REFLECT_101);
    cv::Sobel(codes, vertical, CV_32F, 0, 1, 3, 1, 0, cv::BORDER_REFLECT_101);
    cv::magnitude(horizontal, vertical, horizontal);
    cv::Mat rows = dst.rowRange(band.start, band.end);
    cv::min(horizontal, largest_strength_, horizontal);
    horizontal.convertTo(rows, rows.type(), settings_.scale, delta_);
  }

  PixelFormat pixel_;
  SobelSettings settings_;
  float delta_;
  float largest_strength_;  ///< gives max_code: beyond it the conversion to integers would overflow
};

class Sobel final : public Filter {
 public:
  explicit Sobel(const ParameterValues& values)
      : settings_{static_cast<float>(values.number("scale")), static_cast<float>(values.number("delta")),
                  values.integer("planes")} {}

  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    if constexpr (kHasCuda) {
      if (backend == Backend::kCuda) return compile_sobel_cuda(input, settings_);
    }
    return std::make_unique<CpuSobel>(input, settings_);
  }

 private:
  SobelSettings settings_;
};

}  // namespace

const FilterDescriptor& sobel_filter() {
  static const FilterDescriptor descriptor{
      .name = "sobel",
      .aliases = {},
      .help = "edge strength: sqrt(gx^2 + gy^2) of Sobel's 3x3 operator",
      .kind = FilterKind::kSpatial,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kReflect101,
      .parameters = {{.name = "planes",
                      .help =
                          "planes to filter, a bit each: 1 Y or G, 2 U or B, 4 V or R, 8 alpha; the others are copied",
                      .type = ParameterType::kInteger,
                      .default_value = "15",
                      .min = 0,
                      .max = 15},
                     {.name = "scale",
                      .help = "the strength is multiplied by this",
                      .default_value = "1",
                      .min = 0,
                      .max = 65535},
                     {.name = "delta",
                      .help = "then this is added, in codes",
                      .default_value = "0",
                      .min = -65535,
                      .max = 65535}},
      .oracle = "float64 with reflect-101; cv::Sobel; ffmpeg's sobel inside the frame",
      .tolerance = "1 code (ffmpeg truncates, and mirrors with the edge sample at the right and at the bottom)",
      .conformance_settings = {"", "scale=0.25:delta=16", "scale=3:delta=-40:planes=1", "planes=8"},
      .create = [](const ParameterValues& values) -> std::unique_ptr<Filter> {
        return std::make_unique<Sobel>(values);
      },
      .spatial_radius = [](const ParameterValues&) { return 1; },
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost = [](const ParameterValues&) { return FilterCost{.bytes = 2, .operations = 16}; }};
  return descriptor;
}

}  // namespace framelane
