// negate: the largest code minus each code.
#include "kernels/color/negate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "kernels/color/color_op.h"
#include "kernels/color/color_program.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

constexpr std::string_view kComponents = "yuvrgba";
constexpr std::string_view kDefault = "y+u+v+r+g+b";

/** Letters of components. */
struct Components {
  std::string chosen = "yuvrgb";
  std::string named;  ///< those that the user asked for by name
};

/** ffmpeg's flag notation ("y+u", "+a", "-v"): the first letter with no sign replaces the default, one after + or - is
 *  added or taken away. */
Components parse_components(const std::string& text) {
  Components components;
  std::size_t at = 0;
  do {
    const char sign = at < text.size() && (text[at] == '+' || text[at] == '-') ? text[at++] : '\0';
    const std::size_t end = std::min(text.find_first_of("+-", at), text.size());
    const std::string name = text.substr(at, end - at);
    at = end;
    if (name.size() != 1 || kComponents.find(name) == std::string_view::npos) {
      throw UsageError(
          fmt::format("filter 'negate': unknown component '{}' in components={}; known: y, u, v, r, g, b, "
                      "a, joined by +",
                      name, text));
    }
    if (sign == '\0') components = {.chosen = "", .named = ""};
    for (std::string* letters : {&components.chosen, &components.named}) {
      std::erase(*letters, name[0]);
      if (sign != '-') *letters += name;
    }
  } while (at < text.size());
  return components;
}

/** The letters of a format's planes, in their order. */
std::string plane_letters(const PixelFormat& pixel) {
  std::string letters = pixel.model == ColorModel::kGray ? "y" : (pixel.model == ColorModel::kGbr ? "gbr" : "yuv");
  return pixel.alpha ? letters + 'a' : letters;
}

class Negate final : public Filter {
 public:
  Negate(Components components, bool negate_alpha) : components_(std::move(components)), negate_alpha_(negate_alpha) {}

  void append_to(ColorProgram& program, const FrameFormat& format) const override {
    const std::string letters = plane_letters(format.pixel);
    for (const char component : components_.named) {
      if (letters.find(component) != std::string::npos) continue;
      throw UsageError(fmt::format("filter 'negate': there is no component '{}' in {} frames, only {}", component,
                                   describe(format), fmt::join(letters, ", ")));
    }
    int components = 0;
    for (std::size_t plane = 0; plane < letters.size(); ++plane) {
      const char letter = letters[plane];
      const bool negated = components_.chosen.find(letter) != std::string::npos || (letter == 'a' && negate_alpha_);
      if (negated) components |= 1 << (letter == 'a' ? kAlphaComponent : static_cast<int>(plane));
    }
    program.append(NegateOp{components, static_cast<float>(format.pixel.max_code())});
  }

 private:
  Components components_;
  bool negate_alpha_;
};

std::unique_ptr<Filter> create(const ParameterValues& values) {
  const std::string& text = values.text("components");
  Components components = text == kDefault ? Components{} : parse_components(text);
  return std::make_unique<Negate>(std::move(components), values.flag("negate_alpha"));
}

}  // namespace

const FilterDescriptor& negate_filter() {
  static const FilterDescriptor descriptor{
      .name = "negate",
      .aliases = {},
      .help = "a negative: the largest code minus each code (255-v at 8 bits, on limited range too)",
      .kind = FilterKind::kColor,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kNone,
      .parameters = {{.name = "components",
                      .help = "what to negate: y, u, v, r, g, b and a, joined by +; named ones must be in the format",
                      .type = ParameterType::kText,
                      .default_value = kDefault},
                     {.name = "negate_alpha",
                      .help = "negate alpha too, where there is any",
                      .type = ParameterType::kBoolean,
                      .default_value = "0",
                      .max = 1}},
      .oracle = "ffmpeg's negate",
      .tolerance = "exact: integers",
      .conformance_settings = {"", "negate_alpha=1"},
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
