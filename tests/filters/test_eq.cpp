// eq against ffmpeg's eq at 8 bits and against float64 at every depth.
#include <gtest/gtest.h>

#include "kernels/errors.h"
#include "tests/color_reference.h"

namespace framelane::testing {
namespace {

struct Case {
  std::string settings;
  EqReference reference;
};

std::vector<Case> cases() {
  return {
      {"contrast=1.3:brightness=0.1", {.contrast = 1.3, .brightness = 0.1}},
      {"contrast=-2:brightness=-0.2:saturation=1.7", {.contrast = -2, .brightness = -0.2, .saturation = 1.7}},
      {"gamma=2.2:gamma_weight=0.4", {.gamma = 2.2, .weight = 0.4}},
      {"0.8:0.05:1.4:1.1:2:1.3:0.5:0.7",
       {.contrast = 0.8,
        .brightness = 0.05,
        .saturation = 1.4,
        .gamma = 1.1,
        .gamma_r = 2,
        .gamma_g = 1.3,
        .gamma_b = 0.5,
        .weight = 0.7}},
      {"saturation=0", {.saturation = 0}},
      {"contrast=1000", {.contrast = 1000}},
      {"gamma=0.1:gamma_r=10:gamma_g=0.1", {.gamma = 0.1, .gamma_r = 10, .gamma_g = 0.1}},
  };
}

// Without a gamma ffmpeg takes an integer short cut that leaves its own formula by up to 3; one next to 1 avoids it.
TEST(Eq, IsWithinOneOfFfmpegAt8Bits) {
  FRAMELANE_REQUIRE_FFMPEG("eq");
  const std::vector<std::string> settings{
      "contrast=1.3:brightness=0.1:gamma=1.00001", "contrast=-2:brightness=-0.2:gamma=1.00001",
      "contrast=20:saturation=1.5:gamma_r=1.1:gamma_b=0.9", "gamma=2.2:gamma_weight=0.4",
      "contrast=0.8:brightness=0.05:saturation=1.4:gamma=1.1:gamma_r=2:gamma_g=1.3:gamma_b=0.5:gamma_weight=0.7"};
  for (const std::string pix_fmt : {"yuv444p", "yuv420p", "yuv410p"}) {
    const FrameFormat format = make_format(pixel_format(pix_fmt), 65, 33);
    const HostFrame src(format, Content::kRandom, 1);
    for (const std::string& setting : settings) {
      const HostFrame expected = run_ffmpeg("eq=" + setting, {src}, pix_fmt, format).front();
      for (const Backend backend : backends()) {
        EXPECT_LE(max_difference(run_filter("eq=" + setting, src, backend), expected), 1) << pix_fmt << " " << setting;
      }
    }
  }
}

TEST(Eq, IsTheRoundedFormulaInEveryFormat) {
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Size size : {Size{1, 1}, {3, 5}, {65, 33}}) {
      const HostFrame src(make_format(pixel, size.width, size.height), Content::kRandom, 2, 2);
      for (const Case& test : cases()) {
        const ReferencePlanes expected = run_reference(src, {test.reference.op()});
        const double steepness = test.settings == "contrast=1000" || test.settings.starts_with("gamma=0.1") ? 100 : 1;
        for (const Backend backend : backends()) {
          const HostFrame out = run_filter("eq=" + test.settings, src, backend);
          EXPECT_LE(worst_distance(out, expected), rounding_bound(src.format(), steepness))
              << describe(src.format()) << " " << test.settings;
          EXPECT_TRUE(out.padding_intact());
        }
      }
    }
  }
}

TEST(Eq, ReachesEverySampleOfLargeFrames) {
  for (const char* name : {"yuv420p", "yuva444p10", "gbrp16", "gray14"}) {
    const HostFrame src(make_format(pixel_format(name), 1919, 1081), Content::kRandom, 3);
    const HostFrame cpu = run_filter("eq=1.3:0.1:1.2", src, Backend::kCpu);
    const ReferencePlanes expected =
        run_reference(src, {EqReference{.contrast = 1.3, .brightness = 0.1, .saturation = 1.2}.op()});
    EXPECT_LE(worst_distance(cpu, expected), rounding_bound(src.format())) << name;
    for (const Backend backend : backends()) {  // tables, but for saturation in RGB
      EXPECT_LE(max_difference(run_filter("eq=1.3:0.1:1.2", src, backend), cpu), name == std::string("gbrp16") ? 4 : 0)
          << name;
    }
  }
}

TEST(Eq, ChangesNothingByDefault) {
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Content content : {Content::kRandom, Content::kExtremes}) {
      const HostFrame src(make_format(pixel, 65, 33), content, 4);
      for (const Backend backend : backends()) {
        EXPECT_EQ(max_difference(run_filter("eq", src, backend), src), 0) << describe(src.format());
      }
    }
  }
}

TEST(Eq, ContrastLeavesChromaAloneAndSaturationLuma) {
  const HostFrame src(make_format(pixel_format("yuva420p10"), 65, 33), Content::kRandom, 5);
  for (const Backend backend : backends()) {
    const HostFrame contrast = run_filter("eq=contrast=2", src, backend);
    const HostFrame saturation = run_filter("eq=saturation=2", src, backend);
    EXPECT_NE(contrast.plane(0), src.plane(0));
    EXPECT_EQ(saturation.plane(0), src.plane(0));
    for (const int chroma : {1, 2}) {
      EXPECT_EQ(contrast.plane(chroma), src.plane(chroma));
      EXPECT_NE(saturation.plane(chroma), src.plane(chroma));
    }
    for (const HostFrame* out : {&contrast, &saturation}) EXPECT_EQ(out->plane(3), src.plane(3));
  }
}

TEST(Eq, WithoutSaturationIsGrayInRgbToo) {
  const HostFrame src(make_format(pixel_format("gbrp12"), 16, 16), Content::kRandom, 6);
  for (const Backend backend : backends()) {
    const HostFrame out = run_filter("eq=saturation=0", src, backend);
    EXPECT_EQ(out.plane(0), out.plane(1));
    EXPECT_EQ(out.plane(0), out.plane(2));
  }
}

TEST(Eq, RefusesWhatFfmpegRefuses) {
  const HostFrame src(make_format(pixel_format("yuv420p"), 16, 16), Content::kRandom, 7);
  EXPECT_EQ(max_difference(run_filter("eq=eval=init", src, Backend::kCpu), src), 0);
  for (const char* wrong : {"eq=contrast=1001", "eq=gamma=0.05", "eq=saturation=-1", "eq=gamma_weight=2", "eq=hue=3"}) {
    EXPECT_THROW(run_filter(wrong, src, Backend::kCpu), UsageError) << wrong;
  }
}

}  // namespace
}  // namespace framelane::testing
