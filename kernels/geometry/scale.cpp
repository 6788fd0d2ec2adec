#include "kernels/geometry/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "kernels/errors.h"
#include "kernels/geometry/plane_copy.h"
#include "kernels/geometry/scale_size.h"

namespace framelane {
namespace {

struct NamedKernel {
  std::string_view name;
  ResampleKernel kernel;
};
constexpr NamedKernel kKernels[] = {{"neighbor", ResampleKernel::kNeighbor},
                                    {"bilinear", ResampleKernel::kBilinear},
                                    {"bicubic", ResampleKernel::kBicubic},
                                    {"lanczos", ResampleKernel::kLanczos},
                                    {"area", ResampleKernel::kArea}};

// What these ask of swscale is always so here: exact sums, full-resolution chroma, the same result everywhere.
constexpr std::string_view kAlwaysOn[] = {"accurate_rnd", "full_chroma_int", "full_chroma_inp", "bitexact"};

/** "lanczos", or swscale's "lanczos+accurate_rnd"; flags that name no kernel leave bicubic. */
ResampleKernel parse_flags(std::string_view text) {
  std::optional<ResampleKernel> kernel;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t plus = rest.find('+');
    const std::string_view flag = rest.substr(0, plus);
    rest = plus == std::string_view::npos ? "" : rest.substr(plus + 1);
    if (flag.empty() || std::ranges::find(kAlwaysOn, flag) != std::end(kAlwaysOn)) continue;
    const auto* named = std::ranges::find(kKernels, flag, &NamedKernel::name);
    if (named == std::end(kKernels)) {
      throw UsageError(
          fmt::format("filter 'scale': parameter 'flags': no '{}' in '{}' (neighbor, bilinear, bicubic, lanczos, area; "
                      "accurate_rnd, full_chroma_int, full_chroma_inp, bitexact are always on)",
                      flag, text));
    }
    if (kernel && *kernel != named->kernel) {
      throw UsageError(fmt::format("filter 'scale': parameter 'flags': '{}' names more than one kernel", text));
    }
    kernel = named->kernel;
  }
  return kernel.value_or(ResampleKernel::kBicubic);
}

/** Nothing for "auto" and "unknown". */
std::optional<ColorRange> parse_range(std::string_view text) {
  if (text == "full" || text == "pc" || text == "jpeg") return ColorRange::kFull;
  if (text == "limited" || text == "tv" || text == "mpeg") return ColorRange::kLimited;
  return {};
}

/** Codes of black (or of no colour) and of the largest excursion above it, ITU-T H.273 equations 20 to 31. */
struct CodeScale {
  double zero;
  double excursion;
};

CodeScale code_scale(ColorRange range, int depth_bits, bool chroma) {
  const double step = 1 << (depth_bits - 8);
  const double max_code = (1 << depth_bits) - 1;
  const double zero = chroma ? 128 * step : range == ColorRange::kFull ? 0 : 16 * step;
  return {zero, range == ColorRange::kFull ? max_code : (chroma ? 224 : 219) * step};
}

CodeMap code_map(ColorRange from, ColorRange to, int depth_bits, bool chroma) {
  if (from == to) return {};
  const CodeScale in = code_scale(from, depth_bits, chroma);
  const CodeScale out = code_scale(to, depth_bits, chroma);
  const double gain = out.excursion / in.excursion;
  return {static_cast<float>(gain), static_cast<float>(out.zero - gain * in.zero)};
}

class Scale final : public Filter {
 public:
  explicit Scale(const ParameterValues& values)
      : size_(values),
        kernel_(parse_flags(values.text("flags"))),
        in_range_(parse_range(values.text("in_range"))),
        out_range_(parse_range(values.text("out_range"))) {}

  FrameFormat output_format(const FrameFormat& input) const override {
    const ScaleSize::Size size = size_.of(input);
    FrameFormat output = input;
    output.width = size.width;
    output.height = size.height;
    output.range = out_range_.value_or(in_range_.value_or(input.range));
    output.sample_aspect = resized_sample_aspect(input, size.width, size.height);
    return output;
  }

  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    ScalePlan plan = make_plan(input);
    if (changes_nothing(plan)) return compile_frame_copy({}, plan.output, backend);
    if constexpr (kHasCuda) {
      if (backend == Backend::kCuda) return compile_scale_cuda(plan);
    }
    return compile_scale_cpu(std::move(plan));
  }

