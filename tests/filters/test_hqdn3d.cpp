#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/plane_fixture.h"

namespace framelane::testing {
namespace {

/** A gradient that moves from frame to frame, with noise on it: edges that must stay, noise that must go. Above 8 bits
 *  it keeps two 8-bit steps away from black and white, where ffmpeg overflows (hqdn3d.h). */
HostFrame noisy_frame(const FrameFormat& format, unsigned seed) {
  std::mt19937 random(seed);
  HostFrame frame(format, Content::kGradient, 0);
  const int max_code = format.pixel.max_code();
  const int step = (max_code + 1) / 256;
  const int margin = format.pixel.depth_bits == 8 ? 0 : 2 * step;
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    for (int y = 0; y < format.plane_height(plane); ++y) {
      for (int x = 0; x < format.plane_width(plane); ++x) {
        const int noise = static_cast<int>(random() % static_cast<unsigned>(24 * step)) - 12 * step;
        const int moved = frame.sample(plane, x, y) + static_cast<int>(seed % 8) * 3 * step + noise;
        frame.set_sample(plane, x, y, std::clamp(moved, margin, max_code - margin));
      }
    }
  }
  return frame;
}

std::vector<HostFrame> noisy_clip(const FrameFormat& format, unsigned frames) {
  std::vector<HostFrame> clip;
  for (unsigned n = 0; n < frames; ++n) clip.push_back(noisy_frame(format, n));
  return clip;
}

void expect_equals_ffmpeg(const std::string& filter, const std::vector<HostFrame>& input, const std::string& pix_fmt) {
  const FrameFormat& format = input[0].format();
  const std::vector<HostFrame> expected = run_ffmpeg(filter, input, pix_fmt, format);
  for (const Backend backend : backends()) {
    const std::vector<HostFrame> actual = run_filter(filter, input, backend);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t n = 0; n < actual.size(); ++n) {
      EXPECT_EQ(max_difference(actual[n], expected[n]), 0)
          << filter << " on " << describe(format) << ", frame " << n << ", backend " << static_cast<int>(backend);
    }
  }
}

FrameFormat format_of(const std::string& pix_fmt, Size size) {
  return make_format(pixel_format(pix_fmt), size.width, size.height);
}

TEST(Hqdn3d, EqualsFfmpegInEveryFormat) {
  FRAMELANE_REQUIRE_FFMPEG("hqdn3d");
  for (const char* pix_fmt :
       {"yuv420p", "yuv422p", "yuv444p", "yuv440p", "yuv411p", "yuv410p", "yuv420p9le", "yuv422p10le", "yuv440p10le",
        "yuv444p12le", "yuv420p12le", "yuv422p14le", "yuv420p14le", "yuv444p16le", "yuv420p16le"}) {
    expect_equals_ffmpeg("hqdn3d", noisy_clip(format_of(pix_fmt, {65, 33}), 4), pix_fmt);
  }
}

TEST(Hqdn3d, EqualsFfmpegWithEverySetting) {
  FRAMELANE_REQUIRE_FFMPEG("hqdn3d");
  for (const char* filter : {"hqdn3d=8", "hqdn3d=0:0:0:0", "hqdn3d=2:10", "hqdn3d=luma_tmp=30", "hqdn3d=1:1:1:1",
                             "hqdn3d=chroma_tmp=0.5:luma_spatial=0.1", "hqdn3d=255:0.01:300:1"}) {
    expect_equals_ffmpeg(filter, noisy_clip(format_of("yuv420p", {50, 20}), 5), "yuv420p");
    expect_equals_ffmpeg(filter, noisy_clip(format_of("yuv420p16le", {50, 20}), 3), "yuv420p16le");
  }
}

TEST(Hqdn3d, EqualsFfmpegOnExtremes) {
  FRAMELANE_REQUIRE_FFMPEG("hqdn3d");
  const FrameFormat format = format_of("yuv444p", {64, 48});
  for (const Content content : {Content::kExtremes, Content::kRandom}) {
    const std::vector<HostFrame> input{HostFrame(format, content, 1), HostFrame(format, content, 2, 2)};
    expect_equals_ffmpeg("hqdn3d=20", input, "yuv444p");
  }
}

TEST(Hqdn3d, EqualsFfmpegAtEverySize) {
  FRAMELANE_REQUIRE_FFMPEG("hqdn3d");
  for (const Size size : test_sizes(false)) {
    expect_equals_ffmpeg("hqdn3d", noisy_clip(format_of("yuv420p", size), 3), "yuv420p");
  }
  expect_equals_ffmpeg("hqdn3d", noisy_clip(format_of("yuv420p10le", {1919, 1081}), 2), "yuv420p10le");
}

TEST(Hqdn3d, FiltersGbrAsLumaAndLeavesAlpha) {
  const HostFrame gray = noisy_frame(format_of("gray", {40, 30}), 7);
  const FrameFormat gbr = format_of("gbrap", {40, 30});
  HostFrame input(gbr, Content::kRandom, 3);
  for (int plane = 0; plane < 3; ++plane) {
    for (int i = 0; i < 40 * 30; ++i) input.set_sample(plane, i % 40, i / 40, gray.sample(0, i % 40, i / 40));
  }
  for (const Backend backend : backends()) {
    const HostFrame filtered_gray = run_filter("hqdn3d=6:1:5:2", gray, backend);
    const HostFrame filtered = run_filter("hqdn3d=6:1:5:2", input, backend);
    EXPECT_NE(filtered_gray.plane(0), gray.plane(0));
    for (int plane = 0; plane < 3; ++plane) EXPECT_EQ(filtered.plane(plane), filtered_gray.plane(0));
    EXPECT_EQ(filtered.plane(3), input.plane(3));
  }
}

TEST(Hqdn3d, DoesNotOverflowNextToBlackAndWhite) {
  // Noise of one code on black or white stays there; an accumulator that wraps round gives the opposite.
  for (const char* pix_fmt : {"gray", "gray12", "gray14", "gray16"}) {
    const FrameFormat format = format_of(pix_fmt, {64, 64});
    const int max_code = format.pixel.max_code();
    std::vector<HostFrame> input;
    for (unsigned n = 0; n < 3; ++n) {
      HostFrame frame(format);
      std::mt19937 random(n);
      for (int i = 0; i < 64 * 64; ++i) {
        const int noise = static_cast<int>(random() & 1U);
        frame.set_sample(0, i % 64, i / 64, i < 32 * 64 ? noise : max_code - noise);
      }
      input.push_back(frame);
    }
    for (const Backend backend : backends()) {
      for (const HostFrame& frame : run_filter("hqdn3d=200", input, backend)) {
        for (int i = 0; i < 24 * 64; ++i) {
          EXPECT_LT(frame.sample(0, i % 64, i / 64), max_code / 2) << pix_fmt;
          EXPECT_GT(frame.sample(0, i % 64, 63 - i / 64), max_code / 2) << pix_fmt;
        }
      }
    }
  }
}

}  // namespace
}  // namespace framelane::testing
