// eq: brightness, contrast, gamma and saturation, by one curve a plane.
#include "kernels/color/eq.h"

#include <cmath>

#include "kernels/color/color_op.h"
#include "kernels/color/color_program.h"

namespace framelane {
namespace {

/** The parameters of eq as ffmpeg names them. */
struct EqSettings {
  double contrast;
  double brightness;
  double saturation;
  double gamma;
  double gamma_r;
  double gamma_g;
  double gamma_b;
  double gamma_weight;
};

EqCurve make_curve(double contrast, double brightness, double gamma, double gamma_weight) {
  const double inverse_gamma = gamma_weight > 0 ? 1 / gamma : 1;
  return {static_cast<float>(contrast), static_cast<float>(brightness), static_cast<float>(inverse_gamma),
          static_cast<float>(gamma_weight)};
}

class Eq final : public Filter {
 public:
  explicit Eq(const EqSettings& settings) : settings_(settings) {}

  void append_to(ColorProgram& program, const FrameFormat& format) const override {
    const auto max_code = static_cast<float>(format.pixel.max_code());
    if (format.pixel.model != ColorModel::kGbr) {
      program.append(EqOp{
          {luma_curve(settings_.gamma_g), chroma_curve(settings_.gamma_b), chroma_curve(settings_.gamma_r)}, max_code});
      return;
    }
    program.append(
        EqOp{{luma_curve(settings_.gamma_g), luma_curve(settings_.gamma_b), luma_curve(settings_.gamma_r)}, max_code});
    if (settings_.saturation == 1) return;
    const LumaWeights weights = luma_weights(format.matrix);
    program.append(SaturationOp{static_cast<float>(settings_.saturation), static_cast<float>(weights.kr),
                                static_cast<float>(1 - weights.kr - weights.kb), static_cast<float>(weights.kb)});
  }

 private:
  /** Of Y (with green's gamma, as in ffmpeg) and of each of G, B and R. */
  EqCurve luma_curve(double component_gamma) const {
    return make_curve(settings_.contrast, settings_.brightness, settings_.gamma * component_gamma,
                      settings_.gamma_weight);
  }
  /** Of U (blue against green) and V (red against green). */
  EqCurve chroma_curve(double component_gamma) const {
    return make_curve(settings_.saturation, 0, std::sqrt(component_gamma / settings_.gamma_g), settings_.gamma_weight);
  }

  EqSettings settings_;
};

std::unique_ptr<Filter> create(const ParameterValues& values) {
  return std::make_unique<Eq>(EqSettings{
      .contrast = values.number("contrast"),
      .brightness = values.number("brightness"),
      .saturation = values.number("saturation"),
      .gamma = values.number("gamma"),
      .gamma_r = values.number("gamma_r"),
      .gamma_g = values.number("gamma_g"),
      .gamma_b = values.number("gamma_b"),
      .gamma_weight = values.number("gamma_weight"),
  });
}

Parameter number_parameter(std::string_view name, std::string_view help, std::string_view default_value, double min,
                           double max) {
  return {.name = name,
          .help = help,
          .type = ParameterType::kNumber,
          .default_value = default_value,
          .min = min,
          .max = max,
          .live = true};
}

}  // namespace

const FilterDescriptor& eq_filter() {
  static const FilterDescriptor descriptor{
      .name = "eq",
      .aliases = {},
      .help = "brightness, contrast, saturation and gamma, on the stored codes of Y, U and V (or of G, B and R)",
      .kind = FilterKind::kColor,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kNone,
      .parameters = {number_parameter("contrast", "stretches luma about mid-gray; negative values give a negative", "1",
                                      -1000, 1000),
                     number_parameter("brightness", "added to luma, in units of the whole range", "0", -1, 1),
                     number_parameter("saturation", "stretches chroma about its centre; 0 leaves gray", "1", 0, 3),
                     number_parameter("gamma", "gamma of luma; above 1 brightens", "1", 0.1, 10),
                     number_parameter("gamma_r", "gamma of red: on V (on R of RGB formats)", "1", 0.1, 10),
                     number_parameter("gamma_g", "gamma of green: on luma, and against red and blue", "1", 0.1, 10),
                     number_parameter("gamma_b", "gamma of blue: on U (on B of RGB formats)", "1", 0.1, 10),
                     number_parameter("gamma_weight",
                                      "how much of the gamma curves to mix in; lower values spare bright areas", "1", 0,
                                      1),
                     {.name = "eval",
                      .help = "when the parameters are read: once, at the start",
                      .type = ParameterType::kChoice,
                      .default_value = "init",
                      .choices = {"init"}}},
      .oracle = "ffmpeg's eq at 8 bits; a float64 reference at every depth",
      .tolerance =
          "ffmpeg: 1, since it cuts 256 v off and this rounds max v (where no gamma is set ffmpeg takes an "
          "integer short cut that is up to 3 off its own formula); float64: rounding",
      .conformance_settings = {"contrast=1.2:brightness=0.05:saturation=1.3", "gamma=1.4:gamma_weight=0.6",
                               "gamma_r=1.3:gamma_g=0.9:gamma_b=0.7:contrast=-0.8", "saturation=0"},
      .create = create,
      .spatial_radius = [](const ParameterValues&) { return 0; },
      .temporal_reach = [](const ParameterValues&) { return 0; },
      .cost =
          [](const ParameterValues&) {
            return FilterCost{2, 1};
          },
  };
  return descriptor;
}

}  // namespace framelane
