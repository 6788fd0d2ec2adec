// The overlay on frames of every format: what it touches, what it shows, and whether it can be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "app/comparison.h"
#include "app/overlay.h"
#include "app/overlay_canvas.h"
#include "app/overlay_figures.h"
#include "app/overlay_layout.h"
#include "app/overlay_panel.h"
#include "app/overlay_text.h"
#include "kernels/filter_chain.h"
#include "pipeline/pipeline.h"
#include "tests/plane_fixture.h"

namespace framelane {
namespace {

using testing::all_pixel_formats;
using testing::Content;
using testing::HostFrame;
using testing::make_format;
using testing::pixel_format;
using testing::Size;

OverlayFigures sample_figures() {
  OverlayFigures figures;
  figures.mode = Mode::kMultistream;
  figures.device_name = "NVIDIA H200 (cuda:0)";
  figures.frame = 1234;
  figures.fps = 237.4;
  figures.frame_time_median_ms = 4.21;
  figures.frame_time_p99_ms = 5.8;
  figures.stage_ms = {4.12, 0.31, 0.23, 0.4, 0.22, 2.1};
  figures.busy = {0.9, 0.1, 0.12, 0.96, 0.13, 0.3};
  for (int i = 0; i < 120; ++i) figures.frame_times_ms.push_back(4 + std::sin(0.3 * i));
  figures.slots = 8;
  figures.slots_in_use = 5;
  figures.filters = {{"gblur", true}, {"eq", false}, {"unsharp", true}};
  return figures;
}

HostFrame flat_frame(const FrameFormat& format, double level) {
  HostFrame frame(format);
  const bool full = format.range == ColorRange::kFull;
  const double unit = std::ldexp(1.0, format.pixel.depth_bits - 8);
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    const double code = format.pixel.is_chroma(plane)  ? 128 * unit
                        : format.pixel.is_alpha(plane) ? format.pixel.max_code()
                        : full                         ? level * format.pixel.max_code()
                                                       : (16 + 219 * level) * unit;
    for (int y = 0; y < format.plane_height(plane); ++y) {
      for (int x = 0; x < format.plane_width(plane); ++x) {
        frame.set_sample(plane, x, y, static_cast<int>(std::lround(code)));
      }
    }
  }
  return frame;
}

HostFrame with_overlay(const HostFrame& frame, const OverlayFigures& figures) {
  HostFrame drawn = frame;
  OverlayPanel panel(frame.format(), figures.filters);
  panel.show(figures);
  panel.draw(drawn.view());
  return drawn;
}

/** The panel's place in a plane: chroma samples that it covers in part count as in it. */
cv::Rect plane_area(const cv::Rect& area, const FrameFormat& format, int plane) {
  const bool chroma = format.pixel.is_chroma(plane);
  const int sx = chroma ? format.pixel.chroma_shift_x : 0;
  const int sy = chroma ? format.pixel.chroma_shift_y : 0;
  return {area.x >> sx, area.y >> sy, area.width >> sx, area.height >> sy};
}

void expect_untouched_outside(const HostFrame& drawn, const HostFrame& before, const cv::Rect& area) {
  for (int plane = 0; plane < before.format().pixel.plane_count(); ++plane) {
    const cv::Rect inside = plane_area(area, before.format(), plane);
    for (int y = 0; y < before.format().plane_height(plane); ++y) {
      for (int x = 0; x < before.format().plane_width(plane); ++x) {
        if (inside.contains({x, y})) continue;
        ASSERT_EQ(drawn.sample(plane, x, y), before.sample(plane, x, y))
            << "plane " << plane << " at " << x << "," << y;
      }
    }
  }
}

/** Luma (of GBR: green) of the area, from dark to bright, as levels 0 to 1. */
std::vector<double> sorted_levels(const HostFrame& frame, const cv::Rect& area) {
  const FrameFormat& format = frame.format();
  const double unit = std::ldexp(1.0, format.pixel.depth_bits - 8);
  std::vector<double> levels;
  for (int y = area.y; y < area.br().y; ++y) {
    for (int x = area.x; x < area.br().x; ++x) {
      const int code = frame.sample(0, x, y);
      levels.push_back(format.range == ColorRange::kFull ? code / static_cast<double>(format.pixel.max_code())
                                                         : (code / unit - 16) / 219);
    }
  }
  std::ranges::sort(levels);
  return levels;
}

/** WCAG 2's contrast of two levels of a display with BT.1886's gamma. */
double contrast(double bright, double dark) {
  const auto luminance = [](double level) { return std::pow(std::max(level, 0.0), 2.4); };
  return (luminance(bright) + 0.05) / (luminance(dark) + 0.05);
}

/** cd/m2 of a PQ level (SMPTE ST 2084's EOTF). */
double pq_luminance(double level) {
  constexpr double m1 = 2610.0 / 16384;
  constexpr double m2 = 2523.0 / 4096 * 128;
  constexpr double c1 = 3424.0 / 4096;
  constexpr double c2 = 2413.0 / 4096 * 32;
  constexpr double c3 = 2392.0 / 4096 * 32;
  const double power = std::pow(level, 1 / m2);
  return 10'000 * std::pow(std::max(power - c1, 0.0) / (c2 - c3 * power), 1 / m1);
}

TEST(OverlayPanel, TouchesNothingButItsAreaInAnyFormatAndSize) {
  const OverlayFigures figures = sample_figures();
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Size& size : {Size{1, 1}, {2, 2}, {3, 5}, {16, 16}, {65, 33}, {97, 61}, {161, 91}, {321, 181}}) {
      const FrameFormat format = make_format(pixel, size.width, size.height);
      SCOPED_TRACE(describe(format));
      const HostFrame before(format, Content::kExtremes, 7, 6);
      const HostFrame drawn = with_overlay(before, figures);
      EXPECT_TRUE(drawn.padding_intact());
      expect_untouched_outside(drawn, before, OverlayPanel(format, figures.filters).area());
    }
  }
}

