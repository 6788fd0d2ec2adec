// vflip against ffmpeg and cv::flip.
#include <gtest/gtest.h>

#include <opencv2/core.hpp>

#include "kernels/parallel_rows.h"
#include "tests/plane_fixture.h"

namespace framelane::testing {
namespace {

HostFrame flipped_by_opencv(const HostFrame& frame) {
  HostFrame result(frame.format());
  for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
    const int depth = frame.format().pixel.depth_bits;
    cv::Mat to = as_mat(result.view().planes[plane], depth);
    cv::flip(as_mat(frame.view().planes[plane], depth), to, 0);
  }
  return result;
}

TEST(VerticalFlip, TurnsEveryPlaneOfEveryFormatUpsideDown) {
  std::uint32_t seed = 1;
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Size& size : test_sizes(false)) {
      for (const int extra_pitch : {0, 2}) {
        const HostFrame frame(make_format(pixel, size.width, size.height), Content::kRandom, ++seed, extra_pitch);
        for (const Backend backend : backends()) {
          EXPECT_EQ(max_difference(run_filter("vflip", frame, backend), flipped_by_opencv(frame)), 0)
              << describe(frame.format()) << ", seed " << seed << ", extra pitch " << extra_pitch;
        }
      }
    }
  }
}

TEST(VerticalFlip, IsFfmpegs) {
  FRAMELANE_REQUIRE_FFMPEG("vflip");
  for (const std::string name : {"yuv420p", "yuv411p", "yuva422p10", "gbrp12"}) {
    const HostFrame frame(make_format(pixel_format(name), 65, 33), Content::kRandom, 7);
    const std::string pix_fmt = frame.format().pixel.depth_bits > 8 ? name + "le" : name;
    const HostFrame expected = run_ffmpeg("vflip", {frame}, pix_fmt, frame.format()).front();
    for (const Backend backend : backends()) {
      EXPECT_EQ(max_difference(run_filter("vflip", frame, backend), expected), 0) << name;
    }
  }
}

TEST(VerticalFlip, TurnsLargeAndTallFrames) {
  for (const auto& [name, width, height] :
       {std::tuple{"yuv420p", 1919, 1081}, {"yuv422p10", 1919, 1081}, {"gray", 16, 65552}}) {
    const HostFrame frame(make_format(pixel_format(name), width, height), Content::kRandom, 3);
    for (const Backend backend : backends()) {
      EXPECT_EQ(max_difference(run_filter("vflip", frame, backend), flipped_by_opencv(frame)), 0)
          << describe(frame.format());
    }
  }
}

}  // namespace
}  // namespace framelane::testing
