// `bench --filters`: what is measured, on the CPU with tiny frames, and how it is told; NPP's functions against the
// filters that they are compared with, on a GPU.
#include "app/bench_filters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "app/npp.h"
#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "kernels/filter_registry.h"
#include "tests/plane_fixture.h"

namespace framelane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<FilterBenchRow> bench_on_cpu(std::vector<std::string> chains, const char* pixel_format = "yuv420p",
                                         const std::function<bool()>& stop = {}) {
  FilterBenchOptions options;
  options.device = create_cpu_device();
  options.formats = {testing::make_format(testing::pixel_format(pixel_format), 64, 48)};
  options.chains = std::move(chains);
  options.repetitions = 2;
  return bench_filters(options, stop);
}

std::vector<std::string> filters_of(const std::vector<FilterBenchRow>& rows) {
  std::vector<std::string> filters;
  for (const FilterBenchRow& row : rows) filters.push_back(row.filter);
  return filters;
}

/** Bytes that a row's rate and time stand for. */
double bytes_moved(const FilterBenchRow& row) { return row.gb_per_s * 1000 * row.us; }

TEST(BenchFilters, EachFilterOfAChainIsMeasuredAlone) {
  EXPECT_THAT(filters_of(bench_on_cpu({"hflip,gblur=sigma=1", "negate"})),
              ElementsAre("hflip", "gblur=sigma=1", "negate"));
}

TEST(BenchFilters, ARowNamesItsFrameAndHoldsTimesInOrder) {
  const FilterBenchRow row = bench_on_cpu({"gblur=sigma=1"}).at(0);
  EXPECT_EQ(row.size, "64x48");
  EXPECT_EQ(row.pixel_format, "yuv420p");
  EXPECT_GT(row.us_min, 0);
  EXPECT_LE(row.us_min, row.us);
  EXPECT_LE(row.us, row.us_max);
  EXPECT_GT(row.copy_us, 0);
  EXPECT_DOUBLE_EQ(row.copies, row.us / row.copy_us);
  EXPECT_FALSE(row.npp_us) << "NPP is no library for the CPU";
  EXPECT_EQ(row.npp_function, "");
}

TEST(BenchFilters, TheMedianOfTwoRoundsIsTheirMean) {
  const FilterBenchRow row = bench_on_cpu({"gblur=sigma=1"}).at(0);
  EXPECT_DOUBLE_EQ(row.us, (row.us_min + row.us_max) / 2);
}

TEST(BenchFilters, ABlurReadsAndWritesTheFrameOnce) {
  EXPECT_NEAR(bytes_moved(bench_on_cpu({"gblur=sigma=1"}).at(0)), 2 * (64 * 48 + 2 * 32 * 24), 0.01);
}

TEST(BenchFilters, SamplesOfTenBitsAreTwoBytes) {
  EXPECT_NEAR(bytes_moved(bench_on_cpu({"hflip"}, "yuv422p10").at(0)), 2 * 2 * (64 * 48 + 2 * 32 * 48), 0.01);
}

TEST(BenchFilters, CroppingReadsWhatItKeeps) {
  EXPECT_NEAR(bytes_moved(bench_on_cpu({"crop=32:24"}).at(0)), 2 * (32 * 24 + 2 * 16 * 12), 0.01);
}

TEST(BenchFilters, ShrinkingReadsTheWholeFrame) {
  EXPECT_NEAR(bytes_moved(bench_on_cpu({"scale=32:24"}).at(0)), 64 * 48 + 2 * 32 * 24 + 32 * 24 + 2 * 16 * 12, 0.01);
}

TEST(BenchFilters, WithoutChainsEveryFilterIsMeasured) {
  std::vector<std::string> measured;
  for (const std::string& filter : filters_of(bench_on_cpu({}))) measured.push_back(filter.substr(0, filter.find('=')));
  std::vector<std::string> registered;
  for (const FilterDescriptor* filter : all_filters()) registered.emplace_back(filter->name);
  EXPECT_EQ(measured, registered);
}