TEST(OverlayPanel, TouchesNothingButItsAreaInLargeFrames) {
  const OverlayFigures figures = sample_figures();
  for (const char* name : {"yuv420p", "yuv422p10", "gbrp"}) {
    const FrameFormat format = make_format(pixel_format(name), 1919, 1081);
    SCOPED_TRACE(describe(format));
    const HostFrame before(format, Content::kRandom, 8, 2);
    const HostFrame drawn = with_overlay(before, figures);
    EXPECT_TRUE(drawn.padding_intact());
    expect_untouched_outside(drawn, before, OverlayPanel(format, figures.filters).area());
  }
}

TEST(OverlayPanel, ShowsEveryFigure) {
  using Change = std::function<void(OverlayFigures&)>;
  const std::vector<std::pair<const char*, Change>> changes{
      {"mode", [](auto& f) { f.mode = Mode::kAsync; }},
      {"device", [](auto& f) { f.device_name = "CPU, 2 threads"; }},
      {"frame", [](auto& f) { f.frame = 1235; }},
      {"fps", [](auto& f) { f.fps = 238.4; }},
      {"median", [](auto& f) { f.frame_time_median_ms = 4.22; }},
      {"p99", [](auto& f) { f.frame_time_p99_ms = 5.9; }},
      {"decode", [](auto& f) { f.stage_ms[0] = 4.2; }},
      {"preprocess", [](auto& f) { f.stage_ms[1] = 0.4; }},
      {"H2D", [](auto& f) { f.stage_ms[2] = 0.3; }},
      {"kernels", [](auto& f) { f.stage_ms[3] = 0.5; }},
      {"D2H", [](auto& f) { f.stage_ms[4] = 0.3; }},
      {"encode", [](auto& f) { f.stage_ms[5] = 2.2; }},
      {"a stage that does not happen", [](auto& f) { f.stage_ms[1] = {}; }},
      {"graph", [](auto& f) { f.frame_times_ms[60] = 5.5; }},
      {"slots", [](auto& f) { f.slots = 9; }},
      {"slots in use", [](auto& f) { f.slots_in_use = 6; }},
      {"dropped", [](auto& f) { f.dropped = 1; }},
      {"H2D busy", [](auto& f) { f.busy[2] = 0.2; }},
      {"compute busy", [](auto& f) { f.busy[3] = 0.8; }},
      {"D2H busy", [](auto& f) { f.busy[4] = 0.2; }},
      {"no copies", [](auto& f) { f.busy[2] = f.busy[4] = {}; }},
      {"filter off", [](auto& f) { f.filters[0].on = false; }},
      {"filter on", [](auto& f) { f.filters[1].on = true; }},
  };
  const HostFrame before = flat_frame(make_format(pixel_format("yuv420p"), 1280, 720), 0.5);
  const OverlayFigures figures = sample_figures();
  const std::vector<int> base = with_overlay(before, figures).plane(0);
  EXPECT_EQ(base, with_overlay(before, figures).plane(0)) << "the same figures";
  for (const auto& [what, change] : changes) {
    OverlayFigures changed = figures;
    change(changed);
    EXPECT_NE(base, with_overlay(before, changed).plane(0)) << what;
  }
}

