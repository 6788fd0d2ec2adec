// Which sample stands for one outside the plane.
#pragma once

#include "kernels/filter.h"

namespace framelane {

/** The place in [0, size) of the sample at `i`, however far outside. kReplicate: the edge sample; kReflect101: mirrored
 *  without the edge sample, again and again where the plane is small. */
template <BorderRule kBorder>
__device__ __forceinline__ int border_index(int i, int size) {
  static_assert(kBorder == BorderRule::kReplicate || kBorder == BorderRule::kReflect101);
  if constexpr (kBorder == BorderRule::kReplicate) {
    return min(max(i, 0), size - 1);
  } else {
    if (static_cast<unsigned>(i) < static_cast<unsigned>(size)) return i;
    if (size == 1) return 0;
    const int period = 2 * (size - 1);
    const int folded = abs(i) % period;
    return min(folded, period - folded);
  }
}

}  // namespace framelane
