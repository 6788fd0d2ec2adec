// --stats: the figures of two frames made by hand, and what happens where they cannot be written.
#include "app/stats_report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "app/report_file.h"
#include "app/version.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

TimePoint at(double ms) {
  return TimePoint{} + std::chrono::hours(1) +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
}

/** Decode 0-4, H2D 4-5, kernels 5-8, D2H 8-10, encode 10-13 ms, all later by `offset_ms`. */
FrameRecord record(std::int64_t frame, Mode mode, double offset_ms) {
  FrameRecord record;
  record.frame = frame;
  record.mode = mode;
  const auto set = [&](Stage stage, double begin, double end) {
    record[stage] = {at(offset_ms + begin), at(offset_ms + end)};
  };
  set(Stage::kDecode, 0, 4);
  set(Stage::kH2d, 4, 5);
  set(Stage::kKernels, 5, 8);
  set(Stage::kD2h, 8, 10);
  set(Stage::kEncode, 10, 13);
  return record;
}

RunFacts two_frames() {
  RunFacts facts;
  facts.device = "NVIDIA H200 (cuda:0)";
  facts.backend = Backend::kCuda;
  facts.filters = {"gblur=sigma=2", "eq=contrast=1.1"};
  facts.input = {{ColorModel::kYuv, 10, 1, 1, false}, 1920, 1080, ColorMatrix::kBt709, ColorRange::kLimited};
  facts.output = facts.input;
  facts.output.width = 640;
  facts.output.height = 360;
  facts.output_description = "out.mp4 (mp4: libx264)";
  facts.status.mode = Mode::kAsync;
  facts.status.slots = 6;
  facts.status.frames_in = 9;
  facts.status.frames_out = 2;
  facts.status.dropped = 7;
  facts.status.damage.decode_errors = 3;
  facts.status.output.bytes = 4242;
  facts.records = {record(0, Mode::kSync, 0), record(1, Mode::kAsync, 7)};
  return facts;
}

TEST(StatsReport, SaysWhatRan) {
  const auto stats = stats_json(two_frames());
  EXPECT_EQ(stats["framelane"], program_version());
  EXPECT_EQ(stats["device"], "NVIDIA H200 (cuda:0)");
  EXPECT_EQ(stats["backend"], "cuda");
  EXPECT_EQ(stats["mode"], "async");
  EXPECT_EQ(stats["modes_used"], (std::vector<std::string>{"sync", "async"}));
  EXPECT_EQ(stats["slots"], 6);
  EXPECT_EQ(stats["filters"], (std::vector<std::string>{"gblur=sigma=2", "eq=contrast=1.1"}));
  EXPECT_EQ(stats["input"]["width"], 1920);
  EXPECT_EQ(stats["input"]["height"], 1080);
  EXPECT_EQ(stats["input"]["pixel_format"], "yuv420p10");
  EXPECT_EQ(stats["input"]["matrix"], "bt709");
  EXPECT_EQ(stats["input"]["range"], "limited");
  EXPECT_EQ(stats["output"]["width"], 640);
  EXPECT_EQ(stats["output"]["description"], "out.mp4 (mp4: libx264)");
  EXPECT_EQ(stats["output"]["bytes"], 4242);
  EXPECT_FALSE(stats["versions"]["libavcodec"]["running"].get<std::string>().empty());
}

TEST(StatsReport, CountsFrames) {
  const auto frames = stats_json(two_frames())["frames"];
  EXPECT_EQ(frames["in"], 9);
  EXPECT_EQ(frames["out"], 2);
  EXPECT_EQ(frames["dropped"], 7);
  EXPECT_EQ(frames["decode_errors"], 3);
  EXPECT_EQ(frames["recorded"], 2);
}

