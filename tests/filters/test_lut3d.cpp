// lut3d against float64 and ffmpeg, its identity, and the .cube reader.
#include <gtest/gtest.h>

#include "kernels/color/cube_file.h"
#include "kernels/errors.h"
#include "tests/color_reference.h"

namespace framelane::testing {
namespace {

const std::vector<std::string> kInterpolations{"nearest", "trilinear", "tetrahedral"};

HostFrame run_lut(const TemporaryFile& file, const std::string& interp, const HostFrame& src, Backend backend) {
  return run_filter("lut3d=file=" + file.path() + ":interp=" + interp, src, backend);
}

/** The matrices and ranges that a format can have. */
std::vector<FrameFormat> color_variants(FrameFormat format) {
  if (format.pixel.model == ColorModel::kGbr) return {format};
  std::vector<FrameFormat> variants;
  for (const ColorRange range : {ColorRange::kLimited, ColorRange::kFull}) {
    for (const ColorMatrix matrix :
         {ColorMatrix::kBt601, ColorMatrix::kBt709, ColorMatrix::kBt2020, ColorMatrix::kSmpte240m, ColorMatrix::kFcc}) {
      format.range = range;
      format.matrix = matrix;
      variants.push_back(format);
    }
  }
  return variants;
}

// Among random and extreme codes most are outside 0..1 in R'G'B'.
TEST(Lut3d, WithAnIdentityTableChangesNothing) {
  for (const int size : {2, 17, 33}) {
    const TemporaryFile file(CubeReference(size, unchanged_look));
    for (const PixelFormat& pixel : all_pixel_formats()) {
      for (const Content content : {Content::kRandom, Content::kExtremes}) {
        const HostFrame src(make_format(pixel, 37, 13), content, 1);
        for (const Backend backend : backends()) {
          EXPECT_EQ(max_difference(run_lut(file, "tetrahedral", src, backend), src), 0) << describe(src.format());
          EXPECT_EQ(max_difference(run_lut(file, "trilinear", src, backend), src), 0) << describe(src.format());
        }
      }
    }
  }
}

TEST(Lut3d, WithAnIdentityTableChangesNothingInAnyMatrixAndRange) {
  const TemporaryFile file(CubeReference(33, unchanged_look));
  for (const char* name : {"yuv420p", "yuv444p", "yuv420p10", "yuv444p16", "yuv410p16", "gray16"}) {
    for (const FrameFormat& format : color_variants(make_format(pixel_format(name), 129, 65))) {
      for (const Content content : {Content::kRandom, Content::kExtremes}) {
        const HostFrame src(format, content, 2);
        for (const Backend backend : backends()) {
          EXPECT_EQ(max_difference(run_lut(file, "tetrahedral", src, backend), src), 0) << name;
        }
      }
    }
  }
}

TEST(Lut3d, IsTheFloat64LookUpInEveryFormat) {
  const CubeReference cube(17, twisted_look);
  const TemporaryFile file(cube);
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Size size : {Size{1, 1}, {2, 2}, {3, 5}, {37, 13}}) {
      const HostFrame src(make_format(pixel, size.width, size.height), Content::kRandom, 3, 2);
      for (const std::string interp : {"trilinear", "tetrahedral"}) {
        const ReferencePlanes expected = run_reference(src, {cube.op(interp)});
        for (const Backend backend : backends()) {
          const HostFrame out = run_lut(file, interp, src, backend);
          EXPECT_LE(worst_distance(out, expected), rounding_bound(src.format(), 8))
              << describe(src.format()) << " " << interp;
          EXPECT_TRUE(out.padding_intact());
        }
      }
    }
  }
}

// Codes halfway between grid points may fall to either side in float32: eight bits and a size that has none.
TEST(Lut3d, NearestIsTheFloat64LookUp) {
  const CubeReference cube(16, twisted_look);
  const TemporaryFile file(cube);
  const HostFrame src(make_format(pixel_format("gbrp"), 129, 65), Content::kRandom, 4);
  const ReferencePlanes expected = run_reference(src, {cube.op("nearest")});
  for (const Backend backend : backends()) {
    EXPECT_LE(worst_distance(run_lut(file, "nearest", src, backend), expected), rounding_bound(src.format()));
  }
}

