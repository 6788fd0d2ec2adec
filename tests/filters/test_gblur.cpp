// gblur against the Gaussian itself in float64, cv::GaussianBlur, and ffmpeg's approximation.
#include <fmt/format.h>

#include <numbers>
#include <opencv2/imgproc.hpp>

#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "tests/spatial_reference.h"

namespace framelane::testing {
namespace {

constexpr double kSigmas[] = {0.3, 0.5, 1, 2, 2.5, 5, 10, 30, 100};

/** Halfway cases, and the error of sums in float. */
double rounding_tolerance(const FrameFormat& format) { return 0.5 + 2e-6 * format.pixel.max_code(); }

/** The integral of nothing: samples of the density, far beyond where it matters, divided by their sum. */
std::vector<double> gaussian(double sigma_px, double reach_sigmas) {
  if (sigma_px == 0) return {1.0};
  const int radius = static_cast<int>(std::ceil(reach_sigmas * sigma_px));
  std::vector<double> weights;
  double sum = 0;
  for (int x = -radius; x <= radius; ++x) {
    weights.push_back(std::exp(-x * x / (2 * sigma_px * sigma_px)) / (sigma_px * std::sqrt(2 * std::numbers::pi)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

cv::Mat reference(const HostFrame& frame, int plane, double sigma_px, double sigma_v_px, double reach_sigmas = 4) {
  return separable_reference(plane_as_double(frame, plane), gaussian(sigma_px, reach_sigmas),
                             gaussian(sigma_v_px, reach_sigmas), reflected_101);
}

/** OpenCV's blur in float64, fast enough for large planes. */
cv::Mat opencv_blur(const cv::Mat& plane, double sigma_px) {
  const int size = 2 * static_cast<int>(std::ceil(4 * sigma_px)) + 1;
  cv::Mat blurred;
  cv::GaussianBlur(plane, blurred, {size, size}, sigma_px, sigma_px, cv::BORDER_REFLECT_101);
  return blurred;
}

TEST(Gblur, EveryFormatAndSizeIsTheRoundedGaussian) {
  for_each_small_frame([](const HostFrame& frame) {
    for (const Backend backend : backends()) {
      const HostFrame blurred = run_filter("gblur=sigma=2:sigmaV=1.2", frame, backend);
      for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
        EXPECT_LE(distance_from(blurred, plane, reference(frame, plane, 2, 1.2)), rounding_tolerance(frame.format()))
            << backend_name(backend) << ", plane " << plane;
      }
    }
  });
}

TEST(Gblur, EverySigmaIsTheRoundedGaussian) {
  for (const char* name : {"gray8", "gray10", "gray16"}) {
    for (const Content content : {Content::kRandom, Content::kExtremes}) {
      const HostFrame frame(make_format(pixel_format(name), 65, 33), content, 7);
      for (const double sigma : kSigmas) {
        const cv::Mat expected = reference(frame, 0, sigma, sigma);
        for (const Backend backend : backends()) {
          const HostFrame blurred = run_filter(fmt::format("gblur={}", sigma), frame, backend);
          EXPECT_LE(distance_from(blurred, 0, expected), rounding_tolerance(frame.format()))
              << backend_name(backend) << ", " << name << ", sigma " << sigma;
        }
      }
    }
  }
}

TEST(Gblur, CuttingAtFourSigmaCostsUnderACodeAtTwelveBits) {
  const HostFrame frame(make_format(pixel_format("gray12"), 65, 33), Content::kExtremes, 11);
  for (const double sigma : kSigmas) {
    for (const Backend backend : backends()) {
      const HostFrame blurred = run_filter(fmt::format("gblur={}", sigma), frame, backend);
      EXPECT_LE(distance_from(blurred, 0, reference(frame, 0, sigma, sigma, 8)), 1.0)
          << backend_name(backend) << ", sigma " << sigma;
    }
  }
}

TEST(Gblur, PlanesSmallerThanTheRadiusMirrorAgainAndAgain) {
  for (const Size& size : {Size{1, 1}, {1, 9}, {9, 1}, {2, 2}, {2, 7}, {3, 64}, {130, 2}}) {
    const HostFrame frame(make_format(pixel_format("yuv420p"), size.width, size.height), Content::kRandom, 3);
    for (const double sigma : {8.0, 30.0, 300.0}) {
      for (const Backend backend : backends()) {
        const HostFrame blurred = run_filter(fmt::format("gblur={}", sigma), frame, backend);
        for (int plane = 0; plane < 3; ++plane) {
          EXPECT_LE(distance_from(blurred, plane, reference(frame, plane, sigma, sigma)),
                    rounding_tolerance(frame.format()))
              << backend_name(backend) << ", " << describe(frame.format()) << ", sigma " << sigma;
        }
      }
    }
  }
}

TEST(Gblur, LargeFramesAreOpenCvsFloat64BlurRounded) {
  struct Case {
    const char* pixel;
    int width;
    int height;
    double sigma;
  };
  for (const Case& test : {Case{"yuv420p", 1919, 1081, 2},
                           {"yuv422p10", 1919, 1081, 0.5},
                           {"gray8", 4096, 2160, 1},
                           {"gray16", 16, 65552, 2},
                           {"gray8", 65552, 16, 12}}) {
    const HostFrame frame(make_format(pixel_format(test.pixel), test.width, test.height), Content::kRandom, 5, 2);
    for (const Backend backend : backends()) {
      const HostFrame blurred = run_filter(fmt::format("gblur={}", test.sigma), frame, backend);
      for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
        EXPECT_LE(distance_from(blurred, plane, opencv_blur(plane_as_double(frame, plane), test.sigma)),
                  rounding_tolerance(frame.format()))
            << backend_name(backend) << ", " << describe(frame.format()) << ", plane " << plane;
      }
    }
  }
}

TEST(Gblur, IsOpenCvsGaussianBlurWithinItsRounding) {
  // OpenCV rounds its weights to 1/256 (8 bits) and 1/65536 (16 bits).
  const HostFrame bytes(make_format(pixel_format("gray8"), 321, 245), Content::kRandom, 9);
  const HostFrame words(make_format(pixel_format("gray16"), 321, 245), Content::kRandom, 9);
  for (const double sigma : {0.5, 1.0, 2.0, 2.5, 5.0}) {
    for (const Backend backend : backends()) {
      for (const HostFrame* frame : {&bytes, &words}) {
        const int type = frame == &bytes ? CV_8U : CV_16U;
        cv::Mat codes;
        plane_as_double(*frame, 0).convertTo(codes, type);
        cv::Mat expected;
        opencv_blur(codes, sigma).convertTo(expected, CV_64F);
        const HostFrame blurred = run_filter(fmt::format("gblur={}", sigma), *frame, backend);
        EXPECT_LE(distance_from(blurred, 0, expected), type == CV_8U ? 1 : 4)
            << backend_name(backend) << ", sigma " << sigma;
      }
    }
  }
}

TEST(Gblur, FlatFramesStayFlat) {
  for (const char* name : {"gray8", "gray10", "gray16"}) {
    const FrameFormat format = make_format(pixel_format(name), 37, 21);
    const int max_code = format.pixel.max_code();
    for (const int code : {0, 1, max_code / 2, max_code - 1, max_code}) {
      HostFrame frame(format);
      for (int y = 0; y < format.height; ++y) {
        for (int x = 0; x < format.width; ++x) frame.set_sample(0, x, y, code);
      }
      for (const double sigma : kSigmas) {
        for (const Backend backend : backends()) {
          EXPECT_EQ(max_difference(run_filter(fmt::format("gblur={}", sigma), frame, backend), frame), 0)
              << backend_name(backend) << ", " << name << ", code " << code << ", sigma " << sigma;
        }
      }
    }
  }
}

TEST(Gblur, AnImpulseKeepsItsSumAndGetsVarianceSigmaSquared) {
  constexpr int kSize = 129;
  HostFrame frame(make_format(pixel_format("gray16"), kSize, kSize));
  frame.set_sample(0, kSize / 2, kSize / 2, 65535);
  for (const double sigma : {1.0, 2.0, 5.0}) {
    for (const Backend backend : backends()) {
      const HostFrame blurred = run_filter(fmt::format("gblur={}", sigma), frame, backend);
      double sum = 0;
      double second_moment = 0;
      for (int y = 0; y < kSize; ++y) {
        for (int x = 0; x < kSize; ++x) {
          const double code = blurred.sample(0, x, y);
          sum += code;
          second_moment += code * (x - kSize / 2) * (x - kSize / 2);
        }
      }
      EXPECT_NEAR(sum, 65535, 0.002 * 65535) << backend_name(backend) << ", sigma " << sigma;
      EXPECT_NEAR(second_moment / sum, sigma * sigma, 0.02 * sigma * sigma)
          << backend_name(backend) << ", sigma " << sigma;
    }
  }
}

TEST(Gblur, SigmaZeroLeavesThatAxisAlone) {
  const HostFrame frame(make_format(pixel_format("yuv420p10"), 65, 33), Content::kRandom, 13);
  for (const Backend backend : backends()) {
    EXPECT_EQ(max_difference(run_filter("gblur=0", frame, backend), frame), 0) << backend_name(backend);
    const HostFrame columns = run_filter("gblur=sigma=0:sigmaV=3", frame, backend);
    const HostFrame rows = run_filter("gblur=sigma=3:sigmaV=0", frame, backend);
    for (int plane = 0; plane < 3; ++plane) {
      EXPECT_LE(distance_from(columns, plane, reference(frame, plane, 0, 3)), rounding_tolerance(frame.format()));
      EXPECT_LE(distance_from(rows, plane, reference(frame, plane, 3, 0)), rounding_tolerance(frame.format()));
    }
  }
}

TEST(Gblur, WideAlongOneAxisOnly) {
  const HostFrame frame(make_format(pixel_format("yuv444p"), 129, 70), Content::kRandom, 17, 2);
  for (const Backend backend : backends()) {
    const HostFrame wide = run_filter("gblur=sigma=20:sigmaV=0.7", frame, backend);
    const HostFrame tall = run_filter("gblur=sigma=0.7:sigmaV=20", frame, backend);
    for (int plane = 0; plane < 3; ++plane) {
      EXPECT_LE(distance_from(wide, plane, reference(frame, plane, 20, 0.7)), rounding_tolerance(frame.format()));
      EXPECT_LE(distance_from(tall, plane, reference(frame, plane, 0.7, 20)), rounding_tolerance(frame.format()));
    }
  }
}

TEST(Gblur, SigmaVFollowsSigmaAndStepsChangeNothing) {
  const HostFrame frame(make_format(pixel_format("yuv420p"), 65, 33), Content::kRandom, 19);
  for (const Backend backend : backends()) {
    const HostFrame both = run_filter("gblur=sigma=2:sigmaV=2", frame, backend);
    EXPECT_EQ(max_difference(run_filter("gblur=sigma=2", frame, backend), both), 0);
    EXPECT_EQ(max_difference(run_filter("gblur=2:6:15:-1", frame, backend), both), 0);
  }
}

TEST(Gblur, PlanesOutsideTheMaskAreCopiedAndBitThreeIsAlpha) {
  const PixelFormat gray_alpha{ColorModel::kGray, 10, 0, 0, true};
  for (const PixelFormat& pixel : {pixel_format("yuva420p"), pixel_format("gbrap16"), gray_alpha}) {
    const HostFrame frame(make_format(pixel, 65, 33), Content::kRandom, 23);
    for (const Backend backend : backends()) {
      for (const double sigma : {2.0, 12.0}) {
        const HostFrame all = run_filter(fmt::format("gblur={}", sigma), frame, backend);
        for (int mask = 0; mask < 16; ++mask) {
          const HostFrame some = run_filter(fmt::format("gblur=sigma={}:planes={}", sigma, mask), frame, backend);
          for (int plane = 0; plane < pixel.plane_count(); ++plane) {
            const int bit = pixel.is_alpha(plane) ? 8 : 1 << plane;
            const HostFrame& expected = (mask & bit) != 0 ? all : frame;
            EXPECT_EQ(some.plane(plane), expected.plane(plane))
                << backend_name(backend) << ", " << describe(frame.format()) << ", planes=" << mask << ", plane "
                << plane;
          }
        }
      }
    }
  }
}

TEST(Gblur, ThreadsOfOpenCvLeaveNoSeams) {
  for (const char* name : {"gray8", "gray12"}) {
    const HostFrame frame(make_format(pixel_format(name), 33, 701), Content::kRandom, 29);
    for (const double sigma : {0.5, 2.0, 20.0}) {
      const std::string filter = fmt::format("gblur={}", sigma);
      const OpenCvThreads one(1);
      const HostFrame expected = run_filter(filter, frame, Backend::kCpu);
      for (const int threads : {2, 7}) {
        const OpenCvThreads several(threads);
        EXPECT_EQ(max_difference(run_filter(filter, frame, Backend::kCpu), expected), 0)
            << name << ", sigma " << sigma << ", " << threads << " threads";
      }
    }
  }
}

TEST(Gblur, IsNearerToTheGaussianThanFfmpegs) {
  FRAMELANE_REQUIRE_FFMPEG("gblur");
  const HostFrame frame(make_format(pixel_format("gray8"), 160, 120), Content::kRandom, 31);
  for (const double sigma : {1.0, 2.5, 8.0}) {
    const cv::Mat truth = reference(frame, 0, sigma, sigma, 8);
    for (const int steps : {1, 6}) {
      const std::string filter = fmt::format("gblur=sigma={}:steps={}", sigma, steps);
      const double theirs = distance_from(run_ffmpeg(filter, {frame}, "gray", frame.format()).at(0), 0, truth);
      for (const Backend backend : backends()) {
        EXPECT_LT(distance_from(run_filter(filter, frame, backend), 0, truth), theirs)
            << backend_name(backend) << ", " << filter;
      }
    }
  }
}

TEST(Gblur, RefusesWhatFfmpegRefuses) {
  for (const char* filter : {"gblur=sigma=-1", "gblur=sigma=1025", "gblur=sigmaV=-2", "gblur=steps=7",
                             "gblur=planes=16", "gblur=planes=1.5", "gblur=sigma=nan", "gblur=radius=3"}) {
    EXPECT_THROW(parse_filter_chain(filter), UsageError) << filter;
  }
}

}  // namespace
}  // namespace framelane::testing
