// scale against a float64 reference, ffmpeg and cv::resize.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <opencv2/imgproc.hpp>
#include <tuple>

#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "kernels/parallel_rows.h"
#include "tests/plane_fixture.h"

namespace framelane::testing {
namespace {

FrameFormat output_of(const std::string& filter, const FrameFormat& input) {
  const std::vector<FilterUse> uses = parse_filter_chain(filter);
  return uses.at(0).descriptor->create(uses[0].values)->output_format(input);
}

std::string ffmpeg_name(const std::string& name) { return pixel_format(name).depth_bits > 8 ? name + "le" : name; }

std::string sized(int width, int height, const std::string& flags) {
  return "scale=" + std::to_string(width) + ":" + std::to_string(height) + ":flags=" + flags;
}

// The reference: the definition in FILTERS.md, written down without any of our code.

double kernel(const std::string& name, double x) {
  x = std::abs(x);
  if (name == "bilinear") return std::max(0.0, 1 - x);
  if (name == "lanczos") {
    const double angle = std::numbers::pi * x;
    return x == 0 ? 1 : x < 3 ? 3 * std::sin(angle) * std::sin(angle / 3) / (angle * angle) : 0;
  }
  // Mitchell and Netravali's family with B = 0, C = 0.6, which is swscale's bicubic.
  const double c = 0.6;
  if (x < 1) return (12 - 6 * c) / 6 * x * x * x + (-18 + 6 * c) / 6 * x * x + 1;
  return x < 2 ? -c * x * x * x + 5 * c * x * x - 8 * c * x + 4 * c : 0;
}

/** A line of samples at any place beyond its ends too. */
double at(const std::vector<double>& line, int j) {
  return line[static_cast<std::size_t>(std::clamp(j, 0, static_cast<int>(line.size()) - 1))];
}

std::vector<double> resampled(const std::vector<double>& line, int size, const std::string& name) {
  const double step = static_cast<double>(line.size()) / size;
  const double widening = std::max(step, 1.0);
  std::vector<double> result;
  for (int i = 0; i < size; ++i) {
    if (name == "neighbor") {
      result.push_back(at(line, static_cast<int>(std::floor((i + 0.5) * step))));
      continue;
    }
    const double center = (i + 0.5) * step - 0.5;
    double sum = 0;
    double weights = 0;
    for (int j = static_cast<int>(center - 3 * widening) - 2; j <= center + 3 * widening + 1; ++j) {
      const double weight = kernel(name, (j - center) / widening);
      sum += weight * at(line, j);
      weights += weight;
    }
    result.push_back(sum / weights);
  }
  return result;
}

/** [row][column] of a plane of `frame`, resampled to width x height. */
std::vector<std::vector<double>> resampled_plane(const HostFrame& frame, int plane, int width, int height,
                                                 const std::string& name) {
  const int src_width = frame.format().plane_width(plane);
  const int src_height = frame.format().plane_height(plane);
  std::vector<std::vector<double>> columns(static_cast<std::size_t>(width));
  for (int y = 0; y < src_height; ++y) {
    std::vector<double> line;
    for (int x = 0; x < src_width; ++x) line.push_back(frame.sample(plane, x, y));
    const std::vector<double> row = resampled(line, width, name);
    for (std::size_t x = 0; x < columns.size(); ++x) columns[x].push_back(row[x]);
  }
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(height));
  for (const std::vector<double>& column : columns) {
    const std::vector<double> scaled = resampled(column, height, name);
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y].push_back(scaled[y]);
  }
  return rows;
}

/** The largest distance of `result` from the rounded reference. */
int distance_from_reference(const HostFrame& frame, const HostFrame& result, const std::string& name) {
  double largest = 0;
  for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
    const int width = result.format().plane_width(plane);
    const int height = result.format().plane_height(plane);
    const auto expected = resampled_plane(frame, plane, width, height, name);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double code = expected[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
        const double rounded = std::round(std::clamp(code, 0.0, 1.0 * frame.format().pixel.max_code()));
        largest = std::max(largest, std::abs(rounded - result.sample(plane, x, y)));
      }
    }
  }
  return static_cast<int>(largest);
}