TEST(Lut3d, FollowsMatrixAndRange) {
  const CubeReference cube(9, twisted_look);
  const TemporaryFile file(cube);
  for (const char* name : {"yuv420p", "yuv422p10", "yuv444p16", "gray8"}) {
    for (const FrameFormat& format : color_variants(make_format(pixel_format(name), 33, 17))) {
      const HostFrame src(format, Content::kRandom, 5);
      const ReferencePlanes expected = run_reference(src, {cube.op("tetrahedral")});
      for (const Backend backend : backends()) {
        EXPECT_LE(worst_distance(run_lut(file, "tetrahedral", src, backend), expected), rounding_bound(format, 8))
            << name;
      }
    }
  }
}

TEST(Lut3d, TakesTheDomainOfTheFile) {
  const auto halved = [](const Vector3& c) { return Vector3{c[0] / 2, c[1] / 2, c[2] / 2}; };
  for (const auto& [low, high] : {std::pair{0.0, 2.0}, {-0.5, 1.5}, {0.25, 0.75}}) {
    const CubeReference cube(5, halved, low, high);
    const TemporaryFile file(cube);
    for (const char* name : {"gbrp", "yuv444p10"}) {
      const HostFrame src(make_format(pixel_format(name), 33, 17), Content::kRandom, 6);
      const ReferencePlanes expected = run_reference(src, {cube.op("tetrahedral")});
      for (const Backend backend : backends()) {
        EXPECT_LE(worst_distance(run_lut(file, "tetrahedral", src, backend), expected), rounding_bound(src.format(), 4))
            << low << ".." << high;
      }
    }
  }
}

TEST(Lut3d, IsWithinOneOfFfmpegOnRgb) {
  FRAMELANE_REQUIRE_FFMPEG("lut3d");
  for (const int size : {2, 17, 33}) {
    const TemporaryFile file(CubeReference(size, twisted_look));
    for (const std::string pix_fmt : {"gbrp", "gbrap", "gbrp10le", "gbrp16le"}) {
      const FrameFormat format = make_format(pixel_format(pix_fmt), 65, 33);
      const HostFrame src(format, Content::kRandom, 7);
      for (const std::string interp : {"trilinear", "tetrahedral"}) {
        const std::string filter = "lut3d=file=" + file.path() + ":interp=" + interp;
        const HostFrame expected = run_ffmpeg(filter, {src}, pix_fmt, format).front();
        for (const Backend backend : backends()) {
          EXPECT_LE(max_difference(run_filter(filter, src, backend), expected), 1) << pix_fmt << " " << filter;
        }
      }
    }
  }
}

// ffmpeg converts to RGB and back at 8 bits on its way.
TEST(Lut3d, IsCloseToFfmpegOnYuv) {
  FRAMELANE_REQUIRE_FFMPEG("lut3d");
  const TemporaryFile file(CubeReference(17, twisted_look));
  FrameFormat format = make_format(pixel_format("yuv444p"), 65, 33);
  format.matrix = ColorMatrix::kBt709;
  HostFrame src(format);
  for (int y = 0; y < 33; ++y) {  // codes whose colours are inside 0..1, where both definitions are the same
    for (int x = 0; x < 65; ++x) {
      src.set_sample(0, x, y, 100 + x % 40);
      src.set_sample(1, x, y, 112 + y);
      src.set_sample(2, x, y, 144 - (x * 7 + y) % 32);
    }
  }
  const std::string lut = "lut3d=file=" + file.path();
  const std::string chain =
      "scale=in_color_matrix=bt709:in_range=tv:flags=accurate_rnd+full_chroma_int,format=gbrp," + lut +
      ",scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int,format=yuv444p";
  const HostFrame expected = run_ffmpeg(chain, {src}, "yuv444p", format).front();
  for (const Backend backend : backends()) {
    EXPECT_LE(max_difference(run_filter(lut, src, backend), expected), 2);
  }
}

