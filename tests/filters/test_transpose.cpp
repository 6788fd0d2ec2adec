// transpose against ffmpeg, and against OpenCV where ffmpeg has no such format.
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <tuple>
#include <utility>

#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "kernels/parallel_rows.h"
#include "tests/plane_fixture.h"

namespace framelane::testing {
namespace {

/** What each dir is in OpenCV's terms. */
struct Turn {
  const char* dir;
  const char* number;
  int rotation;  ///< cv::RotateFlags, or -1: none
  int flip;      ///< cv::flip's code after it, or 2: none
};
constexpr Turn kTurns[] = {{"clock", "1", cv::ROTATE_90_CLOCKWISE, 2},
                           {"cclock", "2", cv::ROTATE_90_COUNTERCLOCKWISE, 2},
                           {"clock_flip", "3", cv::ROTATE_90_CLOCKWISE, 0},
                           {"cclock_flip", "0", cv::ROTATE_90_COUNTERCLOCKWISE, 0}};

FrameFormat transposed(FrameFormat format) {
  std::swap(format.width, format.height);
  std::swap(format.pixel.chroma_shift_x, format.pixel.chroma_shift_y);
  return format;
}

HostFrame turned_by_opencv(const HostFrame& frame, const Turn& turn) {
  HostFrame result(transposed(frame.format()));
  for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
    const int depth = frame.format().pixel.depth_bits;
    cv::Mat to = as_mat(result.view().planes[plane], depth);
    cv::rotate(as_mat(frame.view().planes[plane], depth), to, turn.rotation);
    if (turn.flip != 2) cv::flip(to, to, turn.flip);
  }
  return result;
}

std::string transpose(const std::string& dir) { return "transpose=dir=" + dir; }

TEST(Transpose, TurnsEveryPlaneOfEveryFormat) {
  std::uint32_t seed = 1;
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Size& size : test_sizes(false)) {
      const Turn& turn = kTurns[++seed % 4];
      const int extra_pitch = seed % 3 == 0 ? 2 : 0;
      const HostFrame frame(make_format(pixel, size.width, size.height), Content::kRandom, seed, extra_pitch);
      for (const Backend backend : backends()) {
        EXPECT_EQ(max_difference(run_filter(transpose(turn.dir), frame, backend), turned_by_opencv(frame, turn)), 0)
            << describe(frame.format()) << ", " << turn.dir << ", seed " << seed << ", extra pitch " << extra_pitch;
      }
    }
  }
}

TEST(Transpose, IsFfmpegs) {
  FRAMELANE_REQUIRE_FFMPEG("transpose");
  for (const std::string name : {"yuv420p", "yuva444p", "gray10", "yuv410p"}) {
    const HostFrame frame(make_format(pixel_format(name), 66, 33), Content::kRandom, 5);
    const std::string pix_fmt = frame.format().pixel.depth_bits > 8 ? name + "le" : name;
    for (const Turn& turn : kTurns) {
      const HostFrame expected = run_ffmpeg(transpose(turn.dir), {frame}, pix_fmt, transposed(frame.format())).front();
      for (const Backend backend : backends()) {
        EXPECT_EQ(max_difference(run_filter(transpose(turn.dir), frame, backend), expected), 0) << name << turn.dir;
        EXPECT_EQ(max_difference(run_filter(transpose(turn.number), frame, backend), expected), 0) << turn.number;
      }
    }
  }
}

TEST(Transpose, TurnsLargeAndTallFrames) {
  for (const auto& [name, width, height] :
       {std::tuple{"yuv420p", 1919, 1081}, {"yuv422p10", 1919, 1081}, {"gray", 16, 65552}, {"gray16", 65552, 16}}) {
    const HostFrame frame(make_format(pixel_format(name), width, height), Content::kRandom, 3);
    for (const Turn& turn : {kTurns[0], kTurns[1]}) {
      for (const Backend backend : backends()) {
        EXPECT_EQ(max_difference(run_filter(transpose(turn.dir), frame, backend), turned_by_opencv(frame, turn)), 0)
            << describe(frame.format()) << ", " << turn.dir;
      }
    }
  }
}

TEST(Transpose, PassesTheOrientationThatItIsToldToPass) {
  const HostFrame portrait(make_format(pixel_format("yuv422p"), 10, 16), Content::kRandom, 1);
  const HostFrame landscape(make_format(pixel_format("yuv422p"), 16, 10), Content::kRandom, 1);
  const HostFrame square(make_format(pixel_format("yuv422p"), 12, 12), Content::kRandom, 1);
  for (const Backend backend : backends()) {
    const auto turned = [&](const std::string& passthrough, const HostFrame& frame) {
      return run_filter("transpose=clock:" + passthrough, frame, backend);
    };
    EXPECT_EQ(max_difference(turned("portrait", portrait), portrait), 0);
    EXPECT_EQ(max_difference(turned("landscape", landscape), landscape), 0);
    EXPECT_EQ(max_difference(turned("portrait", square), square), 0);
    EXPECT_EQ(max_difference(turned("landscape", square), square), 0);
    EXPECT_EQ(max_difference(turned("portrait", landscape), turned_by_opencv(landscape, kTurns[0])), 0);
    EXPECT_EQ(max_difference(turned("landscape", portrait), turned_by_opencv(portrait, kTurns[0])), 0);
    EXPECT_EQ(max_difference(turned("none", portrait), turned_by_opencv(portrait, kTurns[0])), 0);
  }
}

TEST(Transpose, TurnsTheSampleAspectToo) {
  FrameFormat input = make_format(pixel_format("yuv420p"), 720, 576);
  const std::vector<FilterUse> uses = parse_filter_chain("transpose=clock");
  const std::unique_ptr<Filter> filter = uses[0].descriptor->create(uses[0].values);
  EXPECT_EQ(filter->output_format(input).sample_aspect, (AspectRatio{0, 1})) << "unknown stays unknown";
  input.sample_aspect = {16, 15};
  EXPECT_EQ(filter->output_format(input).sample_aspect, (AspectRatio{15, 16}));
}

// A decoder may hand out frames that lie in memory from the bottom row to the top one.
TEST(Transpose, TakesNegativePitches) {
  const FrameFormat format = make_format(pixel_format("yuv420p"), 66, 34);
  const HostFrame frame(format, Content::kRandom, 9);
  FrameView upside_down = frame.view();
  for (PlaneView& plane : upside_down.planes) {
    plane.data += (plane.height - 1) * plane.pitch_bytes;
    plane.pitch_bytes = -plane.pitch_bytes;
  }
  const HostFrame flipped = run_filter("vflip", frame, Backend::kCpu);
  for (const Turn& turn : kTurns) {
    const std::vector<FilterUse> uses = parse_filter_chain(transpose(turn.dir));
    const HostFrame result(transposed(format));
    const std::unique_ptr<Filter> filter = uses[0].descriptor->create(uses[0].values);
    filter->compile(format, Backend::kCpu)->run({.dst = result.view(), .src = upside_down}, nullptr);
    EXPECT_EQ(max_difference(result, turned_by_opencv(flipped, turn)), 0) << turn.dir;
  }
}

}  // namespace
}  // namespace framelane::testing