TEST(OverlayPanel, ForgetsEarlierFigures) {
  const HostFrame before = flat_frame(make_format(pixel_format("yuv420p"), 640, 360), 0.5);
  const OverlayFigures figures = sample_figures();
  OverlayFigures other = figures;
  other.mode = Mode::kSync;
  other.frame = 999'999'999;
  other.dropped = 1'000'000;
  OverlayPanel panel(before.format(), figures.filters);
  panel.show(other);
  panel.show(figures);
  HostFrame drawn = before;
  panel.draw(drawn.view());
  EXPECT_EQ(testing::max_difference(drawn, with_overlay(before, figures)), 0);
}

TEST(OverlayPanel, TakesAnyFigures) {
  OverlayFigures wild = sample_figures();
  wild.device_name = std::string(300, 'W') + "\xc3\xa9";
  wild.frame = std::numeric_limits<std::int64_t>::max();
  wild.fps = 1e9;
  wild.frame_time_median_ms = 1e9;
  wild.frame_time_p99_ms = 1e12;
  wild.stage_ms.fill(1e9);
  wild.busy.fill(7.0);
  wild.frame_times_ms.assign(120, 1e15);
  wild.slots = 64;
  wild.slots_in_use = 65;
  wild.dropped = std::numeric_limits<std::int64_t>::max();
  wild.filters.assign(40, {std::string(80, 'f'), false});
  for (const Size& size : {Size{1280, 720}, {320, 180}, {160, 90}}) {
    const FrameFormat format = make_format(pixel_format("yuv420p"), size.width, size.height);
    for (const OverlayFigures& figures : {wild, OverlayFigures{}}) {
      const HostFrame before(format, Content::kRandom, 9, 4);
      const HostFrame drawn = with_overlay(before, figures);
      EXPECT_TRUE(drawn.padding_intact());
      expect_untouched_outside(drawn, before, OverlayPanel(format, figures.filters).area());
    }
  }
}

TEST(OverlayPanel, TextIsLegibleOnWhiteAndBlack) {
  for (const char* name : {"gray8", "yuv420p", "yuv444p", "gbrp", "yuv420p10", "yuv420p12", "gbrp16"}) {
    for (const Size& size : {Size{1920, 1080}, {640, 360}, {320, 180}}) {
      FrameFormat format = make_format(pixel_format(name), size.width, size.height);
      if (format.pixel.model == ColorModel::kGbr) format.range = ColorRange::kFull;
      for (const double level : {0.0, 1.0}) {
        SCOPED_TRACE(describe(format) + (level > 0 ? " white" : " black"));
        const HostFrame drawn = with_overlay(flat_frame(format, level), sample_figures());
        const std::vector<double> levels = sorted_levels(drawn, OverlayPanel(format, sample_figures().filters).area());
        // More than a tenth of the panel is bare, about a hundredth of it is the body of letters.
        const double panel = levels[levels.size() / 10];
        const double text = levels[levels.size() * 99 / 100];
        EXPECT_GE(contrast(text, panel), 4.5) << text << " on " << panel << ": WCAG's bound for text";
      }
    }
  }
}