TEST(Lut3d, WithABlackAndWhiteTableLeavesNoColourOutOfGamutEither) {
  const TemporaryFile file(CubeReference(17, [](const Vector3& c) {
    const double luma = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
    return Vector3{luma, luma, luma};
  }));
  FrameFormat format = make_format(pixel_format("yuv444p10"), 65, 33);
  format.matrix = ColorMatrix::kBt709;
  const HostFrame src(format, Content::kRandom, 8);
  for (const Backend backend : backends()) {
    const HostFrame out = run_lut(file, "trilinear", src, backend);
    for (const int chroma : {1, 2}) {
      EXPECT_EQ(out.plane(chroma), std::vector<int>(src.plane(chroma).size(), 512));
    }
    EXPECT_EQ(out.plane(0), src.plane(0));
  }
}

TEST(Lut3d, ReachesEverySampleOfLargeFrames) {
  const TemporaryFile identity(CubeReference(33, unchanged_look));
  for (const char* name : {"yuv420p", "yuva444p10"}) {
    const HostFrame src(make_format(pixel_format(name), 1919, 1081), Content::kRandom, 9);
    const HostFrame cpu = run_filter("lut3d=file=warm.cube", src, Backend::kCpu);
    EXPECT_GT(max_difference(cpu, src), 0);
    for (const Backend backend : backends()) {
      EXPECT_EQ(max_difference(run_lut(identity, "tetrahedral", src, backend), src), 0) << name;
      EXPECT_LE(max_difference(run_filter("lut3d=file=warm.cube", src, backend), cpu), 1) << name;
    }
  }
}

TEST(Lut3d, FindsTheProgramsOwnTables) {
  const HostFrame src(make_format(pixel_format("gbrp"), 65, 33), Content::kRandom, 10);
  const CubeReference warm(17, [](const Vector3& c) {  // the formula in the file's comment
    return Vector3{std::pow(c[0], 0.90), std::pow(c[1], 0.97), std::pow(c[2], 1.12)};
  });
  const CubeReference teal_orange(17, [](const Vector3& c) {
    const double luma = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
    const double t = 4 * luma * (1 - luma) * (2 * luma - 1);
    return Vector3{std::clamp(c[0] + 0.20 * t, 0.0, 1.0), std::clamp(c[1] + 0.03 * t, 0.0, 1.0),
                   std::clamp(c[2] - 0.20 * t, 0.0, 1.0)};
  });
  for (const Backend backend : backends()) {
    EXPECT_LE(worst_distance(run_filter("lut3d=warm.cube", src, backend), run_reference(src, {warm.op("tetrahedral")})),
              0.502);
    EXPECT_LE(worst_distance(run_filter("lut3d=teal_orange.cube", src, backend),
                             run_reference(src, {teal_orange.op("tetrahedral")})),
              0.502);
  }
}

TEST(CubeFile, ReadsWhatTheSpecificationAllows) {
  const std::string text =
      "\xEF\xBB\xBF# made by hand\r\n\r\nTITLE \"LUT_3D_SIZE 9\"\r\nLUT_3D_SIZE 2\r\nDOMAIN_MIN 0 -0.5 0.0\r\n"
      "DOMAIN_MAX 1.0 1.5 2e0\r\nSOME_OTHER_KEYWORD 3\r\n0 0 0\r\n\t1 0 0\r\n0 +1 0 \r\n# between\r\n1 1 0\r\n0 0 "
      "1e0\r\n"
      "1E0 0 1\r\n0 1 1\r\n-0.25 1.5 1e-60";
  const CubeLut lut = parse_cube(text, "hand.cube");
  EXPECT_EQ(lut.size, 2);
  EXPECT_EQ(lut.domain_min, (std::array<float, 3>{0, -0.5F, 0}));
  EXPECT_EQ(lut.domain_max, (std::array<float, 3>{1, 1.5F, 2}));
  ASSERT_EQ(lut.entries.size(), 8U);
  EXPECT_EQ(lut.entries[1].r, 1);
  EXPECT_EQ(lut.entries[2].g, 1);
  EXPECT_EQ(lut.entries[4].b, 1);
  EXPECT_EQ(lut.entries[7].r, -0.25F);
  EXPECT_EQ(lut.entries[7].g, 1.5F);
  EXPECT_EQ(lut.entries[7].b, 0);
  EXPECT_EQ(parse_cube("LUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 0 4\n" + text.substr(text.find("0 0 0\r")), "").domain_max,
            (std::array<float, 3>{4, 4, 4}));
}