TEST(Scale, IsTheReferenceForEveryFormat) {
  std::uint32_t seed = 1;
  const char* const kernels[] = {"bicubic", "bilinear", "lanczos", "neighbor"};
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const auto& [width, height, to_width, to_height] :
         {std::tuple{1, 1, 3, 2}, {2, 2, 1, 1}, {3, 5, 7, 4}, {16, 16, 8, 24}, {33, 17, 13, 20}}) {
      const std::string name = kernels[++seed % 4];
      const Content content = seed % 3 == 0 ? Content::kExtremes : Content::kRandom;
      const int extra_pitch = seed % 5 == 0 ? 2 : 0;
      const HostFrame frame(make_format(pixel, width, height), content, seed, extra_pitch);
      for (const Backend backend : backends()) {
        const HostFrame result = run_filter(sized(to_width, to_height, name), frame, backend);
        EXPECT_LE(distance_from_reference(frame, result, name), 1)
            << name << " of " << describe(frame.format()) << " to " << to_width << "x" << to_height << ", seed "
            << seed;
      }
    }
  }
}

TEST(Scale, IsTheReferenceForEveryKernelAndRatio) {
  const HostFrame frame(make_format(pixel_format("yuv420p"), 65, 33), Content::kRandom, 21);
  const HostFrame deep(make_format(pixel_format("gray16"), 65, 33), Content::kExtremes, 22);
  for (const std::string name : {"bicubic", "bilinear", "lanczos", "neighbor"}) {
    for (const auto& [width, height] : {std::pair{65, 33},
                                        {130, 66},
                                        {64, 34},
                                        {32, 16},
                                        {65, 7},
                                        {9, 33},
                                        {5, 3},
                                        {1, 1},
                                        {1, 50},
                                        {200, 1},
                                        {301, 211}}) {
      for (const Backend backend : backends()) {
        for (const HostFrame* source : {&frame, &deep}) {
          const HostFrame result = run_filter(sized(width, height, name), *source, backend);
          EXPECT_LE(distance_from_reference(*source, result, name), 1)
              << name << " of " << describe(source->format()) << " to " << width << "x" << height;
        }
      }
    }
  }
}

TEST(Scale, IsTheReferenceForLargeFrames) {
  for (const auto& [format, width, height, to_width, to_height, name] :
       {std::tuple{"yuv420p", 1919, 1081, 1280, 720, "bicubic"},
        {"yuv422p10", 1919, 1081, 641, 361, "lanczos"},
        {"yuv420p", 640, 360, 1919, 1081, "bicubic"},
        {"gray", 4096, 2160, 160, 90, "bicubic"},     // so many rows a tile that CUDA takes two launches
        {"gray16", 4096, 2160, 100, 61, "bilinear"},  // likewise
        {"gray", 16, 65552, 8, 65536, "bilinear"},
        {"gray", 65536, 16, 3, 20, "bicubic"}}) {
    const HostFrame frame(make_format(pixel_format(format), width, height), Content::kRandom, 31);
    for (const Backend backend : backends()) {
      const HostFrame result = run_filter(sized(to_width, to_height, name), frame, backend);
      EXPECT_LE(distance_from_reference(frame, result, name), 1)
          << name << " of " << describe(frame.format()) << " to " << to_width << "x" << to_height;
    }
  }
}

TEST(Scale, GivesTheSameSizeBackUnchanged) {
  for (const std::string name : {"neighbor", "bilinear", "bicubic", "lanczos", "area"}) {
    for (const char* format : {"yuv420p", "yuva444p10", "gbrp16"}) {
      const HostFrame frame(make_format(pixel_format(format), 65, 33), Content::kRandom, 41, 2);
      for (const Backend backend : backends()) {
        EXPECT_EQ(max_difference(run_filter("scale=flags=" + name, frame, backend), frame), 0) << name << " " << format;
      }
    }
  }
}

