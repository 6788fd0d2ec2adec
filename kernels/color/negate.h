// negate's arithmetic, one source for CPU and CUDA.
#pragma once

#include "kernels/color/color_math.h"

namespace framelane {

/** Plane-wise, in codes: max_code - code of the chosen components. */
struct NegateOp {
  int components;  ///< bit c: component c is negated, alpha (kAlphaComponent) like the others
  float max_code;
};

FRAMELANE_HOST_DEVICE inline float apply_to_component(const NegateOp& op, int component, float code) {
  return (op.components >> component & 1) != 0 ? op.max_code - code : code;
}

}  // namespace framelane