TEST(BenchFilters, StoppingGivesTheRowsThatAreDone) {
  int rounds = 0;
  const auto in_the_second_filter = [&] { return ++rounds > 2; };
  EXPECT_THAT(filters_of(bench_on_cpu({"hflip", "vflip", "negate"}, "yuv420p", in_the_second_filter)),
              ElementsAre("hflip"));
}

TEST(BenchFilters, AFilterThatDoesNotFitTheFrameIsAUsageError) {
  EXPECT_THROW(bench_on_cpu({"crop=100:100"}), UsageError);
  EXPECT_THROW(bench_on_cpu({"gblurr"}), UsageError);
}

std::vector<FilterBenchRow> two_rows() {
  return {{.filter = "gblur=sigma=2",
           .size = "3840x2160",
           .pixel_format = "yuv420p",
           .us = 34,
           .us_min = 33.5,
           .us_max = 35.25,
           .gb_per_s = 732,
           .copy_us = 10,
           .copies = 3.4,
           .npp_us = 85,
           .npp_function = "nppiSomething"},
          {.filter = "tmix",
           .size = "1920x1080",
           .pixel_format = "yuv420p10",
           .us = 8,
           .us_min = 7,
           .us_max = 9,
           .gb_per_s = 1555,
           .copy_us = 4,
           .copies = 2,
           .npp_us = {},
           .npp_function = ""}};
}

TEST(BenchFilters, JsonHasARowAFilterWithNullWhereNppHasNone) {
  EXPECT_EQ(filter_bench_json(two_rows()), nlohmann::ordered_json::parse(R"([
    {"filter": "gblur=sigma=2", "size": "3840x2160", "pixel_format": "yuv420p", "us": 34.0, "us_min": 33.5,
     "us_max": 35.25, "gb_per_s": 732.0, "copy_us": 10.0, "copies": 3.4, "npp_us": 85.0,
     "npp_function": "nppiSomething"},
    {"filter": "tmix", "size": "1920x1080", "pixel_format": "yuv420p10", "us": 8.0, "us_min": 7.0, "us_max": 9.0,
     "gb_per_s": 1555.0, "copy_us": 4.0, "copies": 2.0, "npp_us": null, "npp_function": null}])"));
}

/** Words of each line. */
std::vector<std::vector<std::string>> words(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream rest(line);
    lines.emplace_back(std::istream_iterator<std::string>(rest), std::istream_iterator<std::string>());
  }
  return lines;
}

TEST(BenchFilters, TheTableHasALineAFilterWithNppAndItsRatioWhereThereIsOne) {
  const auto lines = words(filter_bench_text(two_rows()));
  ASSERT_EQ(lines.size(), 4U);  // head, two filters, what the columns mean
  EXPECT_THAT(lines[1], ElementsAre("gblur=sigma=2", "3840x2160", "yuv420p", "34.0", "33.5", "35.2", "732.0", "10.0",
                                    "3.40", "85.0", "2.50", "nppiSomething"));
  EXPECT_THAT(lines[2], ElementsAre("tmix", "1920x1080", "yuv420p10", "8.0", "7.0", "9.0", "1555.0", "4.0", "2.00"));
}

/** What NPP has for a filter on frames of `format`; only where there is a GPU. */
std::optional<NppCounterpart> npp_counterpart(const std::string& text, const FrameFormat& format) {
  if constexpr (kHasCuda) {
    const FilterUse use = parse_filter_chain(text).front();
    const FilterChain chain({use}, format, Backend::kCuda);
    return find_npp_counterpart(use, format, chain.output_format());
  }
  return std::nullopt;
}

FrameFormat npp_frame() { return testing::make_format(testing::pixel_format("yuv420p"), 192, 108); }

