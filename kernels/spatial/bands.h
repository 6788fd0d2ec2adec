// Spatial filters on the CPU: a plane in bands of rows, each filtered by OpenCV with the rows around it in view.
#pragma once

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>

#include "kernels/parallel_rows.h"
#include "kernels/spatial/separable.h"

namespace framelane {

/** Calls work(cv::Range) over bands that cover [0, rows), on OpenCV's threads. A filter that reaches `radius` rows
 *  upwards and downwards works on those rows too: bands are tall enough to keep that small, and otherwise short enough
 *  for their intermediate rows to stay in the cache. */
template <typename Work>
void parallel_bands(int rows, int radius, const Work& work) {
  constexpr int kCachedRows = 64;
  const int tallest = std::max(kCachedRows, 32 * radius);
  const int shortest = 2 * radius + 8;
  const int threads = std::max(1, cv::getNumThreads());
  const int shared_out = (rows + threads - 1) / threads;
  const int band_rows = std::clamp(shared_out, shortest, std::max(shortest, tallest));
  parallel_rows((rows + band_rows - 1) / band_rows, [&](int first_band, int last_band) {
    for (int band = first_band; band < last_band; ++band) {
      work(cv::Range(band * band_rows, std::min((band + 1) * band_rows, rows)));
    }
  });
}

/** The rows of `band` as floating point of `depth` (CV_32F, CV_64F), inside a matrix that also holds `radius` rows on
 *  each side where the plane has them: OpenCV's filters read those across the band's edges. */
inline cv::Mat widen_band(const cv::Mat& src, const cv::Range& band, int radius, int depth) {
  const int first = std::max(0, band.start - radius);
  const int last = std::min(src.rows, band.end + radius);
  cv::Mat wide;
  src.rowRange(first, last).convertTo(wide, depth);
  return wide.rowRange(band.start - first, band.end - first);
}

/** Rows `band` of the filtered plane, as `dst_depth`. Sums are formed in float, or in double for CV_64F. 16-bit samples
 *  are widened first: OpenCV's fast paths are for bytes and floats (measured: 2.4 times at radius 8). */
inline void filter_band(cv::Mat& dst, int dst_depth, const cv::Mat& src, const cv::Range& band,
                        const SeparableWeights& weights, int cv_border) {
  const int sum_depth = dst_depth == CV_64F ? CV_64F : CV_32F;
  const cv::Mat rows = src.depth() == CV_8U ? src.rowRange(band.start, band.end)
                                            : widen_band(src, band, weights.column_radius(), sum_depth);
  cv::sepFilter2D(rows, dst, dst_depth, weights.row, weights.column, {-1, -1}, 0, cv_border);
}

}  // namespace framelane
