// Sizes and offsets as expressions over the frame's size, as ffmpeg's geometry filters take them.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/expression.h"
#include "kernels/frame.h"

namespace framelane {

/** What a geometry filter knows so far beside its input; NaN where it is not settled yet. */
struct GeometryState {
  double out_w = std::numeric_limits<double>::quiet_NaN();
  double out_h = std::numeric_limits<double>::quiet_NaN();
  double x = std::numeric_limits<double>::quiet_NaN();
  double y = std::numeric_limits<double>::quiet_NaN();
};

/** An expression over iw/in_w, ih/in_h, ow/out_w, oh/out_h, a, sar, dar, hsub, vsub, x and y (samples of the first
 *  plane; hsub and vsub are 1, 2 or 4).
 *  Thread: evaluate() from one thread at a time. */
class GeometryExpression {
 public:
  /** Throws UsageError that names filter, parameter and mistake; uses of n, t and pos are told apart. */
  GeometryExpression(std::string_view filter, std::string_view parameter, const std::string& text);

  /** May be NaN, where the expression needs what `state` does not hold. An unknown sample aspect counts as 1. */
  double evaluate(const FrameFormat& input, const GeometryState& state) const;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  Expression expression_;
};

/** The sample aspect that keeps the picture's shape when `input` becomes width x height samples; unknown stays so. */
AspectRatio resized_sample_aspect(const FrameFormat& input, int width, int height);

}  // namespace framelane
