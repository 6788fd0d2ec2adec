// sobel against the operator in float64, cv::Sobel, and ffmpeg's inside the frame.
#include <fmt/format.h>

#include <opencv2/imgproc.hpp>

#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "tests/spatial_reference.h"

namespace framelane::testing {
namespace {

// Halfway cases, and what a float holds of the strengths of 16-bit codes.
constexpr double kRounding = 0.51;

/** sqrt(gx^2 + gy^2) * scale + delta by definition, clamped to the codes. */
cv::Mat reference(const HostFrame& frame, int plane, double scale = 1, double delta = 0) {
  const cv::Mat codes = plane_as_double(frame, plane);
  const std::vector<double> difference{-1, 0, 1};
  const std::vector<double> smooth{1, 2, 1};
  const cv::Mat gx = separable_reference(codes, difference, smooth, reflected_101);
  const cv::Mat gy = separable_reference(codes, smooth, difference, reflected_101);
  cv::Mat strength(codes.size(), CV_64F);
  for (int y = 0; y < codes.rows; ++y) {
    for (int x = 0; x < codes.cols; ++x) {
      const double value = std::hypot(gx.at<double>(y, x), gy.at<double>(y, x)) * scale + delta;
      strength.at<double>(y, x) = std::clamp<double>(value, 0, frame.format().pixel.max_code());
    }
  }
  return strength;
}

TEST(Sobel, EveryFormatAndSizeIsTheRoundedOperator) {
  for_each_small_frame([](const HostFrame& frame) {
    for (const Backend backend : backends()) {
      const HostFrame edges = run_filter("sobel=scale=0.4:delta=3", frame, backend);
      for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
        EXPECT_LE(distance_from(edges, plane, reference(frame, plane, 0.4, 3)), kRounding)
            << backend_name(backend) << ", plane " << plane;
      }
    }
  });
}

TEST(Sobel, ScaleAndDeltaClampToTheCodes) {
  for (const char* name : {"gray8", "gray9", "gray14", "gray16"}) {
    for (const Content content : {Content::kGradient, Content::kExtremes}) {
      const HostFrame frame(make_format(pixel_format(name), 65, 33), content, 3);
      for (const auto& [scale, delta] : {std::pair{1.0, 0.0},
                                         {0.0, 77.0},
                                         {0.25, -20.0},
                                         {3.0, -400.0},
                                         {1.0, 65535.0},
                                         {1.0, -65535.0},
                                         {65535.0, 0.0},
                                         {0.1, 0.5}}) {
        for (const Backend backend : backends()) {
          const std::string filter = fmt::format("sobel=scale={}:delta={}", scale, delta);
          EXPECT_LE(distance_from(run_filter(filter, frame, backend), 0, reference(frame, 0, scale, delta)), kRounding)
              << backend_name(backend) << ", " << name << ", " << filter;
        }
      }
    }
  }
}

TEST(Sobel, LargeFramesAreOpenCvsGradientRounded) {
  struct Case {
    const char* pixel;
    int width;
    int height;
  };
  for (const Case& test : {Case{"yuv420p", 1919, 1081},
                           {"yuv422p10", 1919, 1081},
                           {"gray8", 4096, 2160},
                           {"gray16", 16, 65552},
                           {"gray8", 65552, 16}}) {
    for (const int extra_pitch_bytes : {0, 2}) {
      const HostFrame frame(make_format(pixel_format(test.pixel), test.width, test.height), Content::kRandom, 5,
                            extra_pitch_bytes);
      for (const Backend backend : backends()) {
        const HostFrame edges = run_filter("sobel=scale=0.25", frame, backend);
        for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
          const cv::Mat codes = plane_as_double(frame, plane);
          cv::Mat gx;
          cv::Mat gy;
          cv::Mat strength;
          cv::Sobel(codes, gx, CV_64F, 1, 0, 3, 1, 0, cv::BORDER_REFLECT_101);
          cv::Sobel(codes, gy, CV_64F, 0, 1, 3, 1, 0, cv::BORDER_REFLECT_101);
          cv::magnitude(gx, gy, strength);
          strength = cv::min(strength * 0.25, frame.format().pixel.max_code());
          EXPECT_LE(distance_from(edges, plane, strength), kRounding)
              << backend_name(backend) << ", " << describe(frame.format()) << ", plane " << plane;
        }
      }
    }
  }
}