TEST(OverlayPanel, IsNeitherBlindingNorDarkOnHdrFrames) {
  for (const char* name : {"yuv420p10", "yuv444p12"}) {
    FrameFormat format = make_format(pixel_format(name), 1920, 1080);
    format.matrix = ColorMatrix::kBt2020;
    const HostFrame drawn = with_overlay(flat_frame(format, 0), sample_figures());
    const double brightest = sorted_levels(drawn, {0, 0, 1920, 1080}).back();
    EXPECT_LE(pq_luminance(brightest), 203 * 1.05) << "HDR reference white is 203 cd/m2 (BT.2408)";
    EXPECT_GE(pq_luminance(brightest), 100);
  }
}

TEST(OverlayPanel, MakesFramesWithAlphaOpaqueUnderIt) {
  for (const char* name : {"yuva420p", "yuva444p10", "gbrap"}) {
    const FrameFormat format = make_format(pixel_format(name), 640, 360);
    SCOPED_TRACE(describe(format));
    HostFrame frame(format, Content::kRandom, 10);
    const int alpha = format.pixel.color_planes();
    const OverlayPanel panel(format, sample_figures().filters);
    const HostFrame drawn = with_overlay(frame, sample_figures());
    const cv::Point middle(panel.area().x + panel.area().width / 2, panel.area().y + panel.area().height / 2);
    EXPECT_EQ(drawn.sample(alpha, middle.x, middle.y), format.pixel.max_code());
    EXPECT_EQ(drawn.sample(alpha, 639, 359), frame.sample(alpha, 639, 359));
  }
}

TEST(OverlayLayout, GivesUpDetailAsFramesShrink) {
  EXPECT_EQ(overlay_layout({3840, 2160}, 1).detail, OverlayDetail::kFull);
  EXPECT_EQ(overlay_layout({1920, 1080}, 1).detail, OverlayDetail::kFull);
  EXPECT_EQ(overlay_layout({1080, 1920}, 1).detail, OverlayDetail::kFull);
  EXPECT_EQ(overlay_layout({640, 360}, 1).detail, OverlayDetail::kFull);
  EXPECT_EQ(overlay_layout({320, 180}, 1).detail, OverlayDetail::kEssentials);
  EXPECT_EQ(overlay_layout({160, 90}, 1).detail, OverlayDetail::kLine);
  EXPECT_EQ(overlay_layout({32, 18}, 1).detail, OverlayDetail::kNone);
  EXPECT_EQ(overlay_layout({1, 65552}, 1).detail, OverlayDetail::kNone);
}

TEST(OverlayLayout, TakesAThirdOfA1080pOr2160pFramesWidth) {
  for (const cv::Size frame : {cv::Size(1920, 1080), cv::Size(3840, 2160), cv::Size(1280, 720)}) {
    const double share = static_cast<double>(overlay_layout(frame, 1).size.width) / frame.width;
    EXPECT_GT(share, 0.28) << frame;
    EXPECT_LT(share, 0.40) << frame;
  }
}

TEST(OverlayLayout, LettersHaveAtLeastSixPixelsAndStayInTheFrame) {
  for (int width = 1; width < 900; width += 7) {
    for (int height = 1; height < 700; height += 9) {
      const OverlayLayout layout = overlay_layout({width, height}, 2);
      if (layout.detail == OverlayDetail::kNone) continue;
      ASSERT_GE(layout.cap_px, 6) << width << "x" << height;
      ASSERT_LE(layout.origin.x + layout.size.width, width) << width << "x" << height;
      ASSERT_LE(layout.origin.y + layout.size.height, height) << width << "x" << height;
    }
  }
}

