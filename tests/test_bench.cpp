// `framelane bench`: its options, the textbook's workload on a simulated GPU, ceilings against engines of known speed,
// and what is told of them. Figures are worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "app/bench_command.h"
#include "app/bench_report.h"
#include "app/bench_runs.h"
#include "app/bench_shape.h"
#include "app/options.h"
#include "kernels/errors.h"
#include "pipeline/device_simulated.h"
#include "tests/plane_fixture.h"
#include "tests/stamped_clip.h"

namespace framelane {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;
using Words = std::vector<std::string>;
using std::chrono::microseconds;
using std::chrono::milliseconds;

BenchOptions parse(Words words) {
  words.insert(words.begin(), "bench");
  return std::get<BenchOptions>(parse_command_line(words).command);
}

std::string usage_error(const Words& words) {
  try {
    parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no UsageError";
  return "";
}

std::vector<std::string> names(const std::vector<FrameFormat>& formats) {
  std::vector<std::string> all;
  for (const FrameFormat& format : formats) all.push_back(describe(format));
  return all;
}

TEST(BenchOptions, WithoutAnyAskForALightChainFrom720pTo8k) {
  const BenchOptions options = parse({});
  EXPECT_THAT(names(options.formats),
              ElementsAre("1280x720 yuv420p", "1920x1080 yuv420p", "3840x2160 yuv420p", "7680x4320 yuv420p"));
  EXPECT_EQ(options.chain, "eq=contrast=1.1");
  EXPECT_THAT(options.modes, ElementsAre(Mode::kSync, Mode::kAsync, Mode::kMultistream));
  EXPECT_THAT(options.slots, ElementsAre(0));
  EXPECT_EQ(options.rounds, 5);
  EXPECT_FALSE(options.shape);
  EXPECT_FALSE(options.filters);
}

TEST(BenchOptions, EverySizeComesInEveryFormat) {
  EXPECT_THAT(
      names(parse({"--size", "640x360,1080p", "--size", "hd720", "--format", "gray", "--format", "gbrp10"}).formats),
      ElementsAre("640x360 gray", "640x360 gbrp10", "1920x1080 gray", "1920x1080 gbrp10", "1280x720 gray",
                  "1280x720 gbrp10"));
}

TEST(BenchOptions, NamesOfFfmpegMeanWhatTheyMeanThere) {
  EXPECT_THAT(names(parse({"--size", "4k,uhd2160,uhd4320"}).formats),
              ElementsAre("4096x2160 yuv420p", "3840x2160 yuv420p", "7680x4320 yuv420p"));
}

TEST(BenchOptions, RgbIsFullRangeAndSizesHaveTheirUsualMatrix) {
  const std::vector<FrameFormat> formats = parse({"--size", "360p,1080p", "--format", "yuv420p,gbrp"}).formats;
  EXPECT_EQ(formats[0].range, ColorRange::kLimited);
  EXPECT_EQ(formats[1].range, ColorRange::kFull);
  EXPECT_EQ(formats[0].matrix, ColorMatrix::kBt601);
  EXPECT_EQ(formats[2].matrix, ColorMatrix::kBt709);
}

TEST(BenchOptions, ReachTheirPlace) {
  const BenchOptions options =
      parse({"--vf", "hflip", "--vf", "vflip", "--device", "cpu", "--modes", "async,sync", "--slots", "2,9",
             "--cuda-graphs", "off", "--rounds", "7", "--frames", "30", "--json", "-"});
  EXPECT_EQ(options.chain, "hflip,vflip");
  EXPECT_EQ(options.device, "cpu");
  EXPECT_THAT(options.modes, ElementsAre(Mode::kAsync, Mode::kSync));
  EXPECT_THAT(options.slots, ElementsAre(2, 9));
  EXPECT_EQ(options.cuda_graphs, CudaGraphs::kOff);
  EXPECT_EQ(options.rounds, 7);
  EXPECT_EQ(options.frames, 30);
  EXPECT_EQ(options.json, "-");
}

TEST(BenchOptions, AShapeIsFourTimesInMilliseconds) {
  const BenchShape shape = parse({"--shape", "8,3,12.5,0.25"}).shape.value();
  EXPECT_EQ(shape.preprocess, milliseconds(8));
  EXPECT_EQ(shape.h2d, milliseconds(3));
  EXPECT_EQ(shape.kernels, microseconds(12'500));
  EXPECT_EQ(shape.d2h, microseconds(250));
}

TEST(BenchOptions, FiltersAloneChooseTheirOwnFormatsUnlessTheUserDoes) {
  EXPECT_TRUE(parse({"--filters"}).formats.empty());
  EXPECT_EQ(parse({"--filters"}).chain, "");
  EXPECT_THAT(names(parse({"--filters", "--size", "64x48"}).formats), ElementsAre("64x48 yuv420p"));
}

TEST(BenchOptions, WrongValuesNameTheOptionAndWhatWouldDo) {
  EXPECT_THAT(usage_error({"--size", "huge"}), StartsWith("--size: 'huge' is not a size: write 1280x720"));
  for (const char* common : {"720p", "1080p", "2160p", "4320p", "4k is 4096x2160"}) {
    EXPECT_THAT(usage_error({"--size", "8k"}), HasSubstr(common));
  }
  EXPECT_THAT(usage_error({"--size", "20000x16"}), HasSubstr("at most 16384"));
  EXPECT_THAT(usage_error({"--format", "yuv42p"}), StartsWith("--format: unknown pixel format 'yuv42p'"));
  EXPECT_THAT(usage_error({"--format", "yuv42p"}), HasSubstr("did you mean yuv420p?"));
  EXPECT_THAT(usage_error({"--format", "gbrp10l"}), HasSubstr("did you mean gbrp10le?"));
  EXPECT_THAT(usage_error({"--format", "nv12"}), HasSubstr("frames of it become yuv420p"));
  EXPECT_THAT(usage_error({"--shape", "8,3,12"}), HasSubstr("--shape: '8,3,12' is not four times"));
  EXPECT_THAT(usage_error({"--shape", "8,3,12,x"}), HasSubstr("--shape: 'x' is not a number"));
  EXPECT_THAT(usage_error({"--shape", "8,0,12,3"}), HasSubstr("0.1 ms at least"));
  EXPECT_THAT(usage_error({"--slots", "2,65"}), HasSubstr("--slots: 65 is out of range [1 - 64]"));
  EXPECT_THAT(usage_error({"--slots", "2,"}), HasSubstr("--slots: '' is not a number"));
  EXPECT_THAT(usage_error({"--modes", "async,fast"}), HasSubstr("--modes: unknown mode 'fast'"));
  EXPECT_THAT(usage_error({"--rounds", "0"}), HasSubstr("--rounds: 0 is out of range"));
}

TEST(BenchOptions, WhatMeansNothingBesideAnotherIsRefused) {
  EXPECT_THAT(usage_error({"--shape", "8,3,12,3", "--size", "720p"}), StartsWith("--size: does not go with --shape"));
  EXPECT_THAT(usage_error({"--shape", "8,3,12,3", "--vf", "hflip"}), StartsWith("--vf: does not go with --shape"));
  EXPECT_THAT(usage_error({"--shape", "8,3,12,3", "--filters"}), StartsWith("--filters: does not go with --shape"));
  EXPECT_THAT(usage_error({"--filters", "--modes", "sync"}), StartsWith("--modes: does not go with --filters"));
  EXPECT_THAT(usage_error({"--filters", "--slots", "3"}), StartsWith("--slots: does not go with --filters"));
}

TEST(BenchShape, TheTextbooksFiguresAre26And18And15And12) {
  const ShapeFigures figures = shape_figures({milliseconds(8), milliseconds(3), milliseconds(12), milliseconds(3)});
  EXPECT_DOUBLE_EQ(figures.serial_ms, 26);
  EXPECT_DOUBLE_EQ(figures.one_stream_ms, 18);
  EXPECT_DOUBLE_EQ(figures.textbook_overlap_ms, 15);
  EXPECT_DOUBLE_EQ(figures.limit_ms, 12);
}

TEST(BenchShape, TheSlowestStageMayBeTheCpusOrACopy) {
  const ShapeFigures cpu = shape_figures({milliseconds(40), milliseconds(3), milliseconds(12), milliseconds(3)});
  EXPECT_DOUBLE_EQ(cpu.serial_ms, 58);
  EXPECT_DOUBLE_EQ(cpu.one_stream_ms, 40);
  EXPECT_DOUBLE_EQ(cpu.textbook_overlap_ms, 40);
  EXPECT_DOUBLE_EQ(cpu.limit_ms, 40);
  const ShapeFigures copy = shape_figures({milliseconds(1), milliseconds(3), milliseconds(12), milliseconds(30)});
  EXPECT_DOUBLE_EQ(copy.one_stream_ms, 45);
  EXPECT_DOUBLE_EQ(copy.textbook_overlap_ms, 30);
  EXPECT_DOUBLE_EQ(copy.limit_ms, 30);
}

/** Runs `bench` on the CPU; its JSON. */
Json run_on_cpu(Words words) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.file("bench.json");
  words.insert(words.end(), {"--device", "cpu", "--json", file});
  Console console(ConsoleOptions{});
  ::testing::internal::CaptureStdout();
  const int status = run_bench(parse(words), console);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(status, 0);
  EXPECT_THAT(text, HasSubstr("multistream"));
  std::ifstream stream(file);
  return Json::parse(stream);
}

/** Alone on the machine, as ctest runs it: its times are what is tested. In sync mode a late wake-up lengthens the
 * frame, so there the round counts that other programs disturbed least. */
TEST(BenchShapeTimed, TheTextbooksWorkloadTakesWhatItsStagesAllow) {
  const Json json = run_on_cpu({"--shape", "8,3,12,3", "--frames", "20", "--rounds", "3"});
  const Json& modes = json["modes"];
  EXPECT_THAT(modes["sync"]["frame_ms_min"].get<double>(), DoubleNear(26, 0.05 * 26));
  EXPECT_THAT(modes["async"]["frame_ms"].get<double>(), DoubleNear(18, 0.05 * 18));
  EXPECT_THAT(modes["multistream"]["frame_ms"].get<double>(), DoubleNear(12, 0.1 * 12));
  EXPECT_GE(modes["multistream"]["busy"]["compute"].get<double>(), 0.9);
  EXPECT_GE(modes["sync"]["stages"]["preprocess_ms"].get<double>(), 8);
  EXPECT_THAT(modes["multistream"]["stages"]["h2d_ms"].get<double>(), DoubleNear(3, 0.15));
  EXPECT_THAT(modes["multistream"]["stages"]["d2h_ms"].get<double>(), DoubleNear(3, 0.15));
  EXPECT_EQ(json["bound_by"], "kernels");
}

TEST(BenchShape, JsonHoldsTheShapeWhatItAllowsAndEachModesShareOfIt) {
  const Json json = run_on_cpu({"--shape", "1,0.5,2,0.5", "--frames", "10", "--rounds", "2"});
  EXPECT_EQ(json["shape"], Json::parse(R"({"preprocess_ms": 1.0, "h2d_ms": 0.5, "kernels_ms": 2.0, "d2h_ms": 0.5,
    "serial_ms": 4.0, "one_stream_ms": 3.0, "textbook_overlap_ms": 2.5, "limit_ms": 2.0, "simulated": true,
    "h2d_bytes": 55296, "d2h_bytes": 55296, "measured_h2d_ms": null, "measured_d2h_ms": null})"));
  for (const auto& [mode, expected] : {std::pair{"sync", 4.0}, {"async", 3.0}, {"multistream", 2.0}}) {
    const Json& figures = json["modes"][mode];
    EXPECT_EQ(figures["expected_ms"], expected);
    EXPECT_EQ(figures["frames"], 10);
    EXPECT_DOUBLE_EQ(figures["ratio"].get<double>(), 2.0 / figures["frame_ms"].get<double>());
  }
}

/** Not the CPU: it has memory of its own, so frames get their size by measuring it, as on a GPU. */
std::shared_ptr<Device> gpu_of_half_and_one_gb_a_second() {
  return create_simulated_device({.h2d = 0.5e9, .d2h = 1e9, .pageable_h2d = 0.5e9, .pageable_d2h = 1e9});
}

TEST(BenchShapeTimed, FramesAreAsLargeAsCopiesManageInTheTimeGiven) {
  const BenchShape shape{milliseconds(1), milliseconds(3), milliseconds(4), milliseconds(5)};
  const ShapeWorkload workload = shape_workload(shape, gpu_of_half_and_one_gb_a_second(), 6);
  EXPECT_THAT(static_cast<double>(workload.bytes.up), DoubleNear(1.5e6, 0.03 * 1.5e6));  // 3 ms
  EXPECT_THAT(static_cast<double>(workload.bytes.down), DoubleNear(5e6, 0.03 * 5e6));    // 5 ms
  EXPECT_THAT(workload.copies.value().up.median_ms, DoubleNear(3, 0.1));
  EXPECT_THAT(workload.copies.value().down.median_ms, DoubleNear(5, 0.15));
}

TEST(BenchShapeTimed, BothCopiesOfAFrameTakeTheirTimesInTheRing) {
  const BenchShape shape{milliseconds(1), milliseconds(3), milliseconds(4), microseconds(500)};
  const ShapeWorkload workload = shape_workload(shape, gpu_of_half_and_one_gb_a_second(), 6);
  BenchSetup setup;
  setup.device = workload.device;
  setup.filters = workload.filters;
  setup.modes = {Mode::kAsync};
  setup.slots = {4};
  setup.rounds = 1;
  setup.frames = 10;
  setup.work = {shape.preprocess, shape.kernels};
  const auto cases = bench_cases(setup, KeptFrames::synthetic(workload.device, workload.format, 2), {});
  const ModeFigures& figures = cases.value().front().table.modes.front();
  EXPECT_THAT(figures.stage(Stage::kH2d), DoubleNear(3, 0.15));
  EXPECT_THAT(figures.stage(Stage::kKernels), DoubleNear(4, 0.1));
  EXPECT_THAT(figures.stage(Stage::kD2h), DoubleNear(0.5, 0.1));
}

TEST(BenchShape, FramesTooLargeForThisMachineAreAUsageError) {
  const auto fast = create_simulated_device({.h2d = 1e12, .d2h = 1e12, .pageable_h2d = 1e12, .pageable_d2h = 1e12});
  const BenchShape shape{milliseconds(1), milliseconds(1000), milliseconds(4), milliseconds(60'000)};
  EXPECT_THROW(shape_workload(shape, fast, 64), UsageError);
}

// Ceilings.

FrameFormat small_format() { return testing::make_format(testing::pixel_format("yuv420p"), 256, 144); }
constexpr std::size_t kSmallBytes = 256 * 144 * 3 / 2;  // rows are multiples of 64: no padding

std::shared_ptr<Device> simulated_gpu(milliseconds h2d, milliseconds d2h) {
  const double up = simulated_bytes_per_s(kSmallBytes, h2d);
  const double down = simulated_bytes_per_s(kSmallBytes, d2h);
  return create_simulated_device({.h2d = up, .d2h = down, .pageable_h2d = up, .pageable_d2h = down});
}

TEST(Ceilings, CopiesTakeWhatTheEnginesTakeAndBothWaysTheSlowerOne) {
  const auto device = simulated_gpu(milliseconds(2), milliseconds(5));
  CopyMeter meter(*device, {kSmallBytes, kSmallBytes});
  for (int round = 0; round < 2; ++round) meter.add_round();
  const CopyTimes times = meter.result();
  EXPECT_THAT(times.up.median_ms, DoubleNear(2, 0.05));
  EXPECT_THAT(times.down.median_ms, DoubleNear(5, 0.05));
  EXPECT_THAT(times.both.median_ms, DoubleNear(5, 0.05));
}

TEST(Ceilings, SlowCopiesBindAndAreOfTheFramesBytes) {
  const auto device = simulated_gpu(milliseconds(5), milliseconds(2));
  CeilingMeter meter(*device, parse_filter_chain("crop=128:144"), small_format());
  meter.add_round();
  const Ceilings ceilings = meter.result();
  EXPECT_EQ(ceilings.bytes.up, kSmallBytes);
  EXPECT_EQ(ceilings.bytes.down, kSmallBytes / 2);
  EXPECT_THAT(ceilings.copies.value().down.median_ms, DoubleNear(1, 0.05));
  EXPECT_TRUE(ceilings.copies_bind());
  EXPECT_DOUBLE_EQ(ceilings.binding_ms(), ceilings.copies->both.median_ms);
}

TEST(Ceilings, ADeviceThatSharesMemoryHasOnlyItsFilters) {
  const auto device = create_cpu_device();
  CeilingMeter meter(*device, parse_filter_chain("gblur=sigma=2,tmix,eq"), small_format());
  meter.add_round();
  const Ceilings ceilings = meter.result();
  EXPECT_FALSE(ceilings.copies);
  EXPECT_GT(ceilings.kernels.median_ms, 0);
  EXPECT_EQ(ceilings.binding_ms(), ceilings.kernels.median_ms);
}

TEST(Ceilings, AHeavierChainHasALowerOne) {
  const auto device = create_cpu_device();
  ChainMeter light(*device, parse_filter_chain("vflip"), small_format());
  ChainMeter heavy(*device, parse_filter_chain("vflip,gblur=sigma=20,gblur=sigma=20"), small_format());
  light.add_round();
  heavy.add_round();
  EXPECT_GT(heavy.result().median_ms, 2 * light.result().median_ms);
}

TEST(Ceilings, RoundsAreGivenByTheirMedianAndTheirEnds) {
  const MeasuredTime odd = measured_time({5, 1, 3});
  EXPECT_EQ(odd.median_ms, 3);
  EXPECT_EQ(odd.min_ms, 1);
  EXPECT_EQ(odd.max_ms, 5);
  EXPECT_EQ(measured_time({8, 1, 4, 2}).median_ms, 3) << "the mean of the middle two";
  EXPECT_EQ(measured_time({}).median_ms, 0);
}

// Runs.

TEST(BenchRuns, KeepMoreFramesThanTheRingHoldsAndNoMoreBytesThanFit) {
  const auto yuv420 = testing::pixel_format("yuv420p");
  EXPECT_EQ(kept_frame_count(testing::make_format(yuv420, 64, 48), 200), 202);
  EXPECT_EQ(kept_frame_count(testing::make_format(yuv420, 1920, 1080), 6), 43) << "128 MiB of 3.1 MB each";
  EXPECT_EQ(kept_frame_count(testing::make_format(yuv420, 7680, 4320), 6), 8);
  EXPECT_EQ(kept_frame_count(testing::make_format(testing::pixel_format("yuv444p16le"), 7680, 4320), 6), 2);
}

TEST(BenchRuns, FramesThatDoNotFitIntoMemoryAreAUsageError) {
  EXPECT_NO_THROW(check_host_memory("small", 1e6));
  try {
    check_host_memory("16384x16384 gray", 1e15);
    ADD_FAILURE() << "no UsageError";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), StartsWith("16384x16384 gray: takes 1000000.0 GB of memory"));
  }
}

/** What 8K frames take on the CPU with 6 slots, in frames. */
double frames_needed(const char* chain) {
  BenchSetup setup;
  setup.device = create_cpu_device();
  setup.filters = parse_filter_chain(chain);
  setup.slots = {2, 6};
  const FrameFormat format = testing::make_format(testing::pixel_format("yuv420p"), 7680, 4320);
  return host_bytes_needed(setup, FilterChain(setup.filters, format, Backend::kCpu)) / (7680 * 4320 * 1.5);
}

TEST(BenchRuns, MemoryOfFramesInHostMemoryIsAllCounted) {
  const double lanes = std::max(1U, std::thread::hardware_concurrency());
  // 8 kept frames twice, an output a slot and the encoder's; 2 inputs and 2 outputs for each core that the chain is
  // measured on.
  EXPECT_DOUBLE_EQ(frames_needed("vflip"), 2 * 8 + 7 + 4 * lanes);
  // Two frames between two filters, for each slot and each core.
  EXPECT_DOUBLE_EQ(frames_needed("vflip,hflip"), 2 * 8 + 7 + 4 * lanes + 2 * (6 + lanes));
  // A ring of five frames for the run and for each core.
  EXPECT_NEAR(frames_needed("tmix=frames=5"), 2 * 8 + 7 + 4 * lanes + 5 * (1 + lanes), 0.01 * (1 + lanes));
}

TEST(BenchRuns, MemoryOfADeviceOfItsOwnIsNotTheHosts) {
  BenchSetup setup;
  setup.device = create_simulated_device({.h2d = 1e9, .d2h = 1e9, .pageable_h2d = 1e9, .pageable_d2h = 1e9});
  setup.filters = parse_filter_chain("vflip,hflip");
  setup.slots = {6};
  const FrameFormat format = testing::make_format(testing::pixel_format("yuv420p"), 7680, 4320);
  const FilterChain chain(setup.filters, format, setup.device->backend());
  // 8 kept frames twice, 7 outputs, and 2 blocks each way for the copies alone.
  EXPECT_DOUBLE_EQ(host_bytes_needed(setup, chain), (2 * 8 + 7 + 4) * 7680 * 4320 * 1.5);
}

BenchSetup tiny_setup() {
  BenchSetup setup;
  setup.device = create_cpu_device();
  setup.filters = parse_filter_chain("eq=contrast=1.1");
  setup.modes = {Mode::kSync, Mode::kMultistream};
  setup.slots = {2, 5};
  setup.rounds = 2;
  setup.frames = 10;
  return setup;
}

TEST(BenchRuns, EveryModeRunsAtEveryDepthOfTheRing) {
  const auto frames = bench_frames(tiny_setup(), small_format());
  ASSERT_TRUE(frames);
  ASSERT_EQ(frames->cases.size(), 2U);
  EXPECT_EQ(frames->cases[0].slots, 2);
  EXPECT_EQ(frames->cases[1].slots, 5);
  for (const BenchCase& one : frames->cases) {
    ASSERT_EQ(one.modes.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(one.table.modes[i].records.size(), 10U);
      EXPECT_DOUBLE_EQ(one.table.modes[i].frame_ms, one.modes[i].frame_ms.median_ms);
      EXPECT_LE(one.modes[i].frame_ms.min_ms, one.modes[i].frame_ms.median_ms);
      EXPECT_LE(one.modes[i].frame_ms.median_ms, one.modes[i].frame_ms.max_ms);
      EXPECT_FALSE(one.modes[i].cuda_graphs);
    }
  }
}

TEST(BenchRuns, AStopLeavesNothingHalfMeasured) {
  BenchSetup setup = tiny_setup();
  int runs = 0;
  setup.progress = [&](const std::string&) { ++runs; };
  setup.stop = [&] { return runs > 3; };
  EXPECT_FALSE(bench_frames(setup, small_format()));
}

TEST(BenchRuns, TheCommandTellsEverySizeAndFormat) {
  const Json json = run_on_cpu({"--size", "64x48,96x64", "--format", "gray,yuv444p10le", "--frames", "10", "--rounds",
                                "1", "--vf", "hflip,eq=contrast=1.2"});
  std::vector<std::string> cases;
  for (const Json& one : json["cases"]) {
    cases.push_back(one["size"].get<std::string>() + " " + one["format"].get<std::string>());
  }
  EXPECT_THAT(cases, ElementsAre("64x48 gray", "64x48 yuv444p10", "96x64 gray", "96x64 yuv444p10"));
  EXPECT_EQ(json["filters"], Json::parse(R"(["hflip", "eq=contrast=1.2"])"));
  EXPECT_FALSE(json.contains("modes")) << "whose would they be?";
  const Json& one = json["cases"][0];
  const double ratio = one["ceilings"]["kernels_ms"].get<double>() / one["modes"]["sync"]["frame_ms"].get<double>();
  EXPECT_DOUBLE_EQ(one["modes"]["sync"]["ratio"].get<double>(), ratio);
  EXPECT_EQ(one["ceilings"]["binding"], "kernels");
  EXPECT_TRUE(one["ceilings"]["copy_ms"].is_null());
  EXPECT_TRUE(one["modes"]["sync"]["h2d_gbps"].is_null());
}

TEST(BenchRuns, AChainThatDoesNotFitASizeIsToldBeforeAnythingRuns) {
  Console console(ConsoleOptions{});
  ::testing::internal::CaptureStdout();
  EXPECT_THROW(run_bench(parse({"--device", "cpu", "--size", "640x360,64x48", "--vf", "crop=100:100"}), console),
               UsageError);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), Not(HasSubstr("ceiling")));
}

TEST(BenchRuns, InterruptedTellsWhatWasComplete) {
  const testing::TemporaryFolder folder;
  const std::string command = std::string("echo $$; exec ") + FRAMELANE_PROGRAM +
                              " bench --device cpu --size 64x48,3840x2160 --frames 2000 --rounds 2 --json " +
                              folder.file("bench.json");
  std::FILE* program = popen(command.c_str(), "r");
  ASSERT_NE(program, nullptr);
  std::array<char, 1000> line{};
  ASSERT_NE(std::fgets(line.data(), line.size(), program), nullptr);
  const pid_t id = static_cast<pid_t>(std::stol(line.data()));
  ASSERT_NE(std::fgets(line.data(), line.size(), program), nullptr) << "the first size's heading";
  EXPECT_THAT(line.data(), StartsWith("64x48 yuv420p"));
  kill(id, SIGINT);
  while (std::fgets(line.data(), line.size(), program) != nullptr) EXPECT_STRNE(line.data(), "\n") << "a second table";
  const int status = pclose(program);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  std::ifstream file(folder.file("bench.json"));
  const Json json = Json::parse(file);
  ASSERT_EQ(json["cases"].size(), 1U);
  EXPECT_EQ(json["size"], "64x48");
}

// What is told, of made-up figures.

/** A frame that leaves every `ms`, filtered all the time. */
ModeRound steady_round(Mode mode, double ms) {
  const auto at = [&](double frames) {
    return TimePoint(std::chrono::hours(1)) +
           std::chrono::round<Clock::duration>(std::chrono::duration<double, std::milli>(frames * ms));
  };
  ModeRound round;
  round.mode = mode;
  for (int i = 0; i < 4; ++i) {
    FrameRecord record;
    record.frame = i;
    record.mode = mode;
    record[Stage::kKernels] = {at(i), at(i + 1)};
    record[Stage::kEncode] = {at(i + 1), at(i + 1)};
    round.records.push_back(record);
  }
  return round;
}

BenchFrames made_up_frames() {
  BenchFrames frames;
  frames.format = testing::make_format(testing::pixel_format("yuv420p"), 1920, 1080);
  frames.ceilings.bytes = {3'000'000, 1'500'000};
  frames.ceilings.copies = CopyTimes{{0.06, 0.059, 0.061}, {0.03, 0.03, 0.03}, {0.075, 0.074, 0.076}};
  frames.ceilings.kernels = {0.05, 0.05, 0.05};
  BenchCase one;
  one.slots = 6;
  one.table = tabulate({steady_round(Mode::kSync, 0.5), steady_round(Mode::kMultistream, 0.08)});
  one.modes = {{{0.5, 0.45, 0.6}, false}, {{0.08, 0.079, 0.081}, true}};
  frames.cases = {one};
  return frames;
}

BenchFacts made_up_facts() { return {"NVIDIA H200 (cuda:0)", Backend::kCuda, {"eq=contrast=1.1"}, 5}; }

TEST(BenchReport, RatesAreBytesOverTimeAndRatiosTheCeilingOverIt) {
  const Json json = frames_json(made_up_facts(), {made_up_frames()});
  const Json& multistream = json["modes"]["multistream"];
  EXPECT_NEAR(multistream["frame_ms"].get<double>(), 0.08, 1e-9);
  EXPECT_NEAR(multistream["h2d_gbps"].get<double>(), 37.5, 1e-3);   // 3 MB in 0.08 ms
  EXPECT_NEAR(multistream["d2h_gbps"].get<double>(), 18.75, 1e-3);  // 1.5 MB in 0.08 ms
  EXPECT_NEAR(multistream["ratio"].get<double>(), 0.9375, 1e-9);    // 0.075 / 0.08
  EXPECT_EQ(multistream["frame_ms_max"], 0.081);
  EXPECT_EQ(multistream["cuda_graphs"], true);
  EXPECT_NEAR(json["modes"]["sync"]["ratio"].get<double>(), 0.15, 1e-9);
  const Json& ceilings = json["ceilings"];
  EXPECT_NEAR(ceilings["h2d_gbps"].get<double>(), 50, 1e-9);
  EXPECT_NEAR(ceilings["d2h_gbps"].get<double>(), 50, 1e-9);
  EXPECT_NEAR(ceilings["two_way_gbps"].get<double>(), 60, 1e-9);  // 4.5 MB in 0.075 ms
  EXPECT_EQ(ceilings["copy_ms"], 0.075);
  EXPECT_EQ(ceilings["kernels_ms"], 0.05);
  EXPECT_EQ(ceilings["binding"], "copies");
  EXPECT_NEAR(ceilings["ratio"].get<double>(), 0.9375, 1e-6);
}

TEST(BenchReport, OneCasesFieldsStandAtTheTopToo) {
  const Json json = frames_json(made_up_facts(), {made_up_frames()});
  ASSERT_EQ(json["cases"].size(), 1U);
  for (const auto& [key, value] : json["cases"][0].items()) EXPECT_EQ(json[key], value) << key;
  for (const char* key : {"framelane", "device", "versions", "modes", "bounds", "bound_by", "ceilings", "size",
                          "format", "slots", "cuda_graphs", "filters", "rounds"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["size"], "1920x1080");
  EXPECT_EQ(json["format"], "yuv420p");
  EXPECT_EQ(json["cuda_graphs"], true) << "of the fastest mode";
  EXPECT_FALSE(frames_json(made_up_facts(), {made_up_frames(), made_up_frames()}).contains("modes"));
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

TEST(BenchReport, ATableHasItsCeilingsAndARowAMode) {
  const auto text = lines(frames_text(made_up_facts(), made_up_frames()));
  ASSERT_EQ(text.size(), 6U);
  EXPECT_EQ(text[0], "1920x1080 yuv420p | eq=contrast=1.1 | NVIDIA H200 (cuda:0) | 3.00 MB up, 1.50 MB down");
  EXPECT_EQ(text[1],
            "ceilings: H2D alone 0.0600 ms (50.0 GB/s), D2H alone 0.0300 ms (50.0 GB/s), both at once 0.0750 ms (60.0 "
            "GB/s), kernels alone 0.0500 ms; copies bind");
  EXPECT_THAT(words(text[3]),
              ElementsAre("sync", "6", "no", "0.5000", "(0.4500-0.6000)", "2000.0", "6.0", "3.0", "0.15"));
  EXPECT_THAT(words(text[4]),
              ElementsAre("multistream", "6", "yes", "0.0800", "(0.0790-0.0810)", "12500.0", "37.5", "18.8", "0.94"));
}

TEST(BenchReport, AShapesTableHasTheTextbooksFiguresBesideTheMeasuredOnes) {
  BenchedShape shape{{milliseconds(8), milliseconds(3), milliseconds(12), milliseconds(3)}, {}, {}, {}, {}};
  BenchCase one;
  one.slots = 6;
  one.table = tabulate({steady_round(Mode::kSync, 26.5), steady_round(Mode::kMultistream, 12.6)});
  one.modes = {{{26.5, 26.5, 26.5}, false}, {{12.6, 12.6, 12.6}, false}};
  shape.cases = {one};
  const auto text = lines(shape_text(made_up_facts(), shape));
  ASSERT_EQ(text.size(), 5U);
  EXPECT_THAT(text[0], StartsWith("shape 8,3,12,3 ms"));
  EXPECT_THAT(words(text[2]), ElementsAre("sync", "6", "26.50", "26", "26", "2.208", "100.0"));
  EXPECT_THAT(words(text[3]), ElementsAre("multistream", "6", "12.60", "12", "15", "1.050", "100.0"));
  EXPECT_THAT(text[4], StartsWith("Limit: 12 ms"));
}

}  // namespace
}  // namespace framelane
