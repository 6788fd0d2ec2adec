// lut3d: each colour looked up in a 3D table from a .cube file.
#include "kernels/color/lut3d.h"

#include <fmt/format.h>

#include "kernels/asset_path.h"
#include "kernels/color/color_op.h"
#include "kernels/color/color_program.h"
#include "kernels/color/cube_file.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

class Lut3d final : public Filter {
 public:
  Lut3d(CubeLut lut, LutInterpolation interpolation)
      : op_{.table = nullptr,
            .size = lut.size,
            .interpolation = interpolation,
            .domain_min = {},
            .domain_max = {},
            .scale = {}},
        table_(std::make_shared<const std::vector<LutEntry>>(std::move(lut.entries))) {
    for (int axis = 0; axis < 3; ++axis) {
      op_.domain_min[axis] = lut.domain_min[axis];
      op_.domain_max[axis] = lut.domain_max[axis];
      op_.scale[axis] = static_cast<float>(lut.size - 1) / (lut.domain_max[axis] - lut.domain_min[axis]);
    }
  }

  void append_to(ColorProgram& program, const FrameFormat& /*format*/) const override { program.append(op_, table_); }

 private:
  Lut3dOp op_;
  LutTable table_;
};

LutInterpolation interpolation(const std::string& name) {
  if (name == "nearest") return LutInterpolation::kNearest;
  return name == "trilinear" ? LutInterpolation::kTrilinear : LutInterpolation::kTetrahedral;
}

std::unique_ptr<Filter> create(const ParameterValues& values) {
  const std::string& file = values.text("file");
  if (file.empty()) throw UsageError("filter 'lut3d': parameter 'file' is missing: lut3d=file=NAME.cube");
  try {
    return std::make_unique<Lut3d>(read_cube_file(asset_path(file)), interpolation(values.text("interp")));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("filter 'lut3d': {}", error.what()));
  }
}

FilterCost cost(const ParameterValues& values) {
  // to RGB and back: 20; weights and sums of 1, 8 or 4 grid points
  const std::string& interp = values.text("interp");
  return {2, interp == "nearest" ? 30.0 : (interp == "trilinear" ? 90.0 : 60.0)};
}

}  // namespace

const FilterDescriptor& lut3d_filter() {
  static const FilterDescriptor descriptor{
      .name = "lut3d",
      .aliases = {},
      .help = "colours looked up in a 3D table (.cube), on R'G'B' in the stream's own matrix, range and transfer",
      .kind = FilterKind::kColor,
      .space = WorkingSpace::kRgb,
      .border = BorderRule::kNone,
      .parameters = {{.name = "file",
                      .help = "the .cube file; a name alone is also looked for among the program's own (warm.cube, "
                              "teal_orange.cube)",
                      .type = ParameterType::kText,
                      .default_value = ""},
                     {.name = "interp",
                      .help = "between grid points",
                      .type = ParameterType::kChoice,
                      .default_value = "tetrahedral",
                      .choices = {"nearest", "trilinear", "tetrahedral"}}},
      .oracle = "a float64 reference; ffmpeg's lut3d on gbrp and gbrp16",
      .tolerance =
          "float64: 1, by float32's rounding; ffmpeg: 1, since it truncates when storing; interp=nearest is "
          "compared on RGB alone, as a colour halfway between two grid points may fall to either",
      .conformance_settings = {"file=warm.cube", "file=teal_orange.cube:interp=trilinear"},
      .create = create,
      .spatial_radius = [](const ParameterValues&) { return 0; },
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost = cost,
  };
  return descriptor;
}

}  // namespace framelane