TEST(OverlayCanvas, InksAreTheStandardsCodes) {
  const auto ink = [](ColorMatrix matrix, const Rgb& color) {
    FrameFormat format = make_format(pixel_format("yuv444p"), 16, 16);
    format.matrix = matrix;
    return OverlayCanvas(format, {4, 4}).ink(color);
  };
  // 100 % colour bars: ITU-R BT.601 and BT.709, 8 bits, limited range.
  EXPECT_EQ(ink(ColorMatrix::kBt601, {1, 0, 0}), Ink(81, 90, 240, 255));
  EXPECT_EQ(ink(ColorMatrix::kBt601, {0, 0, 1}), Ink(41, 240, 110, 255));
  EXPECT_EQ(ink(ColorMatrix::kBt709, {1, 0, 0}), Ink(63, 102, 240, 255));
  EXPECT_EQ(ink(ColorMatrix::kBt709, {0, 1, 0}), Ink(173, 42, 26, 255));
  EXPECT_EQ(ink(ColorMatrix::kBt709, {1, 1, 1}), Ink(235, 128, 128, 255));
  EXPECT_EQ(ink(ColorMatrix::kBt709, {0, 0, 0}), Ink(16, 128, 128, 255));
}

TEST(OverlayCanvas, BlendsEveryCodeAtEveryOpacity) {
  for (const char* name : {"gray8", "gray10", "gray16"}) {
    FrameFormat format = make_format(pixel_format(name), 256, 4);
    format.range = ColorRange::kFull;
    const int max_code = format.pixel.max_code();
    const double level = format.pixel.depth_bits > 8 ? OverlayCanvas::kDeepLevel : 1;
    for (const double gray : {0.0, 0.37, 1.0}) {
      for (int opacity = 0; opacity <= 255; ++opacity) {
        OverlayCanvas canvas(format, {256, 4});
        canvas.fill({0, 0, 256, 4}, canvas.ink({gray, gray, gray}, opacity / 255.0));
        canvas.finish();
        HostFrame frame(format);
        for (int x = 0; x < 256; ++x) frame.set_sample(0, x, 0, static_cast<int>(std::lround(x * max_code / 255.0)));
        const HostFrame before = frame;
        canvas.blend(frame.view(), {0, 0});
        for (int x = 0; x < 256; ++x) {
          const double share = opacity / 255.0;
          const double expected = before.sample(0, x, 0) * (1 - share) + gray * level * max_code * share;
          // Inks and opacities have 8 bits: 1.5 of their steps.
          ASSERT_NEAR(frame.sample(0, x, 0), expected, 1.5 * max_code / 255.0) << name << " " << opacity << " " << x;
          if (opacity == 0) {
            ASSERT_EQ(frame.sample(0, x, 0), before.sample(0, x, 0));
          }
        }
      }
    }
  }
}

TEST(OverlayCanvas, CoversPartsOfPixelsInProportion) {
  FrameFormat format = make_format(pixel_format("gray8"), 8, 4);
  format.range = ColorRange::kFull;
  OverlayCanvas canvas(format, {8, 4});
  canvas.fill({1.25, 1.5, 3.5, 2.0}, canvas.ink({1, 1, 1}));
  canvas.finish();
  HostFrame frame = flat_frame(format, 0);
  canvas.blend(frame.view(), {0, 0});
  const std::vector<int> expected{0, 96,  128, 128, 96,  0, 0, 0,   // half of row 1, 3/4 of columns 1 and 4
                                  0, 191, 255, 255, 191, 0, 0, 0};  // all of row 2
  for (int x = 0; x < 8; ++x) {
    EXPECT_EQ(frame.sample(0, x, 0), 0);
    EXPECT_NEAR(frame.sample(0, x, 1), expected[static_cast<std::size_t>(x)], 1) << x;
    EXPECT_NEAR(frame.sample(0, x, 2), expected[static_cast<std::size_t>(x + 8)], 1) << x;
  }
}

