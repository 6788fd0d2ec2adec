// Gaussian blur.
#include "kernels/spatial/gblur.h"

#include <cmath>

#include "kernels/plane_mask.h"
#include "kernels/spatial/bands.h"

namespace framelane {
namespace {

constexpr double kCutSigmas = 4;  // what lies outside is 6e-5 of the weight: under half a code at 12 bits

int gaussian_radius(double sigma_px) { return static_cast<int>(std::ceil(kCutSigmas * sigma_px)); }

/** exp(-x^2 / 2 sigma^2) at whole x, divided by its sum. */
std::vector<double> gaussian_weights(double sigma_px) {
  const int radius = gaussian_radius(sigma_px);
  std::vector<double> weights(2 * static_cast<std::size_t>(radius) + 1, 1.0);
  double sum = 1;
  for (int x = 1; x <= radius; ++x) {
    const double weight = std::exp(-0.5 * (x / sigma_px) * (x / sigma_px));
    weights[static_cast<std::size_t>(radius - x)] = weights[static_cast<std::size_t>(radius + x)] = weight;
    sum += 2 * weight;
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

double vertical_sigma(const ParameterValues& values) {
  const double sigma_px = values.number("sigmaV");
  return sigma_px < 0 ? values.number("sigma") : sigma_px;
}

class CpuGaussianBlur final : public CompiledFilter {
 public:
  CpuGaussianBlur(const FrameFormat& format, const SeparableWeights& weights, int planes)
      : pixel_(format.pixel), weights_(weights), planes_(planes) {}

  void run(const FilterArguments& arguments, CUstream_st*) const override {
    for (int plane = 0; plane < pixel_.plane_count(); ++plane) {
      const cv::Mat src = as_mat(arguments.src.planes[plane], pixel_.depth_bits);
      cv::Mat dst = as_mat(arguments.dst.planes[plane], pixel_.depth_bits);
      if (!mask_selects(planes_, pixel_, plane) || weights_.changes_nothing()) {
        src.copyTo(dst);
      } else {
        parallel_bands(src.rows, weights_.column_radius(), [&](const cv::Range& band) { blur(dst, src, band); });
      }
    }
  }

 private:
  // Not cv::GaussianBlur: its weights for integers are rounded to 1/256 (8 bits) or 1/65536 (16 bits), which is off by
  // up to 4 codes on extreme content, and no faster.
  void blur(const cv::Mat& dst, const cv::Mat& src, const cv::Range& band) const {
    cv::Mat rows = dst.rowRange(band.start, band.end);
    if (pixel_.depth_bits == 8) {
      filter_band(rows, CV_8U, src, band, weights_, cv::BORDER_REFLECT_101);
    } else {
      cv::Mat sums;
      filter_band(sums, CV_32F, src, band, weights_, cv::BORDER_REFLECT_101);
      sums.convertTo(rows, CV_16U);
    }
  }

  PixelFormat pixel_;
  SeparableWeights weights_;
  int planes_;
};

class GaussianBlur final : public Filter {
 public:
  explicit GaussianBlur(const ParameterValues& values)
      : weights_{gaussian_weights(values.number("sigma")), gaussian_weights(vertical_sigma(values))},
        planes_(values.integer("planes")) {}

  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    if constexpr (kHasCuda) {
      if (backend == Backend::kCuda) return compile_gblur_cuda(input, weights_, planes_);
    }
    return std::make_unique<CpuGaussianBlur>(input, weights_, planes_);
  }

 private:
  SeparableWeights weights_;
  int planes_;
};

FilterCost gblur_cost(const ParameterValues& values) {
  const int weights = gaussian_radius(values.number("sigma")) + gaussian_radius(vertical_sigma(values));
  return {.bytes = 2, .operations = 2.0 * (2 * weights + 2)};
}

}  // namespace

const FilterDescriptor& gblur_filter() {
  static const FilterDescriptor descriptor{
      .name = "gblur",
      .aliases = {},
      .help = "Gaussian blur: a true Gaussian, cut at 4 sigma (ffmpeg's gblur approximates one)",
      .kind = FilterKind::kSpatial,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kReflect101,
      .parameters = {{.name = "sigma",
                      .help =
                          "standard deviation in samples of each plane, 0: no blur along rows (above 100 it is slow)",
                      .default_value = "0.5",
                      .min = 0,
                      .max = 1024},
                     {.name = "steps",
                      .help = "accepted for ffmpeg's sake and ignored: the blur is exact in one step",
                      .type = ParameterType::kInteger,
                      .default_value = "1",
                      .min = 1,
                      .max = 6},
                     {.name = "planes",
                      .help =
                          "planes to filter, a bit each: 1 Y or G, 2 U or B, 4 V or R, 8 alpha; the others are copied",
                      .type = ParameterType::kInteger,
                      .default_value = "15",
                      .min = 0,
                      .max = 15},
                     {.name = "sigmaV",
                      .help = "vertical standard deviation in samples, 0: no blur along columns, -1: the same as sigma",
                      .default_value = "-1",
                      .min = -1,
                      .max = 1024}},
      .oracle = "the Gaussian in float64; cv::GaussianBlur",
      .tolerance =
          "float64: rounded to nearest (float sums: 1 code off where a sum lies within 2e-6 of full scale from a "
          "half); "
          "cv::GaussianBlur: 1 code at 8 bits, 4 at 16, for it rounds its weights to 1/256 and 1/65536",
      .conformance_settings = {"sigma=2", "", "sigma=10:sigmaV=1", "sigma=0:sigmaV=3", "sigma=40", "sigma=2.5:planes=1",
                               "sigma=1:planes=8"},
      .create = [](const ParameterValues& values) -> std::unique_ptr<Filter> {
        return std::make_unique<GaussianBlur>(values);
      },
      .spatial_radius =
          [](const ParameterValues& values) {
            return gaussian_radius(std::max(values.number("sigma"), vertical_sigma(values)));
          },
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost = gblur_cost};
  return descriptor;
}

}  // namespace framelane
