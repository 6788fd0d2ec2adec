// The fixture notices what it is there to notice.
#include "tests/plane_fixture.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <functional>

namespace framelane::testing {
namespace {

/** A filter that does what the test tells it to. */
class ScriptedFilter final : public CompiledFilter {
 public:
  explicit ScriptedFilter(std::function<void(const FilterArguments&)> act) : act_(std::move(act)) {}
  std::size_t scratch_bytes() const override { return 100; }
  std::size_t state_bytes() const override { return 50; }
  void run(const FilterArguments& arguments, CUstream_st* /*stream*/) const override { act_(arguments); }

 private:
  std::function<void(const FilterArguments&)> act_;
};

FrameFormat small_format() { return make_format(pixel_format("yuv420p"), 5, 3); }

HostFrame run_scripted(const std::function<void(const FilterArguments&)>& act) {
  const HostFrame frame(small_format(), Content::kRandom, 1);
  return run_compiled(ScriptedFilter(act), {frame}, small_format(), Backend::kCpu).front();
}

TEST(PlaneFixture, NoticesWritesOutsideTheRows) {
  EXPECT_NONFATAL_FAILURE(run_scripted([](const FilterArguments& a) { a.dst.planes[0].row<std::uint8_t>(0)[5] = 0; }),
                          "outside the rows");
  EXPECT_NONFATAL_FAILURE(run_scripted([](const FilterArguments& a) { a.dst.planes[2].row<std::uint8_t>(-1)[0] = 0; }),
                          "outside the rows");
  EXPECT_NONFATAL_FAILURE(run_scripted([](const FilterArguments& a) { a.dst.planes[2].row<std::uint8_t>(2)[0] = 0; }),
                          "outside the rows");
}

TEST(PlaneFixture, NoticesWritesToTheSource) {
  EXPECT_NONFATAL_FAILURE(run_scripted([](const FilterArguments& a) { a.src.planes[1].row<std::uint8_t>(1)[2] ^= 1; }),
                          "its source");
}

TEST(PlaneFixture, NoticesWritesBeyondScratchAndState) {
  EXPECT_NONFATAL_FAILURE(run_scripted([](const FilterArguments& a) { a.scratch[100] = std::byte{1}; }), "its scratch");
  EXPECT_NONFATAL_FAILURE(run_scripted([](const FilterArguments& a) { a.state[50] = std::byte{1}; }), "its state");
}

TEST(PlaneFixture, GivesZeroedStateAndAlignedMemory) {
  run_scripted([](const FilterArguments& a) {
    for (int i = 0; i < 50; ++i) EXPECT_EQ(a.state[i], std::byte{0});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.state) % 256, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.scratch) % 256, 0U);
  });
}

TEST(PlaneFixture, ShowsSamplesThatWereNotWritten) {
  const FrameFormat format = make_format(pixel_format("gray10"), 4, 4);
  const HostFrame frame(format, Content::kRandom, 1);
  const ScriptedFilter idle([](const FilterArguments&) {});
  const HostFrame output = run_compiled(idle, {frame}, format, Backend::kCpu).front();
  EXPECT_GT(output.sample(0, 2, 2), format.pixel.max_code());
}

TEST(PlaneFixture, MeasuresTheLargestDifference) {
  HostFrame a(make_format(pixel_format("gbrap12"), 7, 5), Content::kRandom, 3);
  HostFrame b = a;
  EXPECT_EQ(max_difference(a, b), 0);
  a.set_sample(3, 6, 4, 4000);
  b.set_sample(3, 6, 4, 17);
  EXPECT_EQ(max_difference(a, b), 3983);
  EXPECT_TRUE(b.padding_intact());
  EXPECT_NONFATAL_FAILURE(max_difference(HostFrame(small_format()), HostFrame(make_format(pixel_format("gray"), 5, 3))),
                          "compared with");
}

TEST(PlaneFixture, NamesEveryFormat) {
  for (const PixelFormat& pixel : all_pixel_formats()) {
    const std::string text = describe(FrameFormat{pixel, 1, 1});
    EXPECT_EQ(pixel_format(text.substr(text.find(' ') + 1)), pixel) << text;
  }
  EXPECT_EQ(pixel_format("yuva422p12le"), (PixelFormat{ColorModel::kYuv, 12, 1, 0, true}));
  EXPECT_THROW(pixel_format("nv12"), std::invalid_argument);
}

TEST(PlaneFixture, GivesFramesToFfmpegAndBack) {
  FRAMELANE_REQUIRE_FFMPEG("null");
  for (const char* name : {"gray", "yuv410p", "yuva444p16le", "gbrap12le", "yuv420p10le"}) {
    const FrameFormat format = make_format(pixel_format(name), 35, 11);
    const std::vector<HostFrame> frames{HostFrame(format, Content::kRandom, 1, 6),
                                        HostFrame(format, Content::kRandom, 2)};
    const std::vector<HostFrame> back = run_ffmpeg("null", frames, name, format);
    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(max_difference(back[0], frames[0]), 0) << name;
    EXPECT_EQ(max_difference(back[1], frames[1]), 0) << name;
  }
}

TEST(PlaneFixture, RefusesAnOracleThatConverts) {
  FRAMELANE_REQUIRE_FFMPEG("eq");
  const FrameFormat format = make_format(pixel_format("yuv420p10"), 16, 16);
  const std::vector<HostFrame> frames{HostFrame(format, Content::kRandom, 1)};
  EXPECT_THROW(run_ffmpeg("eq=contrast=1.1", frames, "yuv420p10le", format), std::runtime_error);  // eq is 8-bit only
  EXPECT_THROW(run_ffmpeg("scale=8:8", frames, "yuv420p10le", format), std::runtime_error);
  EXPECT_THROW(run_ffmpeg("nosuchfilter", frames, "yuv420p10le", format), std::runtime_error);
  EXPECT_FALSE(ffmpeg_has_filter("nosuchfilter"));
}

}  // namespace
}  // namespace framelane::testing