/** Text as rows of coverage. */
HostFrame written(const OverlayFont& font, const std::string& text) {
  FrameFormat format = make_format(pixel_format("gray8"), 256, 32);
  format.range = ColorRange::kFull;
  OverlayCanvas canvas(format, {256, 32});
  font.draw(canvas, text, {4, 20}, canvas.ink({1, 1, 1}));
  canvas.finish();
  HostFrame frame = flat_frame(format, 0);
  canvas.blend(frame.view(), {0, 0});
  return frame;
}

TEST(OverlayFont, LettersDifferEvenAtSixPixels) {
  // I is l, as in many sans-serif faces.
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHJKLMNOPQRSTUVWXYZ0123456789.,:%/()=-+?";
  for (const int cap_px : {6, 7, 9}) {
    const OverlayFont font(cap_px, OverlayFont::Weight::kRegular);
    for (std::size_t a = 0; a < letters.size(); ++a) {
      const HostFrame first = written(font, letters.substr(a, 1));
      for (std::size_t b = a + 1; b < letters.size(); ++b) {
        EXPECT_GT(testing::max_difference(first, written(font, letters.substr(b, 1))), 48)
            << letters[a] << " and " << letters[b] << " at " << cap_px << " px";
      }
    }
  }
}

TEST(OverlayFont, CapitalsStandOnTheBaselineAndFillTheirHeight) {
  for (const int cap_px : {6, 7, 10, 14}) {
    const HostFrame frame = written(OverlayFont(cap_px, OverlayFont::Weight::kRegular), "H");
    const auto row_has_ink = [&](int y) {
      int brightest = 0;
      for (int x = 0; x < 256; ++x) brightest = std::max(brightest, frame.sample(0, x, y));
      return brightest > 128;
    };
    EXPECT_FALSE(row_has_ink(20 - cap_px - 1)) << cap_px;
    for (int y = 20 - cap_px; y < 20; ++y) EXPECT_TRUE(row_has_ink(y)) << cap_px << " row " << y;
    EXPECT_FALSE(row_has_ink(20)) << cap_px;
  }
}

TEST(OverlayFont, DigitsAreEquallyWideAndLongTextIsShortened) {
  const OverlayFont font(9, OverlayFont::Weight::kBold);
  for (char digit = '1'; digit <= '9'; ++digit) EXPECT_EQ(font.width_px(std::string(1, digit)), font.width_px("0"));
  EXPECT_EQ(font.fitted("short", 200), "short");
  const std::string shortened = font.fitted("NVIDIA GeForce RTX 4090 Laptop GPU (cuda:0)", 120);
  EXPECT_LE(font.width_px(shortened), 120);
  EXPECT_EQ(shortened.substr(0, 6), "NVIDIA");
  EXPECT_EQ(shortened.substr(shortened.size() - 2), "..");
}

TEST(ScaleTop, IsTheNextOfOneTwoFive) {
  for (const auto& [value, top] : std::vector<std::pair<double, double>>{
           {0.3, 0.5}, {1, 1}, {1.01, 2}, {4.2, 5}, {5.1, 10}, {73, 100}, {0.011, 0.02}, {0, 1}}) {
    EXPECT_DOUBLE_EQ(scale_top(value), top) << value;
  }
}

FrameRecord record(std::int64_t frame, double begin_ms, double kernels_ms) {
  const auto at = [](double ms) {
    return TimePoint{} + std::chrono::hours(1) +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
  };
  FrameRecord record;
  record.frame = frame;
  record.mode = Mode::kAsync;
  record[Stage::kDecode] = {at(begin_ms), at(begin_ms + 1)};
  record[Stage::kKernels] = {at(begin_ms + 1), at(begin_ms + 1 + kernels_ms)};
  record[Stage::kEncode] = {at(begin_ms + 9), at(begin_ms + 10)};
  return record;
}

