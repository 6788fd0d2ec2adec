// Unsharp masking with a binomial blur, in ffmpeg's integer arithmetic.
#include "kernels/spatial/unsharp.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/spatial/bands.h"

namespace framelane {
namespace {

std::vector<double> blur_weights(int radius) {
  std::vector<double> weights;
  for (const std::uint32_t coefficient : binomial_coefficients(radius)) {
    weights.push_back(std::ldexp(coefficient, -2 * radius));
  }
  return weights;
}

/** dst = v + floor(amount * (v - blurred)), `blurred` rounded to nearest with halves up. `Sum`: float or double. */
template <typename Sample, typename Sum>
void sharpen_row(Sample* dst, const Sample* src, const Sum* blurred, int width, int amount_q16, int max_code) {
  using Product = std::conditional_t<sizeof(Sample) == 1, std::int32_t, std::int64_t>;
  for (int x = 0; x < width; ++x) {
    const int difference = src[x] - static_cast<int>(blurred[x] + Sum{0.5});
    const Product sharpened = src[x] + ((static_cast<Product>(difference) * amount_q16) >> 16);
    dst[x] = static_cast<Sample>(std::clamp<Product>(sharpened, 0, max_code));
  }
}

template <typename Sample>
class CpuUnsharp final : public CompiledFilter {
 public:
  CpuUnsharp(const FrameFormat& format, const FrameSharpening& planes) : pixel_(format.pixel), planes_(planes) {
    for (std::size_t plane = 0; plane < planes.size(); ++plane) {
      weights_[plane] = {blur_weights(planes[plane].row_radius), blur_weights(planes[plane].column_radius)};
    }
  }

  void run(const FilterArguments& arguments, CUstream_st*) const override {
    for (int plane = 0; plane < pixel_.plane_count(); ++plane) {
      const PlaneView& src = arguments.src.planes[plane];
      const PlaneView& dst = arguments.dst.planes[plane];
      if (planes_[plane].amount_q16 == 0) {
        cv::Mat copy = as_mat(dst, pixel_.depth_bits);
        as_mat(src, pixel_.depth_bits).copyTo(copy);
      } else if (planes_[plane].is_exact_in_float(pixel_.depth_bits)) {
        sharpen<float>(dst, src, plane);
      } else {
        sharpen<double>(dst, src, plane);
      }
    }
  }

 private:
  template <typename Sum>
  void sharpen(const PlaneView& dst, const PlaneView& src, int plane) const {
    const cv::Mat codes = as_mat(src, pixel_.depth_bits);
    parallel_bands(src.height, planes_[plane].column_radius, [&](const cv::Range& band) {
      cv::Mat blurred;
      filter_band(blurred, cv::DataType<Sum>::depth, codes, band, weights_[plane], cv::BORDER_REPLICATE);
      for (int y = band.start; y < band.end; ++y) {
        sharpen_row(dst.row<Sample>(y), src.row<Sample>(y), blurred.ptr<Sum>(y - band.start), src.width,
                    planes_[plane].amount_q16, pixel_.max_code());
      }
    });
  }

  PixelFormat pixel_;
  FrameSharpening planes_;
  std::array<SeparableWeights, kMaxPlanes> weights_;
};

/** `amount` as ffmpeg holds it: a float, times 65536, cut towards zero. */
PlaneSharpening plane_sharpening(int width, int height, double amount) {
  return {width / 2, height / 2, static_cast<int>(static_cast<float>(amount) * 65536.0)};
}

class Unsharp final : public Filter {
 public:
  explicit Unsharp(const ParameterValues& values)
      : luma_(plane_sharpening(values.integer("lx"), values.integer("ly"), values.number("la"))),
        chroma_(plane_sharpening(values.integer("cx"), values.integer("cy"), values.number("ca"))),
        alpha_(plane_sharpening(values.integer("ax"), values.integer("ay"), values.number("aa"))) {}

  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    FrameSharpening planes;
    for (int plane = 0; plane < input.pixel.plane_count(); ++plane) {
      planes[plane] = input.pixel.is_chroma(plane) ? chroma_ : input.pixel.is_alpha(plane) ? alpha_ : luma_;
    }
    if constexpr (kHasCuda) {
      if (backend == Backend::kCuda) return compile_unsharp_cuda(input, planes);
    }
    if (input.pixel.bytes_per_sample() == 1) return std::make_unique<CpuUnsharp<std::uint8_t>>(input, planes);
    return std::make_unique<CpuUnsharp<std::uint16_t>>(input, planes);
  }

 private:
  PlaneSharpening luma_;  ///< also of G, B and R
  PlaneSharpening chroma_;
  PlaneSharpening alpha_;
};

Parameter matrix_size(std::string_view name, std::string_view alias, std::string_view help) {
  return {.name = name,
          .help = help,
          .type = ParameterType::kInteger,
          .default_value = "5",
          .min = 3,
          .max = 23,
          .alias = alias,
          .odd = true};
}

Parameter amount(std::string_view name, std::string_view alias, std::string_view help, std::string_view default_value) {
  return {.name = name, .help = help, .default_value = default_value, .min = -2, .max = 5, .alias = alias};
}

}  // namespace

const FilterDescriptor& unsharp_filter() {
  static const FilterDescriptor descriptor{
      .name = "unsharp",
      .aliases = {},
      .help = "sharpen (or blur, with a negative amount) by the difference from a binomial blur",
      .kind = FilterKind::kSpatial,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kReplicate,
      .parameters = {matrix_size("lx", "luma_msize_x", "width of the luma (or G, B, R) blur in samples, odd"),
                     matrix_size("ly", "luma_msize_y", "height of the luma (or G, B, R) blur in samples, odd"),
                     amount("la", "luma_amount", "luma (or G, B, R) strength; negative blurs, 0 leaves it alone", "1"),
                     matrix_size("cx", "chroma_msize_x", "width of the chroma blur in samples, odd"),
                     matrix_size("cy", "chroma_msize_y", "height of the chroma blur in samples, odd"),
                     amount("ca", "chroma_amount", "chroma strength; negative blurs, 0 leaves it alone", "0"),
                     matrix_size("ax", "alpha_msize_x", "width of the alpha blur in samples, odd"),
                     matrix_size("ay", "alpha_msize_y", "height of the alpha blur in samples, odd"),
                     amount("aa", "alpha_amount", "alpha strength; negative blurs, 0 leaves it alone", "0")},
      .oracle = "ffmpeg's unsharp at 8 bits; integer arithmetic in the test above",
      .tolerance =
          "exact (ffmpeg 5.1 applies 1/256 of the amount above 8 bits, crashes on aa, refuses lx/2 + ly/2 > 12, and is "
          "wrong on planes lower than about 2 ly: there the integer arithmetic stands alone)",
      .conformance_settings = {"", "la=-1.5:ca=0.5", "lx=3:ly=13:la=5:cx=9:cy=9:ca=-2:aa=1", "lx=23:ly=23:la=2"},
      .create = [](const ParameterValues& values) -> std::unique_ptr<Filter> {
        return std::make_unique<Unsharp>(values);
      },
      .spatial_radius =
          [](const ParameterValues& values) {
            int largest = 0;
            for (const char* size : {"lx", "ly", "cx", "cy", "ax", "ay"}) {
              largest = std::max(largest, values.integer(size) / 2);
            }
            return largest;
          },
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost =
          [](const ParameterValues& values) {
            return FilterCost{.bytes = 2, .operations = 2.0 * (values.integer("lx") + values.integer("ly")) + 3};
          }};
  return descriptor;
}

}  // namespace framelane
