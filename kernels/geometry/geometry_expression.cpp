#include "kernels/geometry/geometry_expression.h"

#include <fmt/format.h>

#include <cstdint>
#include <numeric>

#include "kernels/errors.h"

namespace framelane {
namespace {

// In the order of GeometryExpression::evaluate()'s values.
const std::vector<std::string> kVariables{"iw", "in_w", "ih",  "in_h", "ow",   "out_w", "oh", "out_h",
                                          "a",  "sar",  "dar", "hsub", "vsub", "x",     "y"};

bool depends_on_time(const std::string& text) {
  std::vector<std::string> variables = kVariables;
  variables.insert(variables.end(), {"n", "t", "pos"});
  try {
    static_cast<void>(Expression(text, variables));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

Expression compile(std::string_view filter, std::string_view parameter, const std::string& text) {
  try {
    return {text, kVariables};
  } catch (const UsageError& error) {
    if (depends_on_time(text)) {
      throw UsageError(
          fmt::format("filter '{}': parameter '{}': '{}' changes from frame to frame (n, t, pos); here it must be "
                      "the same for all frames",
                      filter, parameter, text));
    }
    throw UsageError(fmt::format("filter '{}': parameter '{}': {}", filter, parameter, error.what()));
  }
}

}  // namespace

GeometryExpression::GeometryExpression(std::string_view filter, std::string_view parameter, const std::string& text)
    : text_(text), expression_(compile(filter, parameter, text)) {}

double GeometryExpression::evaluate(const FrameFormat& input, const GeometryState& state) const {
  const double width = input.width;
  const double height = input.height;
  const AspectRatio& shape = input.sample_aspect;
  const double sar = shape.num > 0 && shape.den > 0 ? static_cast<double>(shape.num) / shape.den : 1.0;
  const double aspect = width / height;
  return expression_.evaluate({width, width, height, height, state.out_w, state.out_w, state.out_h, state.out_h, aspect,
                               sar, aspect * sar, static_cast<double>(1 << input.pixel.chroma_shift_x),
                               static_cast<double>(1 << input.pixel.chroma_shift_y), state.x, state.y});
}

AspectRatio resized_sample_aspect(const FrameFormat& input, int width, int height) {
  const AspectRatio& shape = input.sample_aspect;
  if (shape.num <= 0 || shape.den <= 0) return shape;
  std::int64_t num = std::int64_t{input.width} * height;
  std::int64_t den = std::int64_t{input.height} * width;
  const std::int64_t common = std::gcd(num, den);
  num = num / common * shape.num;
  den = den / common * shape.den;
  const std::int64_t rest = std::gcd(num, den);
  num /= rest;
  den /= rest;
  while (num > std::numeric_limits<int>::max() || den > std::numeric_limits<int>::max()) {
    num = (num + 1) / 2;
    den = (den + 1) / 2;
  }
  return {static_cast<int>(num), static_cast<int>(den)};
}

}  // namespace framelane
