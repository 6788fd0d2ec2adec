// negate against ffmpeg's negate, exactly.
#include <gtest/gtest.h>

#include "kernels/errors.h"
#include "tests/color_reference.h"

namespace framelane::testing {
namespace {

TEST(Negate, EqualsFfmpeg) {
  FRAMELANE_REQUIRE_FFMPEG("negate");
  struct Case {
    std::string pix_fmt;
    std::string settings;
  };
  const std::vector<Case> cases{{"yuv420p", ""},
                                {"yuv444p", "components=y"},
                                {"yuv422p", "components=u+v"},
                                {"yuva420p", "negate_alpha=1"},
                                {"yuva444p", "components=a"},
                                {"yuv420p10le", ""},
                                {"yuv444p16le", "components=v"},
                                {"gbrp", "components=r+b"},
                                {"gbrap", "negate_alpha=1"},
                                {"gbrp12le", "components=g"},
                                {"gray", ""},
                                {"yuv411p", "y+u+v+r+g+b"}};
  for (const Case& test : cases) {
    const FrameFormat format = make_format(pixel_format(test.pix_fmt == "gray" ? "gray8" : test.pix_fmt), 65, 33);
    const HostFrame src(format, Content::kRandom, 1);
    const std::string filter = test.settings.empty() ? "negate" : "negate=" + test.settings;
    const HostFrame expected = run_ffmpeg(filter, {src}, test.pix_fmt, format).front();
    for (const Backend backend : backends()) {
      EXPECT_EQ(max_difference(run_filter(filter, src, backend), expected), 0) << test.pix_fmt << " " << filter;
    }
  }
}

TEST(Negate, IsTheLargestCodeMinusTheCodeInEveryFormat) {
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Size size : test_sizes(false)) {
      const HostFrame src(make_format(pixel, size.width, size.height), Content::kExtremes, 2, 2);
      for (const Backend backend : backends()) {
        const HostFrame out = run_filter("negate", src, backend);
        EXPECT_EQ(worst_distance(out, run_reference(src, {negate_reference()})), 0) << describe(src.format());
        EXPECT_TRUE(out.padding_intact());
      }
    }
  }
}

TEST(Negate, TwiceGivesLargeFramesBack) {
  for (const char* name : {"yuv420p", "yuva422p12", "gbrp16"}) {
    const HostFrame src(make_format(pixel_format(name), 1919, 1081), Content::kRandom, 3);
    for (const Backend backend : backends()) {
      const HostFrame once = run_filter("negate=negate_alpha=1", src, backend);
      EXPECT_NE(once.plane(0), src.plane(0));
      EXPECT_EQ(max_difference(run_filter("negate=negate_alpha=1", once, backend), src), 0) << name;
    }
  }
}

TEST(Negate, AddsToAndTakesFromTheDefault) {
  const HostFrame src(make_format(pixel_format("yuva444p"), 16, 16), Content::kRandom, 4);
  const HostFrame all = run_filter("negate=negate_alpha=1", src, Backend::kCpu);
  const HostFrame plus_alpha = run_filter("negate=components=+a", src, Backend::kCpu);
  EXPECT_EQ(max_difference(all, plus_alpha), 0);
  const HostFrame without_u = run_filter("negate=components=-u", src, Backend::kCpu);
  EXPECT_EQ(without_u.plane(0), all.plane(0));
  EXPECT_EQ(without_u.plane(1), src.plane(1));
  EXPECT_EQ(without_u.plane(3), src.plane(3));
}

TEST(Negate, NamesWhatIsNotThere) {
  const HostFrame yuv(make_format(pixel_format("yuv420p"), 16, 16), Content::kRandom, 5);
  const HostFrame gbr(make_format(pixel_format("gbrp"), 16, 16), Content::kRandom, 5);
  EXPECT_THROW(run_filter("negate=components=r", yuv, Backend::kCpu), UsageError);
  EXPECT_THROW(run_filter("negate=components=a", yuv, Backend::kCpu), UsageError);
  EXPECT_THROW(run_filter("negate=components=y", gbr, Backend::kCpu), UsageError);
  EXPECT_THROW(run_filter("negate=components=x", yuv, Backend::kCpu), UsageError);
  EXPECT_THROW(run_filter("negate=components=y+", yuv, Backend::kCpu), UsageError);
}

}  // namespace
}  // namespace framelane::testing