/** The message of the error that `text` gives. */
std::string cube_error(const std::string& text) {
  try {
    static_cast<void>(parse_cube(text, "bad.cube"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CubeFile, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string text;
    std::string where;
    std::string what;
  };
  const std::string eight = "0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n";
  const std::vector<Case> cases{
      {"", "bad.cube", "no LUT_3D_SIZE"},
      {"TITLE \"x\"\n", "bad.cube", "no LUT_3D_SIZE"},
      {"LUT_3D_SIZE 2\n0 0 0\n", "bad.cube", "after 1 of 8 entries"},
      {"LUT_3D_SIZE 2\n" + eight + "1 1 1\n", "line 10", "more than the 8 entries"},
      {"LUT_3D_SIZE 1\n", "line 1", "from 2 to 256"},
      {"\nLUT_3D_SIZE 257\n", "line 2", "from 2 to 256"},
      {"LUT_3D_SIZE 2.5\n", "line 1", "from 2 to 256"},
      {"LUT_3D_SIZE\n", "line 1", "from 2 to 256"},
      {"LUT_3D_SIZE 2\nLUT_3D_SIZE 2\n", "line 2", "second LUT_3D_SIZE"},
      {"LUT_3D_SIZE 2\n0 0\n", "line 2", "3 numbers, not fewer"},
      {"LUT_3D_SIZE 2\n0 0 0 0\n", "line 2", "3 numbers, not more"},
      {"LUT_3D_SIZE 2\n0 0 zero\n", "line 2", "'zero' is not a number"},
      {"LUT_3D_SIZE 2\n0 nan 0\n", "line 2", "'nan' is not a number"},
      {"LUT_3D_SIZE 2\n0 inf 0\n", "line 2", "'inf' is not a number"},
      {"LUT_3D_SIZE 2\n0 1e60 0\n", "line 2", "'1e60' is not a number"},
      {"0 0 0\n", "line 1", "before LUT_3D_SIZE"},
      {"LUT_1D_SIZE 4\n", "line 1", "1D table"},
      {"LUT_IN_VIDEO_RANGE\n", "line 1", "not supported"},
      {"LUT_3D_SIZE 2\nDOMAIN_MIN 1 1 1\n" + eight, "bad.cube", "domain is empty"},
      {"hello, world\n", "line 1", "'hello,' is not a number"},
  };
  for (const Case& test : cases) {
    const std::string error = cube_error(test.text);
    EXPECT_NE(error.find("bad.cube"), std::string::npos) << error;
    EXPECT_NE(error.find(test.where), std::string::npos) << error;
    EXPECT_NE(error.find(test.what), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(Lut3d, RefusesWhatIsNoTable) {
  const HostFrame src(make_format(pixel_format("gbrp"), 4, 4), Content::kRandom, 11);
  const TemporaryFile empty("");
  for (const std::string& wrong :
       {std::string("lut3d"), std::string("lut3d=file=/nowhere/none.cube"), std::string("lut3d=file=/"),
        "lut3d=file=" + empty.path(), std::string("lut3d=file=warm.cube:interp=cubic")}) {
    EXPECT_THROW(run_filter(wrong, src, Backend::kCpu), UsageError) << wrong;
  }
}

}  // namespace
}  // namespace framelane::testing