TEST(Sobel, IsFfmpegsInsideTheFrameWithinItsTruncation) {
  FRAMELANE_REQUIRE_FFMPEG("sobel");
  for (const char* name : {"gray8", "gray10", "gray16", "yuv420p", "yuva444p", "yuv422p10", "gbrp", "gbrp12"}) {
    const HostFrame frame(make_format(pixel_format(name), 67, 35), Content::kRandom, 7);
    for (const char* filter : {"sobel", "sobel=scale=0.3:delta=5", "sobel=scale=2:delta=-100:planes=1"}) {
      const std::string pix_fmt =
          std::string(name == std::string("gray8") ? "gray" : name) + (frame.format().pixel.depth_bits > 8 ? "le" : "");
      const HostFrame expected = run_ffmpeg(filter, {frame}, pix_fmt, frame.format()).at(0);
      for (const Backend backend : backends()) {
        const HostFrame edges = run_filter(filter, frame, backend);
        for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
          int largest = 0;
          for (int y = 1; y + 1 < frame.format().plane_height(plane); ++y) {
            for (int x = 1; x + 1 < frame.format().plane_width(plane); ++x) {
              largest = std::max(largest, std::abs(edges.sample(plane, x, y) - expected.sample(plane, x, y)));
            }
          }
          EXPECT_LE(largest, 1) << backend_name(backend) << ", " << name << ", " << filter << ", plane " << plane;
        }
      }
    }
  }
}

TEST(Sobel, FlatFramesHaveNoEdges) {
  for (const char* name : {"gray8", "gray16"}) {
    const FrameFormat format = make_format(pixel_format(name), 37, 21);
    HostFrame flat(format);
    HostFrame sevens(format);
    for (int y = 0; y < format.height; ++y) {
      for (int x = 0; x < format.width; ++x) {
        flat.set_sample(0, x, y, format.pixel.max_code());
        sevens.set_sample(0, x, y, 7);
      }
    }
    for (const Backend backend : backends()) {
      EXPECT_EQ(max_difference(run_filter("sobel", flat, backend), HostFrame(format)), 0);
      EXPECT_EQ(max_difference(run_filter("sobel=scale=9:delta=7", flat, backend), sevens), 0);
    }
  }
}

TEST(Sobel, PlanesOutsideTheMaskAreCopiedAndBitThreeIsAlpha) {
  const PixelFormat gray_alpha{ColorModel::kGray, 10, 0, 0, true};
  for (const PixelFormat& pixel : {pixel_format("yuva420p"), pixel_format("gbrap16"), gray_alpha}) {
    const HostFrame frame(make_format(pixel, 65, 33), Content::kRandom, 23);
    for (const Backend backend : backends()) {
      const HostFrame all = run_filter("sobel", frame, backend);
      for (int mask = 0; mask < 16; ++mask) {
        const HostFrame some = run_filter(fmt::format("sobel={}", mask), frame, backend);
        for (int plane = 0; plane < pixel.plane_count(); ++plane) {
          const int bit = pixel.is_alpha(plane) ? 8 : 1 << plane;
          EXPECT_EQ(some.plane(plane), ((mask & bit) != 0 ? all : frame).plane(plane))
              << backend_name(backend) << ", " << describe(frame.format()) << ", planes=" << mask << ", plane "
              << plane;
        }
      }
    }
  }
}

TEST(Sobel, ThreadsOfOpenCvLeaveNoSeams) {
  for (const char* name : {"gray8", "gray12"}) {
    const HostFrame frame(make_format(pixel_format(name), 33, 701), Content::kRandom, 29);
    const OpenCvThreads one(1);
    const HostFrame expected = run_filter("sobel", frame, Backend::kCpu);
    for (const int threads : {2, 7}) {
      const OpenCvThreads several(threads);
      EXPECT_EQ(max_difference(run_filter("sobel", frame, Backend::kCpu), expected), 0) << name << ", " << threads;
    }
  }
}

TEST(Sobel, RefusesWhatFfmpegRefuses) {
  for (const char* filter : {"sobel=planes=16", "sobel=scale=-1", "sobel=scale=65536", "sobel=delta=-65536"}) {
    EXPECT_THROW(parse_filter_chain(filter), UsageError) << filter;
  }
}

}  // namespace
}  // namespace framelane::testing
