// Colour filters fused: one rounding, chroma at chroma resolution, alpha.
#include <gtest/gtest.h>

#include <thread>

#include "kernels/color/color_program.h"
#include "kernels/filter_chain.h"
#include "tests/color_reference.h"

namespace framelane::testing {
namespace {

/** The colour filters of `chain` as one pass. */
std::unique_ptr<CompiledFilter> compile_fused(const std::string& chain, const FrameFormat& format, Backend backend) {
  ColorProgram program;
  for (const FilterUse& use : parse_filter_chain(chain)) {
    use.descriptor->create(use.values)->append_to(program, format);
  }
  return compile_color_program(program, format, backend);
}

HostFrame run_fused(const std::string& chain, const HostFrame& src, Backend backend) {
  return run_compiled(*compile_fused(chain, src.format(), backend), {src}, src.format(), backend).front();
}

const EqReference kEq{.contrast = 0.8, .brightness = 0.05, .saturation = 1.2, .gamma = 1.3};
const std::string kEqText = "eq=0.8:0.05:1.2:1.3";

TEST(ColorProgram, IsTheFloat64CompositionRoundedOnce) {
  const CubeReference cube(17, twisted_look);
  const TemporaryFile file(cube);
  const std::string lut = "lut3d=file=" + file.path();
  struct Case {
    std::string chain;
    std::vector<ReferenceOp> ops;
  };
  const ReferenceOp look = cube.op("tetrahedral");
  const std::vector<Case> cases{
      {kEqText + ",negate", {kEq.op(), negate_reference()}},
      {kEqText + "," + kEqText + ",negate," + kEqText, {kEq.op(), kEq.op(), negate_reference(), kEq.op()}},
      {kEqText + ",negate," + lut, {kEq.op(), negate_reference(), look}},
      {lut + "," + kEqText + ",negate", {look, kEq.op(), negate_reference()}},
      {"negate," + lut + ",negate," + lut, {negate_reference(), look, negate_reference(), look}},
      {lut + "," + lut, {look, look}},
  };
  for (const PixelFormat& pixel : all_pixel_formats()) {
    for (const Size size : {Size{1, 1}, {3, 5}, {21, 9}}) {
      const HostFrame src(make_format(pixel, size.width, size.height), Content::kRandom, 1, 2);
      for (const Case& test : cases) {
        const ReferencePlanes expected = run_reference(src, test.ops);
        for (const Backend backend : backends()) {
          const HostFrame out = run_fused(test.chain, src, backend);
          EXPECT_LE(worst_distance(out, expected), rounding_bound(src.format(), 20))
              << describe(src.format()) << " " << test.chain;
          EXPECT_TRUE(out.padding_intact());
        }
      }
    }
  }
}

// Eight bits between the two would lose most codes.
TEST(ColorProgram, KeepsPrecisionBetweenFilters) {
  const HostFrame src(make_format(pixel_format("yuv420p"), 65, 33), Content::kRandom, 2);
  for (const Backend backend : backends()) {
    const HostFrame out = run_fused("eq=contrast=0.01,eq=contrast=100", src, backend);
    EXPECT_EQ(max_difference(out, src), 0);
  }
}

TEST(ColorProgram, WithoutOperationsCopies) {
  for (const PixelFormat& pixel : all_pixel_formats()) {
    const HostFrame src(make_format(pixel, 65, 33), Content::kRandom, 3, 2);
    for (const Backend backend : backends()) {
      EXPECT_EQ(max_difference(run_fused("", src, backend), src), 0) << describe(src.format());
    }
  }
}

// Raw input may hold anything in its 16-bit words.
TEST(ColorProgram, TakesCodesOverTheLargestAsTheLargest) {
  const FrameFormat format = make_format(pixel_format("yuv420p10"), 33, 17);
  HostFrame wild(format);
  HostFrame legal(format);
  for (int plane = 0; plane < 3; ++plane) {
    for (int y = 0; y < format.plane_height(plane); ++y) {
      for (int x = 0; x < format.plane_width(plane); ++x) {
        const int code = (x * 7919 + y * 104729 + plane) % 65536;
        wild.set_sample(plane, x, y, code);
        legal.set_sample(plane, x, y, std::min(code, 1023));
      }
    }
  }
  for (const char* chain : {"negate", "lut3d=file=warm.cube", "eq=gamma=2,lut3d=file=warm.cube"}) {
    for (const Backend backend : backends()) {
      EXPECT_EQ(max_difference(run_fused(chain, wild, backend), run_fused(chain, legal, backend)), 0) << chain;
    }
  }
}

TEST(ColorProgram, NegatesAlphaBesideAnRgbFilter) {
  const TemporaryFile identity(CubeReference(17, unchanged_look));
  const std::string lut = "lut3d=file=" + identity.path();
  for (const char* name : {"yuva420p", "yuva444p10", "gbrap16"}) {
    const HostFrame src(make_format(pixel_format(name), 33, 17), Content::kRandom, 4);
    for (const Backend backend : backends()) {
      const HostFrame out = run_fused("negate=components=a," + lut, src, backend);
      EXPECT_EQ(max_difference(out, run_filter("negate=components=a", src, Backend::kCpu)), 0) << name;
      EXPECT_EQ(max_difference(run_fused(lut, src, backend), src), 0) << name;
    }
  }
}

TEST(ColorProgram, HandlesTallAndWideFrames) {
  const std::string chain = "lut3d=file=teal_orange.cube,negate";
  for (const Size size : {Size{16, 65552}, {65552, 2}}) {
    const HostFrame src(make_format(pixel_format("yuv420p"), size.width, size.height), Content::kRandom, 5);
    const HostFrame cpu = run_fused(chain, src, Backend::kCpu);
    EXPECT_EQ(max_difference(run_fused("negate,negate", src, Backend::kCpu), src), 0);
    for (const Backend backend : backends()) {
      EXPECT_LE(max_difference(run_fused(chain, src, backend), cpu), 1);
      EXPECT_EQ(max_difference(run_fused(kEqText, src, backend), run_fused(kEqText, src, Backend::kCpu)), 0);
    }
  }
}

TEST(ColorProgram, RunsForSeveralFramesAtOnce) {
  const FrameFormat format = make_format(pixel_format("yuv420p10"), 65, 33);
  const auto filter = compile_fused(kEqText + ",lut3d=file=warm.cube", format, Backend::kCpu);
  constexpr int kFrames = 8;
  std::vector<HostFrame> sources;
  std::vector<HostFrame> expected;
  for (int i = 0; i < kFrames; ++i) {
    sources.emplace_back(format, Content::kRandom, 10 + i);
    expected.push_back(run_compiled(*filter, {sources.back()}, format, Backend::kCpu).front());
  }
  std::vector<HostFrame> results(kFrames, HostFrame(format));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kFrames; ++i) {
      threads.emplace_back([&, i] { filter->run({.dst = results[i].view(), .src = sources[i].view()}, nullptr); });
    }
  }
  for (int i = 0; i < kFrames; ++i) EXPECT_EQ(max_difference(results[i], expected[i]), 0) << i;
}

}  // namespace
}  // namespace framelane::testing