TEST(Scale, LeavesTheUnscaledDirectionAlone) {
  HostFrame stripes(make_format(pixel_format("gray16"), 40, 20));
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 40; ++x) stripes.set_sample(0, x, y, y * 3449);
  }
  for (const Backend backend : backends()) {
    const HostFrame result = run_filter("scale=17:20", stripes, backend);
    for (int y = 0; y < 20; ++y) {
      for (int x = 0; x < 17; ++x) EXPECT_NEAR(result.sample(0, x, y), y * 3449, 1);
    }
  }
}

/** Random codes in the middle half, from which no kernel overshoots: swscale's intermediate rows saturate. */
HostFrame middle_codes(const std::string& name, int width, int height, std::uint32_t seed) {
  HostFrame frame(make_format(pixel_format(name), width, height), Content::kRandom, seed);
  const int quarter = (frame.format().pixel.max_code() + 1) / 4;
  for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
    for (int y = 0; y < frame.format().plane_height(plane); ++y) {
      for (int x = 0; x < frame.format().plane_width(plane); ++x) {
        frame.set_sample(plane, x, y, quarter + frame.sample(plane, x, y) / 2);
      }
    }
  }
  return frame;
}

/** The first output samples whose kernel reaches over the input's left or upper edge. swscale 5 to 7 rounds the start
 *  of their windows towards zero, which drops the tap beyond the edge: up to 8 off there with random content. */
int edge_samples(int from, int to) {
  const double step = static_cast<double>(from) / to;
  return static_cast<int>(std::ceil(3 * std::max(step, 1.0) / step + 0.5));
}

/** Against ffmpeg with its exact options: 14-bit weights, 15- or 19-bit intermediate rows. */
void expect_near_ffmpegs(const std::string& filter, const std::string& kernel_name, const HostFrame& frame,
                         const std::string& name, int tolerance) {
  const FrameFormat& input = frame.format();
  const FrameFormat output = output_of(filter, input);
  const std::string full_filter = filter + ":flags=" + kernel_name + "+accurate_rnd+full_chroma_int";
  const HostFrame expected = run_ffmpeg(full_filter, {frame}, ffmpeg_name(name), output).front();
  for (const Backend backend : backends()) {
    const HostFrame result = run_filter(full_filter, frame, backend);
    int largest = 0;
    for (int plane = 0; plane < output.pixel.plane_count(); ++plane) {
      const int left = edge_samples(input.plane_width(plane), output.plane_width(plane));
      const int top = edge_samples(input.plane_height(plane), output.plane_height(plane));
      ASSERT_GT(output.plane_width(plane), left) << "nothing is compared";
      ASSERT_GT(output.plane_height(plane), top) << "nothing is compared";
      for (int y = top; y < output.plane_height(plane); ++y) {
        for (int x = left; x < output.plane_width(plane); ++x) {
          largest = std::max(largest, std::abs(result.sample(plane, x, y) - expected.sample(plane, x, y)));
        }
      }
    }
    EXPECT_LE(largest, tolerance) << full_filter << " of " << describe(input);
  }
}

TEST(Scale, IsNearFfmpegs) {
  FRAMELANE_REQUIRE_FFMPEG("scale");
  for (const char* filter : {"scale=128:64", "scale=32:16", "scale=50:70", "scale=97:33", "scale=24:100"}) {
    for (const char* kernel_name : {"bicubic", "bilinear", "lanczos"}) {
      for (const char* name : {"yuv420p", "yuv444p"}) {
        const HostFrame frame = middle_codes(name, 64, 32, 51);
        expect_near_ffmpegs(filter, kernel_name, frame, name, 2);
      }
      const HostFrame deep = middle_codes("yuv422p10", 64, 32, 52);
      expect_near_ffmpegs(filter, kernel_name, deep, "yuv422p10", 4);
    }
  }
}

TEST(Scale, IsFfmpegsForNeighborAtWholeRatios) {
  FRAMELANE_REQUIRE_FFMPEG("scale");
  const HostFrame frame(make_format(pixel_format("yuv420p"), 64, 32), Content::kRandom, 53);
  for (const char* filter : {"scale=128:64", "scale=32:16", "scale=16:64"}) {
    expect_near_ffmpegs(filter, "neighbor", frame, "yuv420p", 0);
  }
}