TEST(StatsReport, TimesFollowFromTheRecords) {
  const auto stats = stats_json(two_frames());
  // From 0 to 7 + 13 ms; each frame has 4 + 1 + 3 + 2 + 3 = 13 ms of work.
  EXPECT_NEAR(stats["wall_s"].get<double>(), 0.020, 1e-9);
  EXPECT_NEAR(stats["fps"].get<double>(), 100, 1e-6);
  EXPECT_NEAR(stats["overlap"].get<double>(), 26.0 / 20, 1e-6);
  const auto decode = stats["stages"]["decode"];
  EXPECT_EQ(decode["count"], 2);
  for (const char* key : {"mean_ms", "median_ms", "p95_ms", "p99_ms"}) EXPECT_NEAR(decode[key].get<double>(), 4, 1e-6);
  EXPECT_EQ(stats["stages"]["preprocess"]["count"], 0);
  EXPECT_NEAR(stats["stages"]["kernels"]["mean_ms"].get<double>(), 3, 1e-6);
  EXPECT_EQ(stats["stages"].size(), kStageCount);
  EXPECT_EQ(stats["frame_time"]["count"], 1);
  EXPECT_NEAR(stats["frame_time"]["median_ms"].get<double>(), 7, 1e-6);
  EXPECT_NEAR(stats["latency"]["p99_ms"].get<double>(), 13, 1e-6);
}

TEST(StatsReport, BusyIsTheShareOfTheWallClock) {
  const auto busy = stats_json(two_frames())["device_busy"];
  EXPECT_NEAR(busy["h2d"].get<double>(), 2.0 / 20, 1e-6);
  EXPECT_NEAR(busy["compute"].get<double>(), 6.0 / 20, 1e-6);
  EXPECT_NEAR(busy["d2h"].get<double>(), 4.0 / 20, 1e-6);
}

TEST(StatsReport, OfARunWithoutFramesIsComplete) {
  const auto stats = stats_json(RunFacts{});
  EXPECT_EQ(stats["fps"], 0);
  EXPECT_TRUE(stats["modes_used"].is_array());
  EXPECT_TRUE(stats["filters"].is_array());
  EXPECT_EQ(stats["stages"]["encode"]["count"], 0);
}

TEST(WriteReport, ReplacesAFile) {
  const auto path = std::filesystem::temp_directory_path() / ("framelane-report-" + std::to_string(getpid()));
  write_report(path.string(), "a longer first text");
  write_report(path.string(), "second");
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_EQ(content.str(), "second");
  std::filesystem::remove(path);
}

TEST(WriteReport, NamesTheFileAndTheCause) {
  try {
    write_report("/no/such/folder/stats.json", "{}");
    FAIL() << "no error";
  } catch (const OutputError& error) {
    EXPECT_STREQ(error.what(), "/no/such/folder/stats.json: cannot write the report: No such file or directory");
  }
}

TEST(WriteReport, TellsOfAFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_THROW(write_report("/dev/full", "{}"), OutputError);
}

TEST(WriteReport, ADashIsStandardOutput) {
  ::testing::internal::CaptureStdout();
  write_report("-", "{}\n");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "{}\n");
}

TEST(WriteReport, FfmpegsPipe1IsStandardOutput) {
  ::testing::internal::CaptureStdout();
  write_report("pipe:1", "{}\n");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "{}\n");
  EXPECT_FALSE(std::filesystem::exists("pipe:1"));
}

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(json_text({{"name", "a\xff"}}), "{\n  \"name\": \"a\xef\xbf\xbd\"\n}\n");
  EXPECT_EQ(json_line({{"name", "a\xff"}}), "{\"name\":\"a\xef\xbf\xbd\"}");
}

TEST(CheckReports, OtherPlacesAreAllowed) {
  EXPECT_NO_THROW(check_reports({{"--json", "a"}, {"--report", "b"}, {"--trace", ""}, {"--stats", ""}}, "c", "d"));
  EXPECT_NO_THROW(check_reports({{"--json", "-"}, {"--report", "pipe:2"}}, "-", "null"));
}

TEST(CheckReports, APipeWithAnotherNumberIsAUsageError) {
  EXPECT_THROW(check_reports({{"--json", "pipe:7"}}, "", ""), UsageError);
}

}  // namespace
}  // namespace framelane
