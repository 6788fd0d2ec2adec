#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>

#include "kernels/errors.h"
#include "kernels/geometry/geometry_expression.h"
#include "kernels/geometry/plane_copy.h"

namespace framelane {
namespace {

struct Rectangle {
  int x;
  int y;
  int width;
  int height;
};

/** To the nearest integer, ties to even; what does not fit, NaN too, becomes INT_MIN. */
int nearest_integer(double value) { return std::abs(value) <= INT_MAX ? static_cast<int>(std::lrint(value)) : INT_MIN; }

class Crop final : public Filter {
 public:
  explicit Crop(const ParameterValues& values)
      : width_("crop", "w", values.text("w")),
        height_("crop", "h", values.text("h")),
        x_("crop", "x", values.text("x")),
        y_("crop", "y", values.text("y")),
        keep_aspect_(values.flag("keep_aspect")),
        exact_(values.flag("exact")) {}

  FrameFormat output_format(const FrameFormat& input) const override {
    const Rectangle kept = rectangle(input);
    FrameFormat output = input;
    output.width = kept.width;
    output.height = kept.height;
    if (keep_aspect_) output.sample_aspect = resized_sample_aspect(input, kept.width, kept.height);
    return output;
  }

  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    const Rectangle kept = rectangle(input);
    FrameCopy copy;
    for (int plane = 0; plane < input.pixel.plane_count(); ++plane) {
      const bool chroma = input.pixel.is_chroma(plane);
      copy[plane].origin_x = kept.x >> (chroma ? input.pixel.chroma_shift_x : 0);
      copy[plane].origin_y = kept.y >> (chroma ? input.pixel.chroma_shift_y : 0);
    }
    return compile_frame_copy(copy, output_format(input), backend);
  }

 private:
  Rectangle rectangle(const FrameFormat& input) const {
    GeometryState state;
    const Rectangle size = sized(input, state);
    // x may use y and the other way round: whichever is settled first gives the other.
    state.x = x_.evaluate(input, state);
    state.y = y_.evaluate(input, state);
    state.x = x_.evaluate(input, state);
    return {offset(state.x, input.width - size.width, input.pixel.chroma_shift_x),
            offset(state.y, input.height - size.height, input.pixel.chroma_shift_y), size.width, size.height};
  }

  /** The size alone; `state` gets what the expressions gave, before rounding. */
  Rectangle sized(const FrameFormat& input, GeometryState& state) const {
    state.out_w = width_.evaluate(input, state);
    state.out_h = height_.evaluate(input, state);
    state.out_w = width_.evaluate(input, state);
    const int width = on_grid(nearest_integer(state.out_w), input.pixel.chroma_shift_x);
    const int height = on_grid(nearest_integer(state.out_h), input.pixel.chroma_shift_y);
    if (width < 1 || height < 1 || width > input.width || height > input.height) {
      throw UsageError(fmt::format(
          "filter 'crop': w={} and h={} keep {}x{} of a frame of {}: allowed are 1 to {} and 1 to {}{}", width_.text(),
          height_.text(), shown(state.out_w), shown(state.out_h), describe(input), input.width, input.height,
          exact_ ? "" : ", rounded down to whole chroma samples (exact=1 does not round)"));
    }
    return {0, 0, width, height};
  }

  static std::string shown(double value) { return std::isnan(value) ? "nan" : fmt::format("{:g}", value); }

  int on_grid(int value, int shift) const { return exact_ || value < 0 ? value : value >> shift << shift; }

  /** As in ffmpeg, an offset that leads out of the frame is moved to its edge, and NaN is the centre. */
  int offset(double value, int largest, int shift) const {
    const double wanted = std::isnan(value) ? largest / 2 : std::clamp(value, 0.0, static_cast<double>(largest));
    return on_grid(nearest_integer(wanted), shift);
  }

  GeometryExpression width_;
  GeometryExpression height_;
  GeometryExpression x_;
  GeometryExpression y_;
  bool keep_aspect_;
  bool exact_;
};

}  // namespace

const FilterDescriptor& crop_filter() {
  static const FilterDescriptor descriptor{
      .name = "crop",
      .aliases = {},
      .help = "Keep a rectangle of the frame.",
      .kind = FilterKind::kGeometry,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kNone,
      .parameters =
          {{.name = "w",
            .help = "width to keep (pixels; may use iw, ih, oh, a, sar, dar, hsub, vsub), rounded down to whole chroma "
                    "samples",
            .type = ParameterType::kExpression,
            .default_value = "iw",
            .alias = "out_w"},
           {.name = "h",
            .help = "height to keep (pixels; may use iw, ih, ow, a, sar, dar, hsub, vsub), rounded likewise",
            .type = ParameterType::kExpression,
            .default_value = "ih",
            .alias = "out_h"},
           {.name = "x",
            .help = "left edge (pixels; may use y too), moved into the frame and to a chroma sample; default: centred",
            .type = ParameterType::kExpression,
            .default_value = "(in_w-out_w)/2"},
           {.name = "y",
            .help = "upper edge (pixels; may use x too), moved likewise; default: centred",
            .type = ParameterType::kExpression,
            .default_value = "(in_h-out_h)/2"},
           {.name = "keep_aspect",
            .help = "change the sample aspect ratio so that the picture keeps its shape on the screen",
            .type = ParameterType::kBoolean,
            .default_value = "0",
            .max = 1},
           {.name = "exact",
            .help = "keep odd sizes and offsets of subsampled formats; chroma may then shift by half a sample",
            .type = ParameterType::kBoolean,
            .default_value = "0",
            .max = 1}},
      .oracle = "ffmpeg crop",
      .tolerance = "exact: samples are copied",
      .conformance_settings = {"w=ceil(iw/2):h=ceil(ih/2):exact=1", "w=iw:h=ceil(ih/3):y=1:exact=1",
                               "w=ceil(iw*2/3):h=ih:x=3:exact=1"},
      .create = [](const ParameterValues& values) -> std::unique_ptr<Filter> { return std::make_unique<Crop>(values); },
      .spatial_radius = [](const ParameterValues&) { return 0; },
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost = [](const ParameterValues&) { return FilterCost{.bytes = 2, .operations = 0}; }};
  return descriptor;
}

}  // namespace framelane
