// crop against ffmpeg: what it keeps of odd sizes, where it moves offsets, what it refuses.
#include <gtest/gtest.h>

#include <tuple>

#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "tests/plane_fixture.h"

namespace framelane::testing {
namespace {

FrameFormat output_of(const std::string& filter, const FrameFormat& input) {
  const std::vector<FilterUse> uses = parse_filter_chain(filter);
  return uses.at(0).descriptor->create(uses[0].values)->output_format(input);
}

/** ffmpeg's name of a format. */
std::string ffmpeg_name(const std::string& name) { return pixel_format(name).depth_bits > 8 ? name + "le" : name; }

void expect_ffmpegs(const std::string& filter, const std::string& name, int width, int height) {
  const HostFrame frame(make_format(pixel_format(name), width, height), Content::kRandom, 11);
  const FrameFormat output = output_of(filter, frame.format());
  const HostFrame expected = run_ffmpeg(filter, {frame}, ffmpeg_name(name), output).front();
  for (const Backend backend : backends()) {
    EXPECT_EQ(max_difference(run_filter(filter, frame, backend), expected), 0)
        << filter << " of " << describe(frame.format());
  }
}

TEST(Crop, IsFfmpegs) {
  FRAMELANE_REQUIRE_FFMPEG("crop");
  for (const char* filter : {"crop", "crop=31:17", "crop=31:17:exact=1", "crop=w=iw/2:h=ih/3", "crop=10:10:3:5",
                             "crop=10:10:3:5:exact=1", "crop=iw-7:ih-5:7:5", "crop=in_w/3.7:in_h/2.3:exact=1",
                             "crop=20:9:-5:1000", "crop=30:ow/2", "crop=12:12:x=y*2:y=3", "crop=oh*2:12:y=x/2",
                             "crop=w=10.5:h=11.5:exact=1", "crop=10:10:0/0:0/0", "crop=11:11:1.5:2.5:exact=1"}) {
    for (const char* name : {"yuv420p", "yuv411p", "yuva422p", "gbrp10"}) {
      expect_ffmpegs(filter, name, 65, 33);
    }
  }
}

TEST(Crop, KeepsTheCentreOfLargeFrames) {
  FRAMELANE_REQUIRE_FFMPEG("crop");
  expect_ffmpegs("crop=1280:720", "yuv420p", 1919, 1081);
  // Offsets are even here: at odd ones ffmpeg 5.1 shifts 16-bit chroma by a byte, half a sample, and reads garbage.
  expect_ffmpegs("crop=1001:701:458:190:exact=1", "yuv420p10", 1919, 1081);
  expect_ffmpegs("crop=7:65541:3:8", "gray", 16, 65552);
}

/** The samples that crop's definition names. */
void expect_samples_from(const HostFrame& source, const HostFrame& cropped, int x, int y) {
  const PixelFormat& pixel = source.format().pixel;
  for (int plane = 0; plane < pixel.plane_count(); ++plane) {
    const int plane_x = pixel.is_chroma(plane) ? x >> pixel.chroma_shift_x : x;
    const int plane_y = pixel.is_chroma(plane) ? y >> pixel.chroma_shift_y : y;
    for (int row = 0; row < cropped.format().plane_height(plane); ++row) {
      for (int column = 0; column < cropped.format().plane_width(plane); ++column) {
        ASSERT_EQ(cropped.sample(plane, column, row), source.sample(plane, plane_x + column, plane_y + row))
            << describe(source.format()) << ", plane " << plane << " at " << column << "," << row;
      }
    }
  }
}

TEST(Crop, CopiesEveryPlaneOfEveryFormat) {
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const auto& [width, height, x, y] :
         {std::tuple{1, 1, 0, 0}, {2, 2, 1, 0}, {3, 5, 2, 1}, {16, 16, 5, 3}, {65, 33, 1, 9}, {65, 33, 18, 0}}) {
      for (const int extra_pitch : {0, 2}) {
        const HostFrame frame(make_format(pixel, width, height), Content::kRandom, 13, extra_pitch);
        const std::string filter = "crop=iw-" + std::to_string(x) + ":ih-" + std::to_string(y) + ":" +
                                   std::to_string(x) + ":" + std::to_string(y) + ":exact=1";
        for (const Backend backend : backends()) expect_samples_from(frame, run_filter(filter, frame, backend), x, y);
      }
    }
  }
}

TEST(Crop, RefusesSizesThatDoNotFit) {
  const FrameFormat input = make_format(pixel_format("yuv420p"), 64, 32);
  for (const char* filter : {"crop=66:32", "crop=64:34", "crop=0:10", "crop=10:-2", "crop=1:10", "crop=0/0:10",
                             "crop=oh:ow", "crop=1e12:10"}) {
    EXPECT_THROW(output_of(filter, input), UsageError) << filter;
  }
}

TEST(Crop, SaysThatItsPlaceCannotChangeFromFrameToFrame) {
  for (const char* filter : {"crop=10:10:n", "crop=10:10:0:10*t", "crop=10:10:if(gt(t\\,2)\\,5\\,0)"}) {
    try {
      output_of(filter, make_format(pixel_format("yuv420p"), 64, 32));
      ADD_FAILURE() << filter << " was accepted";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("from frame to frame"), std::string::npos) << error.what();
    }
  }
}

TEST(Crop, NamesTheParameterThatItCannotRead) {
  try {
    output_of("crop=w=wide", make_format(pixel_format("yuv420p"), 64, 32));
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("filter 'crop': parameter 'w'"), std::string::npos) << error.what();
  }
}

TEST(Crop, KeepsTheShapeOfThePictureWhenAskedTo) {
  FrameFormat input = make_format(pixel_format("yuv420p"), 720, 576);
  EXPECT_EQ(output_of("crop=360:576:keep_aspect=1", input).sample_aspect, (AspectRatio{0, 1}));
  input.sample_aspect = {16, 15};
  EXPECT_EQ(output_of("crop=360:576", input).sample_aspect, (AspectRatio{16, 15}));
  EXPECT_EQ(output_of("crop=360:576:keep_aspect=1", input).sample_aspect, (AspectRatio{32, 15}));
}

TEST(Crop, KnowsTheSampleAspect) {
  FrameFormat input = make_format(pixel_format("yuv420p"), 720, 576);
  input.sample_aspect = {16, 15};
  EXPECT_EQ(output_of("crop=720/sar:100", input).width, 674);  // 675 on the chroma grid
  EXPECT_EQ(output_of("crop=dar*300:100", input).width, 400);
  EXPECT_EQ(output_of("crop=a*400:100", input).width, 500);
}

}  // namespace
}  // namespace framelane::testing