TEST(OverlayFigures, FollowFromTheLatestRecords) {
  std::vector<FrameRecord> records;
  for (int i = 0; i < 201; ++i) records.push_back(record(i, 5.0 * i, 2));
  const OverlayFigures figures = figures_of(records);
  EXPECT_EQ(figures.mode, Mode::kAsync);
  EXPECT_EQ(figures.frame, 200);
  EXPECT_NEAR(figures.fps, 200, 1e-6);  // one frame each 5 ms
  EXPECT_NEAR(figures.frame_time_median_ms, 5, 1e-6);
  EXPECT_NEAR(figures.frame_time_p99_ms, 5, 1e-6);
  EXPECT_NEAR(figures.stage_ms[static_cast<std::size_t>(Stage::kKernels)].value(), 2, 1e-6);
  EXPECT_FALSE(figures.stage_ms[static_cast<std::size_t>(Stage::kH2d)].has_value());
  // 201 times 2 ms in 1000 + 10 ms.
  EXPECT_NEAR(figures.busy[static_cast<std::size_t>(Stage::kKernels)].value(), 402.0 / 1010, 1e-6);
  EXPECT_FALSE(figures.busy[static_cast<std::size_t>(Stage::kD2h)].has_value());
  EXPECT_EQ(figures.frame_times_ms.size(), OverlayFigures::kGraphFrames);
}

TEST(OverlayFigures, OfFewOrNoRecordsAreEmpty) {
  EXPECT_EQ(figures_of({}).fps, 0);
  const OverlayFigures one = figures_of({record(7, 0, 1)});
  EXPECT_EQ(one.frame, 7);
  EXPECT_EQ(one.fps, 0);
  EXPECT_TRUE(one.frame_times_ms.empty());
}

TEST(Comparison, ShowsTheOriginalOnTheLeft) {
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Size& size : {Size{1, 1}, {2, 2}, {3, 5}, {16, 16}, {65, 33}, {321, 181}}) {
      const FrameFormat format = make_format(pixel, size.width, size.height);
      SCOPED_TRACE(describe(format));
      const HostFrame original(format, Content::kRandom, 11);
      const HostFrame filtered(format, Content::kRandom, 12, 4);
      HostFrame drawn = filtered;
      Comparison(format).draw(drawn.view(), original.view());
      EXPECT_TRUE(drawn.padding_intact());
      const int half = size.width / 2 / 4 * 4;
      const int divider_end = half + 4;
      const int label_top = size.height / 2;  // labels stay below it
      for (int plane = 0; plane < pixel.plane_count(); ++plane) {
        const int sx = pixel.is_chroma(plane) ? pixel.chroma_shift_x : 0;
        const int sy = pixel.is_chroma(plane) ? pixel.chroma_shift_y : 0;
        for (int y = 0; y < label_top >> sy; ++y) {
          for (int x = 0; x < format.plane_width(plane); ++x) {
            if (x << sx < half) {
              ASSERT_EQ(drawn.sample(plane, x, y), original.sample(plane, x, y)) << plane << " " << x << "," << y;
            } else if (x << sx >= divider_end) {
              ASSERT_EQ(drawn.sample(plane, x, y), filtered.sample(plane, x, y)) << plane << " " << x << "," << y;
            }
          }
        }
      }
    }
  }
}

TEST(Comparison, HasADividerOfTwoPixels) {
  const FrameFormat format = make_format(pixel_format("yuv420p"), 640, 360);
  const HostFrame black = flat_frame(format, 0);
  HostFrame drawn = black;
  Comparison(format).draw(drawn.view(), black.view());
  for (const int y : {0, 179, 359}) {
    EXPECT_EQ(drawn.sample(0, 319, y), 16);
    EXPECT_GT(drawn.sample(0, 320, y), 200);
    EXPECT_GT(drawn.sample(0, 321, y), 200);
    EXPECT_EQ(drawn.sample(0, 322, y), 16);
  }
}