TEST(Scale, ResolvesSizesAsFfmpegDoes) {
  FRAMELANE_REQUIRE_FFMPEG("scale");
  const HostFrame frame(make_format(pixel_format("gray"), 67, 41), Content::kGradient, 1);
  for (const char* filter : {"scale=100:-1",
                             "scale=-1:100",
                             "scale=-2:100",
                             "scale=100:-8",
                             "scale=-16:-3",
                             "scale=-1:-1",
                             "scale=0:20",
                             "scale=20:0",
                             "scale=iw/2:ih/3",
                             "scale=w=oh*2:h=30",
                             "scale=30:ow/a",
                             "scale=trunc(iw/2)*2:-2",
                             "scale=qcif",
                             "scale=96x55",
                             "scale=s=vga",
                             "scale=100.9:50.9",
                             "scale=0.4:30",
                             "scale=50:50:force_original_aspect_ratio=decrease",
                             "scale=50:50:force_original_aspect_ratio=increase",
                             "scale=50:50:force_original_aspect_ratio=decrease:force_divisible_by=4",
                             "scale=50:50:force_original_aspect_ratio=increase:force_divisible_by=4",
                             "scale=-2:50:force_original_aspect_ratio=increase:force_divisible_by=3"}) {
    expect_near_ffmpegs(filter, "bilinear", frame, "gray", 2);
  }
}

TEST(Scale, AreaIsOpenCvsWhenShrinking) {
  for (const char* name : {"gray", "gray16"}) {
    const HostFrame frame(make_format(pixel_format(name), 130, 66), Content::kRandom, 61);
    const int depth = frame.format().pixel.depth_bits;
    for (const auto& [width, height] : {std::pair{65, 33}, {100, 40}, {13, 66}, {130, 11}, {7, 5}, {1, 1}}) {
      const HostFrame expected(make_format(frame.format().pixel, width, height));
      cv::Mat to = as_mat(expected.view().planes[0], depth);
      cv::resize(as_mat(frame.view().planes[0], depth), to, to.size(), 0, 0, cv::INTER_AREA);
      for (const Backend backend : backends()) {
        EXPECT_LE(max_difference(run_filter(sized(width, height, "area"), frame, backend), expected), 1)
            << name << " to " << width << "x" << height;
      }
    }
  }
}

TEST(Scale, AreaIsBilinearWhenEnlarging) {
  const HostFrame frame(make_format(pixel_format("yuv420p"), 20, 14), Content::kRandom, 62);
  for (const Backend backend : backends()) {
    const HostFrame result = run_filter(sized(47, 31, "area"), frame, backend);
    EXPECT_LE(distance_from_reference(frame, result, "bilinear"), 1);
  }
}

/** Rec. ITU-R BT.601-7 and BT.2100: codes of limited and full range for the same signal. */
double other_range(double code, bool to_full, int depth_bits, bool chroma) {
  const double unit = std::pow(2.0, depth_bits - 8);
  const double full = std::pow(2.0, depth_bits) - 1;
  const double limited = (chroma ? 224 : 219) * unit;
  const double middle = 128 * unit;
  if (to_full) return chroma ? (code - middle) / limited * full + middle : (code - 16 * unit) / limited * full;
  return chroma ? (code - middle) / full * limited + middle : code / full * limited + 16 * unit;
}

