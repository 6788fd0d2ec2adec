// The one median of all measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace framelane {

/** Of ascending values; the mean of the middle two where they are even in number, 0 for none. */
inline double median_of_sorted(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/** Of values in any order. */
inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return median_of_sorted(values);
}

}  // namespace framelane