 private:
  ScalePlan make_plan(const FrameFormat& input) const {
    ScalePlan plan{input, output_format(input), {}, {}, {}};
    const PixelFormat& pixel = input.pixel;
    for (const int plane : {0, 1}) {  // 1: chroma, where there is any
      if (plane >= pixel.plane_count()) break;
      plan.horizontal[plane] = resample_taps(input.plane_width(plane), plan.output.plane_width(plane), kernel_);
      plan.vertical[plane] = resample_taps(input.plane_height(plane), plan.output.plane_height(plane), kernel_);
    }
    for (int plane = 0; plane < pixel.color_planes(); ++plane) {
      plan.codes[plane] =
          code_map(in_range_.value_or(input.range), plan.output.range, pixel.depth_bits, pixel.is_chroma(plane));
    }
    return plan;
  }

  static bool changes_nothing(const ScalePlan& plan) {
    return plan.input.width == plan.output.width && plan.input.height == plan.output.height &&
           std::ranges::all_of(plan.codes, [](const CodeMap& map) { return map == CodeMap{}; });
  }

  ScaleSize size_;
  ResampleKernel kernel_;
  std::optional<ColorRange> in_range_;
  std::optional<ColorRange> out_range_;
};

const std::vector<std::string_view> kRanges{"auto", "unknown", "full", "limited", "jpeg", "mpeg", "pc", "tv"};

std::vector<Parameter> parameters() {
  return {{.name = "w",
           .help = "width (pixels; may use iw, ih, oh, a, sar, dar, hsub, vsub); -1 keeps the aspect ratio, -n too and "
                   "is divisible by n; 0 = input",
           .type = ParameterType::kExpression,
           .default_value = "iw",
           .alias = "width"},
          {.name = "h",
           .help = "height (pixels; may use iw, ih, ow, a, sar, dar, hsub, vsub); negative values and 0 as for w",
           .type = ParameterType::kExpression,
           .default_value = "ih",
           .alias = "height"},
          {.name = "flags",
           .help = "kernel: neighbor, bilinear, bicubic, lanczos or area; swscale's +accurate_rnd, +full_chroma_int, "
                   "+full_chroma_inp and +bitexact are always so here",
           .type = ParameterType::kText,
           .default_value = "bicubic",
           .alias = "interp"},
          {.name = "size",
           .help = "width and height at once: 1280x720, hd720",
           .type = ParameterType::kText,
           .default_value = "",
           .alias = "s"},
          {.name = "in_range",
           .help = "code range of the input, in place of the stream's own",
           .type = ParameterType::kChoice,
           .default_value = "auto",
           .choices = kRanges},
          {.name = "out_range",
           .help = "code range to convert to; auto: as the input",
           .type = ParameterType::kChoice,
           .default_value = "auto",
           .choices = kRanges},
          {.name = "force_original_aspect_ratio",
           .help = "shrink or enlarge w or h to keep the input's aspect ratio",
           .type = ParameterType::kChoice,
           .default_value = "disable",
           .choices = {"disable", "decrease", "increase"}},
          {.name = "force_divisible_by",
           .help = "with force_original_aspect_ratio: round both sizes to multiples of this",
           .type = ParameterType::kInteger,
           .default_value = "1",
           .min = 1,
           .max = 256}};
}

int kernel_radius(const ParameterValues& values) { return resample_radius(parse_flags(values.text("flags"))); }

}  // namespace

const FilterDescriptor& scale_filter() {
  static const FilterDescriptor descriptor{
      .name = "scale",
      .aliases = {},
      .help = "Resize the frame, each plane as an image of its own; the widened kernel when shrinking.",
      .kind = FilterKind::kGeometry,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kReplicate,
      .parameters = parameters(),
      .oracle = "float64 reference; ffmpeg scale with accurate_rnd+full_chroma_int; area: cv::resize INTER_AREA",
      .tolerance =
          "1 against float64 and cv (float sums may round the other way); 2 (10 bits: 4) against ffmpeg, whose "
          "weights have 14 bits, away from the upper and left edges, where swscale drops a tap, and where its "
          "15-bit rows do not saturate",
      .conformance_settings = {"w=ceil(iw/2):h=ceil(ih/2)", "w=iw*2:h=ih*2", "w=ceil(iw*2/3):h=ih:flags=lanczos",
                               "w=ceil(iw/3):h=ceil(ih*3/2):flags=area", "w=iw*3/2:h=ih:flags=bilinear",
                               "w=iw+1:h=ih+3:flags=neighbor", "out_range=full"},
      .create = [](const ParameterValues& values) -> std::unique_ptr<Filter> {
        return std::make_unique<Scale>(values);
      },
      .spatial_radius = kernel_radius,
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost =
          [](const ParameterValues& values) {
            return FilterCost{.bytes = 2, .operations = 8.0 * std::max(1, kernel_radius(values))};
          }};
  return descriptor;
}

}  // namespace framelane