TEST(Comparison, NeedsTheSameSizeAndPixelFormat) {
  const FrameFormat format = make_format(pixel_format("yuv420p"), 640, 360);
  EXPECT_TRUE(Comparison::comparable(format, format));
  EXPECT_FALSE(Comparison::comparable(format, make_format(pixel_format("yuv420p"), 640, 361)));
  EXPECT_FALSE(Comparison::comparable(format, make_format(pixel_format("yuv444p"), 640, 360)));
  EXPECT_FALSE(Comparison::comparable(format, make_format(pixel_format("yuv420p10"), 640, 360)));
}

std::vector<int> luma(const FrameView& frame) {
  std::vector<int> samples;
  for (int y = 0; y < frame.format.height; ++y) {
    const auto* row = frame.planes[0].row<const std::uint8_t>(y);
    samples.insert(samples.end(), row, row + frame.format.width);
  }
  return samples;
}

/** Columns of luma that differ between two frames. */
std::vector<int> changed_columns(const std::vector<int>& a, const std::vector<int>& b, int width) {
  std::vector<int> columns;
  for (int x = 0; x < width; ++x) {
    bool changed = false;
    for (std::size_t i = static_cast<std::size_t>(x); i < a.size(); i += static_cast<std::size_t>(width)) {
      changed = changed || a[i] != b[i];
    }
    if (changed) columns.push_back(x);
  }
  return columns;
}

/** Runs `frames` frames of 640x360 through `chain`, calling `look` on each. */
void run_pipeline(const std::string& chain, int frames,
                  const std::function<void(const FinishedFrame&, const Pipeline&)>& look) {
  PipelineOptions options;
  options.input.url = "lavfi:testsrc2=size=640x360:rate=30";
  options.output.url = "null";
  options.filters = parse_filter_chain(chain);
  options.device = create_cpu_device();
  options.frame_limit = frames;
  const Pipeline* pipeline_in_hook = nullptr;
  PipelineHooks hooks;
  hooks.decorate = [&](const FinishedFrame& frame) { look(frame, *pipeline_in_hook); };
  Pipeline pipeline(std::move(options), std::move(hooks));
  pipeline_in_hook = &pipeline;
  pipeline.start();
  while (!pipeline.wait_for(std::chrono::milliseconds(100))) {
  }
  pipeline.finish();
}

TEST(Overlay, DrawsWhatItsControlsSay) {
  OverlayControls controls;
  Overlay overlay(controls, "CPU");
  int seen = 0;
  run_pipeline("negate", 9, [&](const FinishedFrame& frame, const Pipeline& pipeline) {
    SCOPED_TRACE(seen);
    controls.hud = seen / 3 == 1;
    controls.compare_original = seen / 3 == 2;
    const std::vector<int> before = luma(frame.picture);
    overlay.draw(frame, pipeline);
    const std::vector<int> after = luma(frame.picture);
    const std::vector<int> changed = changed_columns(before, after, 640);
    if (seen / 3 == 0) {
      EXPECT_TRUE(changed.empty());
    } else if (seen / 3 == 1) {
      const cv::Rect area = OverlayPanel(frame.picture.format, {{"negate", true}}).area();
      ASSERT_FALSE(changed.empty());
      EXPECT_GE(changed.front(), area.x);
      EXPECT_LT(changed.back(), area.br().x);
    } else {
      const std::vector<int> original = luma(frame.original);
      for (std::size_t i = 0; i < after.size() / 2; ++i) {  // labels are in the lower half
        const std::size_t x = i % 640;
        if (x < 320 || x >= 324) {
          ASSERT_EQ(after[i], x < 320 ? original[i] : before[i]) << i;
        }
      }
    }
    ++seen;
  });
  EXPECT_EQ(seen, 9);
}

TEST(Overlay, LeavesAFrameOfAnotherSizeThanTheOriginalAlone) {
  OverlayControls controls;
  controls.compare_original = true;
  Overlay overlay(controls, "CPU");
  run_pipeline("scale=320:180", 2, [&](const FinishedFrame& frame, const Pipeline& pipeline) {
    const std::vector<int> before = luma(frame.picture);
    overlay.draw(frame, pipeline);
    EXPECT_EQ(luma(frame.picture), before);
  });
}

}  // namespace
}  // namespace framelane
