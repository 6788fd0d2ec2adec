// What holds for every filter, whatever it does: each of the registry's filters, with each of its conformance settings,
// over formats and sizes. run_filter() itself fails a test where a filter writes to its source, outside its rows, or
// beyond its scratch or state.
#include <gtest/gtest.h>

#include <opencv2/core/utility.hpp>

#include "kernels/filter_chain.h"
#include "kernels/filter_registry.h"
#include "tests/plane_fixture.h"

namespace framelane::testing {
namespace {

/** DESIGN.md section 2: 1 step at 8 bits, 4 at 16. */
int cuda_tolerance(int depth_bits) { return depth_bits == 16 ? 4 : 1; }

std::string filter_text(const FilterDescriptor& filter, std::string_view settings) {
  std::string text(filter.name);
  if (!settings.empty()) text.append("=").append(settings);
  return text;
}

/** Three frames for a filter that looks back, one for any other. */
std::vector<HostFrame> frames_for(const FilterDescriptor& filter, const FrameFormat& format, Content content,
                                  int extra_pitch_bytes) {
  std::vector<HostFrame> frames;
  for (unsigned n = 0; n < (filter.kind == FilterKind::kTemporal ? 3U : 1U); ++n) {
    frames.emplace_back(format, content, 40 + n, extra_pitch_bytes);
  }
  return frames;
}

void expect_legal_codes(const HostFrame& frame) {
  const PixelFormat& pixel = frame.format().pixel;
  for (int plane = 0; plane < pixel.plane_count(); ++plane) {
    for (const int code : frame.plane(plane)) {
      if (code > pixel.max_code()) {
        ADD_FAILURE() << "plane " << plane << " has the code " << code << " (or was not written)";
        return;
      }
    }
  }
}

class Conformance : public ::testing::TestWithParam<const FilterDescriptor*> {
 protected:
  const FilterDescriptor& filter() const { return *GetParam(); }

  template <typename Check>
  void for_each_setting(const Check& check) const {
    for (const std::string_view settings : filter().conformance_settings) check(filter_text(filter(), settings));
  }

  void expect_conformance(const std::string& text, const FrameFormat& format, Content content,
                          int extra_pitch_bytes) const {
    SCOPED_TRACE(text + " on " + describe(format));
    const std::vector<HostFrame> frames = frames_for(filter(), format, content, extra_pitch_bytes);
    const std::vector<HostFrame> cpu = run_filter(text, frames, Backend::kCpu);
    ASSERT_EQ(cpu.size(), frames.size());
    for (const HostFrame& frame : cpu) expect_legal_codes(frame);
    for (const Backend backend : backends()) {
      if (backend == Backend::kCpu) continue;
      const std::vector<HostFrame> cuda = run_filter(text, frames, backend);
      for (std::size_t n = 0; n < cpu.size(); ++n) {
        EXPECT_LE(max_difference(cpu[n], cuda[n]), cuda_tolerance(format.pixel.depth_bits)) << "frame " << n;
      }
    }
  }
};

TEST_P(Conformance, HoldsInEveryPixelFormat) {
  for_each_setting([&](const std::string& text) {
    for (const PixelFormat& pixel : all_pixel_formats()) {
      expect_conformance(text, make_format(pixel, 65, 33), Content::kRandom, 0);
      expect_conformance(text, make_format(pixel, 3, 5), Content::kExtremes, 2);
    }
  });
}

TEST_P(Conformance, HoldsAtEverySize) {
  for_each_setting([&](const std::string& text) {
    for (const char* pixel : {"gray8", "yuv420p", "yuv410p10", "gbrap16"}) {
      for (const Size size : test_sizes(false)) {
        expect_conformance(text, make_format(pixel_format(pixel), size.width, size.height), Content::kExtremes, 0);
        expect_conformance(text, make_format(pixel_format(pixel), size.width, size.height), Content::kGradient, 6);
      }
    }
  });
}

TEST_P(Conformance, HoldsOnLargeAndOnTallFrames) {
  const std::string text = filter_text(filter(), filter().conformance_settings.front());
  expect_conformance(text, make_format(pixel_format("yuv420p"), 1919, 1081), Content::kRandom, 2);
  // More rows than a CUDA grid has blocks in y.
  expect_conformance(text, make_format(pixel_format("gray8"), 16, 65552), Content::kRandom, 0);
  if (backends().size() > 1) {
    for_each_setting([&](const std::string& setting) {
      expect_conformance(setting, make_format(pixel_format("yuv420p10"), 1919, 1081), Content::kExtremes, 0);
      expect_conformance(setting, make_format(pixel_format("yuv420p"), 4096, 2160), Content::kRandom, 0);
    });
  }
}

TEST_P(Conformance, CpuResultDoesNotDependOnTheNumberOfThreads) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "OpenCV's threads are TBB's, which is not instrumented";
#endif
  const int threads = cv::getNumThreads();
  for_each_setting([&](const std::string& text) {
    for (const char* pixel : {"yuv420p", "gbrp16"}) {
      const std::vector<HostFrame> frames =
          frames_for(filter(), make_format(pixel_format(pixel), 150, 131), Content::kRandom, 0);
      cv::setNumThreads(1);
      const std::vector<HostFrame> expected = run_filter(text, frames, Backend::kCpu);
      for (const int count : {2, 3, 7}) {
        cv::setNumThreads(count);
        const std::vector<HostFrame> actual = run_filter(text, frames, Backend::kCpu);
        for (std::size_t n = 0; n < expected.size(); ++n) {
          EXPECT_EQ(max_difference(actual[n], expected[n]), 0) << text << ", " << pixel << ", " << count << " threads";
        }
      }
    }
  });
  cv::setNumThreads(threads);
}

TEST_P(Conformance, OutputFormatFitsItsKind) {
  for_each_setting([&](const std::string& text) {
    const FilterUse use = parse_filter_chain(text).front();
    for (const PixelFormat& pixel : all_pixel_formats()) {
      const FrameFormat input = make_format(pixel, 65, 33);
      const FrameFormat output = use.descriptor->create(use.values)->output_format(input);
      EXPECT_GE(output.width, 1);
      EXPECT_GE(output.height, 1);
      if (filter().kind == FilterKind::kSpatial || filter().kind == FilterKind::kTemporal) {
        EXPECT_EQ(output, input) << text << " on " << describe(input);
      }
    }
  });
}

TEST_P(Conformance, OnlyTemporalFiltersKeepState) {
  if (filter().kind == FilterKind::kColor) return;  // these have no pass of their own
  const FilterUse use = parse_filter_chain(filter_text(filter(), filter().conformance_settings.front())).front();
  for (const Backend backend : backends()) {
    const auto compiled =
        use.descriptor->create(use.values)->compile(make_format(pixel_format("yuv420p"), 64, 48), backend);
    const bool temporal = filter().kind == FilterKind::kTemporal;
    EXPECT_EQ(compiled->has_ordered_pass(), temporal);
    EXPECT_EQ(compiled->state_bytes() > 0, temporal);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryFilter, Conformance, ::testing::ValuesIn(all_filters().begin(), all_filters().end()),
                         [](const ::testing::TestParamInfo<const FilterDescriptor*>& filter) {
                           return std::string(filter.param->name);
                         });

}  // namespace
}  // namespace framelane::testing
