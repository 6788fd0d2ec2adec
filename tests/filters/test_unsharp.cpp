// unsharp against ffmpeg's at 8 bits, and against the same integer arithmetic written out plainly at all depths.
#include <fmt/format.h>

#include <cstdint>

#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "tests/spatial_reference.h"

namespace framelane::testing {
namespace {

struct Sharpening {
  int width = 5;
  int height = 5;
  double amount = 0;
};

/** The coefficients of (1 + z)^order. */
std::vector<std::int64_t> binomial(int order) {
  std::vector<std::int64_t> row{1};
  for (int n = 0; n < order; ++n) {
    std::vector<std::int64_t> next(row.size() + 1, 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      next[i] += row[i];
      next[i + 1] += row[i];
    }
    row = next;
  }
  return row;
}

/** v + floor(amount * (v - blur)) with the blur rounded to an integer, halves up; a 1/65536 grid for the amount. */
std::vector<int> reference(const HostFrame& frame, int plane, const Sharpening& sharpening) {
  const int width = frame.format().plane_width(plane);
  const int height = frame.format().plane_height(plane);
  const std::vector<std::int64_t> row = binomial(sharpening.width - 1);
  const std::vector<std::int64_t> column = binomial(sharpening.height - 1);
  const int bits = sharpening.width + sharpening.height - 2;
  const auto amount = static_cast<std::int64_t>(static_cast<float>(sharpening.amount) * 65536.0);
  const std::vector<int> codes = frame.plane(plane);
  std::vector<std::int64_t> middle(codes.size(), 0);
  std::vector<int> result;
  const auto at = [&](int x, int y) { return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + x; };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int i = 0; i < sharpening.width; ++i) {
        middle[at(x, y)] += row[i] * codes[at(replicated(x + i - sharpening.width / 2, width), y)];
      }
    }
  }
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::int64_t sum = 0;
      for (int i = 0; i < sharpening.height; ++i) {
        sum += column[i] * middle[at(x, replicated(y + i - sharpening.height / 2, height))];
      }
      const std::int64_t code = codes[at(x, y)];
      const std::int64_t blurred = (sum + (std::int64_t{1} << bits) / 2) >> bits;
      const std::int64_t sharpened = code + (((code - blurred) * amount) >> 16);
      result.push_back(static_cast<int>(std::clamp<std::int64_t>(sharpened, 0, frame.format().pixel.max_code())));
    }
  }
  return result;
}

TEST(Unsharp, EveryFormatAndSizeIsTheIntegerArithmetic) {
  const Sharpening luma{5, 3, 1.3};
  const Sharpening chroma{3, 7, -1.7};
  const Sharpening alpha{9, 5, 5};
  const std::string filter = "unsharp=lx=5:ly=3:la=1.3:cx=3:cy=7:ca=-1.7:ax=9:ay=5:aa=5";
  for_each_small_frame([&](const HostFrame& frame) {
    const PixelFormat& pixel = frame.format().pixel;
    for (const Backend backend : backends()) {
      const HostFrame sharpened = run_filter(filter, frame, backend);
      for (int plane = 0; plane < pixel.plane_count(); ++plane) {
        const bool is_chroma = pixel.model == ColorModel::kYuv && (plane == 1 || plane == 2);
        const Sharpening& used = pixel.is_alpha(plane) ? alpha : is_chroma ? chroma : luma;
        EXPECT_EQ(sharpened.plane(plane), reference(frame, plane, used))
            << backend_name(backend) << ", plane " << plane;
      }
    }
  });
}

TEST(Unsharp, EveryMatrixSizeIsExactAtEveryDepth) {
  for (const char* name : {"gray8", "gray10", "gray16"}) {
    for (const Content content : {Content::kRandom, Content::kExtremes}) {
      const HostFrame frame(make_format(pixel_format(name), 65, 33), content, 3);
      for (int width = 3; width <= 23; width += 2) {
        for (const int height : {3, 5, 13, 23}) {
          for (const double amount : {-2.0, 0.3, 5.0}) {
            const std::vector<int> expected = reference(frame, 0, {width, height, amount});
            for (const Backend backend : backends()) {
              const std::string filter = fmt::format("unsharp={}:{}:{}", width, height, amount);
              EXPECT_EQ(run_filter(filter, frame, backend).plane(0), expected)
                  << backend_name(backend) << ", " << name << ", " << filter;
            }
          }
        }
      }
    }
  }
}

