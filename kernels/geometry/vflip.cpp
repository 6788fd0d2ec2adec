#include "kernels/geometry/plane_copy.h"

namespace framelane {
namespace {

class VerticalFlip final : public Filter {
 public:
  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    FrameCopy copy;
    for (int plane = 0; plane < input.pixel.plane_count(); ++plane) {
      copy[plane].mirror_y = true;
      copy[plane].origin_y = input.plane_height(plane) - 1;
    }
    return compile_frame_copy(copy, input, backend);
  }
};

}  // namespace

const FilterDescriptor& vflip_filter() {
  static const FilterDescriptor descriptor{
      .name = "vflip",
      .aliases = {},
      .help = "Turn the picture upside down.",
      .kind = FilterKind::kGeometry,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kNone,
      .parameters = {},
      .oracle = "ffmpeg vflip",
      .tolerance = "exact: samples are copied",
      .conformance_settings = {""},
      .create = [](const ParameterValues&) -> std::unique_ptr<Filter> { return std::make_unique<VerticalFlip>(); },
      .spatial_radius = [](const ParameterValues&) { return 0; },
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost = [](const ParameterValues&) { return FilterCost{.bytes = 2, .operations = 0}; }};
  return descriptor;
}

}  // namespace framelane
