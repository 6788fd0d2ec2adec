// The size that scale's parameters ask for.
#pragma once

#include <string>

#include "kernels/filter.h"
#include "kernels/geometry/geometry_expression.h"

namespace framelane {

/** Output width and height as functions of the input, by ffmpeg's rules.
 *  Thread: of() from one thread at a time. */
class ScaleSize {
 public:
  /** Reads w, h, size, force_original_aspect_ratio and force_divisible_by; throws UsageError. */
  explicit ScaleSize(const ParameterValues& values);

  struct Size {
    int width;
    int height;
  };
  /** 1 to kMaxSize each; throws UsageError where the parameters give another size. */
  Size of(const FrameFormat& input) const;

  static constexpr int kMaxSize = 65536;

 private:
  enum class Fit { kDisable, kDecrease, kIncrease };
  struct Texts {
    std::string width;
    std::string height;
  };
  ScaleSize(const Texts& texts, const ParameterValues& values);
  static Texts texts(const ParameterValues& values);

  GeometryExpression width_;
  GeometryExpression height_;
  Fit fit_;
  int divisor_;
};

}  // namespace framelane