TEST(Unsharp, IsFfmpegsExactlyAtEightBits) {
  FRAMELANE_REQUIRE_FFMPEG("unsharp");
  // ffmpeg 5.1 is no oracle above 8 bits (it applies 1/256 of the amount), for alpha (aa makes it crash) and where ly
  // is more than about half the plane's height (it reads rows that it never wrote).
  for (const char* name : {"yuv420p", "yuv422p", "yuv444p", "yuv440p", "yuv411p", "yuv410p", "yuva420p", "yuva444p"}) {
    const HostFrame frame(make_format(pixel_format(name), 67, 95), Content::kRandom, 5);
    for (const char* filter : {"unsharp", "unsharp=5:5:1.5:5:5:0.5", "unsharp=la=-2:ca=-0.7",
                               "unsharp=luma_msize_x=13:luma_msize_y=13:luma_amount=5:cx=3:cy=9:ca=2",
                               "unsharp=3:23:0.1:7:3:-1.1", "unsharp=la=0:cx=23:cy=3:ca=1"}) {
      const HostFrame expected = run_ffmpeg(filter, {frame}, name, frame.format()).at(0);
      for (const Backend backend : backends()) {
        EXPECT_EQ(max_difference(run_filter(filter, frame, backend), expected), 0)
            << backend_name(backend) << ", " << name << ", " << filter;
      }
    }
  }
}

TEST(Unsharp, IsFfmpegsExactlyOnExtremeAndLargeFrames) {
  FRAMELANE_REQUIRE_FFMPEG("unsharp");
  const std::string filter = "unsharp=7:5:2.5:3:3:-2";
  for (const Size& size : {Size{16, 16}, {65, 33}, {1919, 1081}}) {
    const HostFrame frame(make_format(pixel_format("yuv420p"), size.width, size.height), Content::kExtremes, 7, 2);
    const HostFrame expected = run_ffmpeg(filter, {frame}, "yuv420p", frame.format()).at(0);
    for (const Backend backend : backends()) {
      EXPECT_EQ(max_difference(run_filter(filter, frame, backend), expected), 0)
          << backend_name(backend) << ", " << describe(frame.format());
    }
  }
}

TEST(Unsharp, LargeAndTallFramesAreExact) {
  const HostFrame large(make_format(pixel_format("gray10"), 4096, 2160), Content::kRandom, 11, 2);
  const HostFrame tall(make_format(pixel_format("gray8"), 16, 65552), Content::kRandom, 11);
  for (const Backend backend : backends()) {
    EXPECT_EQ(run_filter("unsharp=la=2", large, backend).plane(0), reference(large, 0, {5, 5, 2}));
    EXPECT_EQ(run_filter("unsharp=la=2", tall, backend).plane(0), reference(tall, 0, {5, 5, 2}));
  }
}

TEST(Unsharp, AmountZeroCopiesThePlane) {
  const HostFrame frame(make_format(pixel_format("yuva422p12"), 65, 33), Content::kRandom, 13);
  for (const Backend backend : backends()) {
    const HostFrame luma_only = run_filter("unsharp", frame, backend);
    EXPECT_NE(luma_only.plane(0), frame.plane(0));
    for (int plane = 1; plane < 4; ++plane) EXPECT_EQ(luma_only.plane(plane), frame.plane(plane));
    EXPECT_EQ(max_difference(run_filter("unsharp=la=0:lx=23", frame, backend), frame), 0);
  }
}

TEST(Unsharp, FlatFramesStayFlat) {
  for (const char* name : {"gray8", "gray16"}) {
    const FrameFormat format = make_format(pixel_format(name), 37, 21);
    for (const int code : {0, 1, 100, format.pixel.max_code() - 1, format.pixel.max_code()}) {
      HostFrame frame(format);
      for (int y = 0; y < format.height; ++y) {
        for (int x = 0; x < format.width; ++x) frame.set_sample(0, x, y, code);
      }
      for (const Backend backend : backends()) {
        for (const char* filter : {"unsharp=la=5", "unsharp=23:23:-2"}) {
          EXPECT_EQ(max_difference(run_filter(filter, frame, backend), frame), 0) << name << ", code " << code;
        }
      }
    }
  }
}

TEST(Unsharp, ThreadsOfOpenCvLeaveNoSeams) {
  const HostFrame frame(make_format(pixel_format("gray12"), 33, 701), Content::kRandom, 17);
  for (const char* filter : {"unsharp", "unsharp=23:23:3"}) {
    const OpenCvThreads one(1);
    const HostFrame expected = run_filter(filter, frame, Backend::kCpu);
    for (const int threads : {2, 7}) {
      const OpenCvThreads several(threads);
      EXPECT_EQ(max_difference(run_filter(filter, frame, Backend::kCpu), expected), 0) << filter << ", " << threads;
    }
  }
}

TEST(Unsharp, RefusesWhatFfmpegRefuses) {
  for (const char* filter : {"unsharp=4", "unsharp=1", "unsharp=25", "unsharp=la=5.1", "unsharp=ca=-2.1"}) {
    EXPECT_THROW(parse_filter_chain(filter), UsageError) << filter;
  }
}

}  // namespace
}  // namespace framelane::testing
