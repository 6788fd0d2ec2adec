// What the CPU and CUDA halves of a separable filter agree on.
#pragma once

#include <vector>

namespace framelane {

/** A separable filter's weights: 2 * radius + 1 along rows, and the same along columns. {1}: nothing to do that way. */
struct SeparableWeights {
  std::vector<double> row{1.0};
  std::vector<double> column{1.0};

  int row_radius() const { return static_cast<int>(row.size() / 2); }
  int column_radius() const { return static_cast<int>(column.size() / 2); }
  bool changes_nothing() const { return row.size() == 1 && column.size() == 1; }
};

}  // namespace framelane
