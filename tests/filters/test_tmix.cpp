#include <gtest/gtest.h>

#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "kernels/filter_registry.h"
#include "tests/plane_fixture.h"

namespace framelane::testing {
namespace {

std::vector<HostFrame> clip(const FrameFormat& format, int frames, Content content = Content::kRandom) {
  std::vector<HostFrame> made;
  for (int n = 0; n < frames; ++n) made.emplace_back(format, content, 100U + static_cast<unsigned>(n), 2 * (n % 2));
  return made;
}

/** Planes that the mask leaves out must be those of the newest frame: ffmpeg 5.1 takes them from the oldest one, so
 * that luma and chroma of different times come together. */
void expect_equals_ffmpeg(const std::string& filter, const std::string& pix_fmt, Size size, int frames, Content content,
                          int planes = 15) {
  const FrameFormat format = make_format(pixel_format(pix_fmt), size.width, size.height);
  const std::vector<HostFrame> input = clip(format, frames, content);
  const std::string with_planes = filter + ":planes=" + std::to_string(planes);
  const std::vector<HostFrame> mixed = run_ffmpeg(with_planes, input, pix_fmt, format);
  for (const Backend backend : backends()) {
    const std::vector<HostFrame> actual = run_filter(with_planes, input, backend);
    ASSERT_EQ(actual.size(), mixed.size());
    for (std::size_t n = 0; n < actual.size(); ++n) {
      for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
        const HostFrame& expected = plane_selected(planes, plane) ? mixed[n] : input[n];
        EXPECT_EQ(actual[n].plane(plane), expected.plane(plane))
            << with_planes << " on " << describe(format) << ", frame " << n << ", plane " << plane << ", backend "
            << static_cast<int>(backend);
      }
    }
  }
}

TEST(Tmix, EqualsFfmpegInEveryFormat) {
  FRAMELANE_REQUIRE_FFMPEG("tmix");
  for (const char* pix_fmt :
       {"gray", "gray9le", "gray10le", "gray12le", "gray14le", "gray16le", "yuv420p", "yuv410p", "yuv411p", "yuv440p",
        "yuv422p10le", "yuv444p12le", "yuva420p", "yuva444p16le", "gbrp", "gbrap12le", "gbrp16le"}) {
    expect_equals_ffmpeg("tmix=frames=3:weights=1 2 1", pix_fmt, {65, 33}, 5, Content::kRandom, 13);
  }
}

TEST(Tmix, EqualsFfmpegWithEverySetting) {
  FRAMELANE_REQUIRE_FFMPEG("tmix");
  for (const char* filter :
       {"tmix=frames=2:weights=1 1", "tmix=frames=4:weights=1 2 3", "tmix=frames=3:weights=0.3|0.3|0.7",
        "tmix=frames=3:weights=-1 2.5 0.3", "tmix=frames=3:weights=-1 3 -1:scale=0.8", "tmix=frames=2:weights=1 2 3",
        "tmix=frames=5:weights=2", "tmix=frames=1:weights=3:scale=2"}) {
    for (const int planes : {15, 5, 2}) {
      expect_equals_ffmpeg(filter, "yuv420p", {35, 18}, 7, Content::kRandom, planes);
      expect_equals_ffmpeg(filter, "yuv420p16le", {16, 16}, 7, Content::kExtremes, planes);
    }
  }
}

TEST(Tmix, EqualsFfmpegAtEverySize) {
  FRAMELANE_REQUIRE_FFMPEG("tmix");
  for (const Size size : test_sizes(false))
    expect_equals_ffmpeg("tmix=frames=3", "yuv420p", size, 4, Content::kExtremes);
  expect_equals_ffmpeg("tmix=frames=3", "yuv420p10le", {1919, 1081}, 2, Content::kRandom);
}

TEST(Tmix, EqualsFfmpegOverManyFrames) {
  FRAMELANE_REQUIRE_FFMPEG("tmix");
  expect_equals_ffmpeg("tmix=frames=40:weights=1 1 3", "gray", {33, 9}, 90, Content::kRandom);
}

TEST(Tmix, OfLongWindowIsTheMeanOfAllFramesSoFar) {
  // The first frame stands for the 1020 before it: it weighs 1021 of 1024, three times 200 weigh the rest.
  const FrameFormat format = make_format(pixel_format("gray"), 4, 4);
  std::vector<HostFrame> input(4, HostFrame(format));
  for (std::size_t n = 1; n < input.size(); ++n) {
    for (int i = 0; i < 16; ++i) input[n].set_sample(0, i % 4, i / 4, 200);
  }
  for (const Backend backend : backends()) {
    EXPECT_EQ(run_filter("tmix=frames=1024", input, backend).back().sample(0, 3, 3), 1);  // 600 / 1024
  }
}

TEST(Tmix, NamesWhatIsWrongWithItsWeights) {
  const auto create = [](const std::string& filter) {
    const std::vector<FilterUse> uses = parse_filter_chain(filter);
    return uses[0].descriptor->create(uses[0].values);
  };
  for (const char* filter : {"tmix=weights=1 x", "tmix=weights=1,", "tmix=weights=''", "tmix=weights=1 2e",
                             "tmix=weights=nan", "tmix=frames=2:weights=1 -1"}) {
    EXPECT_THROW(create(filter), UsageError) << filter;
  }
  EXPECT_NO_THROW(create("tmix=frames=2:weights=1 -1:scale=1"));
  EXPECT_NO_THROW(create("tmix=frames=2:weights=1 2 and what is not needed"));
}

}  // namespace
}  // namespace framelane::testing
