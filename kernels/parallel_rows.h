// Rows of a plane over the cores, on the threads that OpenCV's own functions use.
#pragma once

#include <cstddef>
#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>

#include "kernels/frame.h"

namespace framelane {

/** Calls work(first_row, last_row_excluded) over disjoint ranges that cover [0, rows), possibly at once. */
template <typename Work>
void parallel_rows(int rows, const Work& work) {
  cv::parallel_for_(cv::Range(0, rows), [&](const cv::Range& range) { work(range.start, range.end); });
}

/** Copies a plane of `row_bytes` a row; either pitch may be negative. */
inline void copy_rows(const PlaneView& dst, const PlaneView& src, std::size_t row_bytes) {
  parallel_rows(dst.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) std::memcpy(dst.row<std::byte>(y), src.row<std::byte>(y), row_bytes);
  });
}

/** An OpenCV header on a plane's memory; no copy. `depth_bits` over 8 means 16-bit samples. */
inline cv::Mat as_mat(const PlaneView& plane, int depth_bits) {
  return {plane.height, plane.width, depth_bits > 8 ? CV_16UC1 : CV_8UC1, plane.data,
          static_cast<std::size_t>(plane.pitch_bytes)};
}

}  // namespace framelane
