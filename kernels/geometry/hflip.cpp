#include "kernels/geometry/plane_copy.h"

namespace framelane {
namespace {

class HorizontalFlip final : public Filter {
 public:
  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    FrameCopy copy;
    for (int plane = 0; plane < input.pixel.plane_count(); ++plane) {
      copy[plane].mirror_x = true;
      copy[plane].origin_x = input.plane_width(plane) - 1;
    }
    return compile_frame_copy(copy, input, backend);
  }
};

}  // namespace

const FilterDescriptor& hflip_filter() {
  static const FilterDescriptor descriptor{
      .name = "hflip",
      .aliases = {},
      .help = "Mirror the picture left to right.",
      .kind = FilterKind::kGeometry,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kNone,
      .parameters = {},
      .oracle = "ffmpeg hflip",
      .tolerance = "exact: samples are copied",
      .conformance_settings = {""},
      .create = [](const ParameterValues&) -> std::unique_ptr<Filter> { return std::make_unique<HorizontalFlip>(); },
      .spatial_radius = [](const ParameterValues&) { return 0; },
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost = [](const ParameterValues&) { return FilterCost{.bytes = 2, .operations = 0}; }};
  return descriptor;
}

}  // namespace framelane
