// What the tests of spatial filters compare with: planes in float64 and Python-simple borders.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <string>
#include <vector>

#include "tests/plane_fixture.h"

namespace framelane::testing {

/** A border rule: the index in [0, size) that stands for `i`. */
using Border = int (*)(int i, int size);

inline int replicated(int i, int size) { return std::clamp(i, 0, size - 1); }

/** Folds `i` at the edge samples until it is inside. */
inline int reflected_101(int i, int size) {
  if (size == 1) return 0;
  while (i < 0 || i >= size) i = i < 0 ? -i : 2 * (size - 1) - i;
  return i;
}

/** A plane as CV_64F. */
inline cv::Mat plane_as_double(const HostFrame& frame, int plane) {
  const int width = frame.format().plane_width(plane);
  const int height = frame.format().plane_height(plane);
  cv::Mat samples(height, width, CV_64F);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) samples.at<double>(y, x) = frame.sample(plane, x, y);
  }
  return samples;
}

/** The largest distance of a plane's codes from `reference` (CV_64F). */
inline double distance_from(const HostFrame& frame, int plane, const cv::Mat& reference) {
  return cv::norm(plane_as_double(frame, plane), reference, cv::NORM_INF);
}

/** Correlates rows, then columns, with weights of odd length, in float64. */
inline cv::Mat separable_reference(const cv::Mat& plane, const std::vector<double>& row,
                                   const std::vector<double>& column, Border border) {
  const int row_radius = static_cast<int>(row.size() / 2);
  const int column_radius = static_cast<int>(column.size() / 2);
  cv::Mat middle(plane.size(), CV_64F, cv::Scalar(0));
  cv::Mat result(plane.size(), CV_64F, cv::Scalar(0));
  for (int y = 0; y < plane.rows; ++y) {
    for (int x = 0; x < plane.cols; ++x) {
      for (int i = -row_radius; i <= row_radius; ++i) {
        middle.at<double>(y, x) +=
            row[static_cast<std::size_t>(i + row_radius)] * plane.at<double>(y, border(x + i, plane.cols));
      }
    }
  }
  for (int y = 0; y < plane.rows; ++y) {
    for (int i = -column_radius; i <= column_radius; ++i) {
      const int from = border(y + i, plane.rows);
      for (int x = 0; x < plane.cols; ++x) {
        result.at<double>(y, x) += column[static_cast<std::size_t>(i + column_radius)] * middle.at<double>(from, x);
      }
    }
  }
  return result;
}

/** Calls check(frame of random samples, seed) for every pixel format and small size, with rows that are aligned to
 *  vectors and rows that are not. */
inline void for_each_small_frame(const std::function<void(const HostFrame& frame)>& check) {
  std::uint32_t seed = 1;
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Size& size : test_sizes(false)) {
      const FrameFormat format = make_format(pixel, size.width, size.height);
      const int extra_pitch_bytes = seed % 2 == 0 ? 2 : 0;
      SCOPED_TRACE(describe(format) + ", seed " + std::to_string(seed));
      check(HostFrame(format, Content::kRandom, seed++, extra_pitch_bytes));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

inline const char* backend_name(Backend backend) { return backend == Backend::kCpu ? "CPU" : "CUDA"; }

/** OpenCV's thread count for a scope. */
class OpenCvThreads {
 public:
  explicit OpenCvThreads(int threads) : before_(cv::getNumThreads()) { cv::setNumThreads(threads); }
  OpenCvThreads(const OpenCvThreads&) = delete;
  OpenCvThreads& operator=(const OpenCvThreads&) = delete;
  ~OpenCvThreads() { cv::setNumThreads(before_); }

 private:
  int before_;
};

}  // namespace framelane::testing