/** Empty where NPP is there to be compared with. */
std::string why_no_npp() {
  if (const std::string reason = cuda_unavailable_reason(); !reason.empty()) return reason;
  return npp_counterpart("hflip", npp_frame()) ? "" : "no NPP of CUDA 12 or 13 on this machine";
}

/** The largest difference of samples further than `margin` from the frame's edge; NPP's strengths are not cut at 255.
 */
int largest_difference_inside(const testing::HostFrame& ours, const testing::HostFrame& theirs, int margin) {
  int largest = 0;
  for (int plane = 0; plane < ours.format().pixel.plane_count(); ++plane) {
    for (int y = margin; y < ours.format().plane_height(plane) - margin; ++y) {
      for (int x = margin; x < ours.format().plane_width(plane) - margin; ++x) {
        const int difference = ours.sample(plane, x, y) - std::min(theirs.sample(plane, x, y), 255);
        largest = std::max(largest, std::abs(difference));
      }
    }
  }
  return largest;
}

TEST(Npp, GivesInsideTheFrameWhatTheFilterGives) {
  if (const std::string reason = why_no_npp(); !reason.empty()) GTEST_SKIP() << reason;
  struct SharedFilter {
    const char* text;
    int tolerance;  ///< on noise
  };
  // 0 where samples move, 1 where NPP cuts off a fraction that we round. unsharp: weights of a Gaussian and of a
  // binomial of the same variance differ by up to 0.03. bicubic: NPP's parameter is another than ours, -0.6.
  for (const SharedFilter& filter :
       {SharedFilter{"hflip", 0}, SharedFilter{"vflip", 0}, SharedFilter{"transpose=dir=cclock_flip", 0},
        SharedFilter{"negate", 0}, SharedFilter{"gblur=sigma=2", 1}, SharedFilter{"gblur=sigma=10", 1},
        SharedFilter{"sobel", 1}, SharedFilter{"unsharp", 8}, SharedFilter{"scale=w=iw*2:h=ih*2:flags=lanczos", 1},
        SharedFilter{"scale=w=iw*2:h=ih*2:flags=bilinear", 1}, SharedFilter{"scale=w=iw/2:h=ih/2:flags=area", 1},
        SharedFilter{"scale=w=iw*2:h=ih*2", 30}}) {
    SCOPED_TRACE(filter.text);
    const testing::HostFrame frame(npp_frame(), testing::Content::kRandom, 3);
    const testing::HostFrame ours = testing::run_filter(filter.text, frame, Backend::kCuda);
    const auto npp = npp_counterpart(filter.text, npp_frame());
    ASSERT_TRUE(npp);
    const auto theirs = testing::run_compiled(*npp->compiled, {frame}, npp->output, Backend::kCuda);
    const FilterUse use = parse_filter_chain(filter.text).front();
    const int enlarged = std::max(1, ours.format().width / npp_frame().width);
    const int margin = 2 + use.descriptor->spatial_radius(use.values) * enlarged;
    EXPECT_LE(largest_difference_inside(ours, theirs.front(), margin), filter.tolerance) << npp->function;
  }
}

TEST(Npp, HasNothingForWhatItDoesDifferently) {
  if (const std::string reason = why_no_npp(); !reason.empty()) GTEST_SKIP() << reason;
  for (const char* text : {"tmix", "gblur=sigma=0.5", "gblur=sigma=2:sigmaV=3", "gblur=sigma=2:planes=1",
                           "sobel=scale=2", "negate=components=y", "transpose=dir=clock", "unsharp=la=-1",
                           "scale=w=iw/2:h=ih/2", "scale=w=iw*2:h=ih*2:out_range=full"}) {
    EXPECT_FALSE(npp_counterpart(text, npp_frame())) << text;
  }
  EXPECT_FALSE(npp_counterpart("hflip", testing::make_format(testing::pixel_format("yuv420p10"), 64, 48)));
}

}  // namespace
}  // namespace framelane