TEST(Scale, ConvertsTheCodeRange) {
  for (const char* name : {"yuv420p", "yuva422p10", "gray16", "gbrp12"}) {
    for (const bool to_full : {true, false}) {
      FrameFormat format = make_format(pixel_format(name), 65, 33);
      format.range = to_full ? ColorRange::kLimited : ColorRange::kFull;
      const HostFrame frame(format, Content::kRandom, 71);
      const std::string filter = std::string("scale=out_range=") + (to_full ? "pc" : "limited");
      EXPECT_EQ(output_of(filter, format).range, to_full ? ColorRange::kFull : ColorRange::kLimited);
      for (const Backend backend : backends()) {
        const HostFrame result = run_filter(filter, frame, backend);
        for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
          for (int x = 0; x < format.plane_width(plane); ++x) {
            const int code = frame.sample(plane, x, 5);
            const double mapped = other_range(code, to_full, format.pixel.depth_bits, format.pixel.is_chroma(plane));
            const double expected =
                format.pixel.is_alpha(plane) ? code : std::clamp(mapped, 0.0, 1.0 * format.pixel.max_code());
            EXPECT_NEAR(result.sample(plane, x, 5), expected, 0.51) << name << " plane " << plane << " code " << code;
          }
        }
      }
    }
  }
}

TEST(Scale, ConvertsTheCodeRangeAsFfmpegDoes) {
  FRAMELANE_REQUIRE_FFMPEG("scale");
  for (const std::string range : {"in_range=tv:out_range=pc", "in_range=full:out_range=limited"}) {
    const HostFrame frame = middle_codes("yuv420p", 64, 32, 72);
    expect_near_ffmpegs("scale=" + range, "bicubic", frame, "yuv420p", 1);
    expect_near_ffmpegs("scale=40:50:" + range, "bicubic", frame, "yuv420p", 2);
  }
}

TEST(Scale, TakesInRangeForTheInputsOwn) {
  const FrameFormat limited = make_format(pixel_format("yuv420p"), 16, 16);
  EXPECT_EQ(output_of("scale=in_range=full", limited).range, ColorRange::kFull);
  EXPECT_EQ(output_of("scale=in_range=auto", limited).range, ColorRange::kLimited);
  const HostFrame frame(limited, Content::kRandom, 73);
  for (const Backend backend : backends()) {
    EXPECT_EQ(max_difference(run_filter("scale=in_range=full", frame, backend), frame), 0) << "only the tag changes";
    EXPECT_EQ(max_difference(run_filter("scale=in_range=full:out_range=full", frame, backend), frame), 0);
  }
}

TEST(Scale, KeepsTheShapeOfThePicture) {
  FrameFormat input = make_format(pixel_format("yuv420p"), 720, 576);
  EXPECT_EQ(output_of("scale=640:360", input).sample_aspect, (AspectRatio{0, 1})) << "unknown stays unknown";
  input.sample_aspect = {16, 15};
  EXPECT_EQ(output_of("scale=768:576", input).sample_aspect, (AspectRatio{1, 1}));
  EXPECT_EQ(output_of("scale=iw*sar:ih", input).width, 768);
  EXPECT_EQ(output_of("scale=360:576", input).sample_aspect, (AspectRatio{32, 15}));
}

TEST(Scale, RefusesSizesOutOfRange) {
  const FrameFormat input = make_format(pixel_format("yuv420p"), 640, 36);
  for (const char* filter : {"scale=65537:10", "scale=10:65537", "scale=1e12:10", "scale=0/0:10", "scale=oh:ow",
                             "scale=1:-1",  // rounds to 0 rows
                             "scale=1:9:force_original_aspect_ratio=decrease:force_divisible_by=2"}) {
    EXPECT_THROW(output_of(filter, input), UsageError) << filter;
  }
}

TEST(Scale, RefusesFlagsAndSizesThatItDoesNotKnow) {
  const FrameFormat input = make_format(pixel_format("yuv420p"), 640, 360);
  EXPECT_THROW(output_of("scale=10:10:flags=spline", input), UsageError);
  EXPECT_THROW(output_of("scale=10:10:flags=bicubic+area", input), UsageError);
  EXPECT_THROW(output_of("scale=size=huge", input), UsageError);
  EXPECT_THROW(output_of("scale=w=10:size=vga", input), UsageError);
  EXPECT_NO_THROW(output_of("scale=10:10:flags=accurate_rnd+lanczos+full_chroma_int", input));
  EXPECT_NO_THROW(output_of("scale=10:10:interp=area", input));
}

}  // namespace
}  // namespace framelane::testing
