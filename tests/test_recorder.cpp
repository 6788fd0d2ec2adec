// The recorder and what records amount to; expected values worked out by hand.
#include "pipeline/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

namespace framelane {
namespace {

/** `ms` after an arbitrary moment. */
TimePoint at(double ms) {
  return TimePoint{} + std::chrono::hours(1) +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
}
Span span(double begin_ms, double end_ms) { return {at(begin_ms), at(end_ms)}; }

/** A frame that is decoded for 2 ms from `begin_ms` and encoded for 1 ms from `begin_ms` + 8. */
FrameRecord record(std::int64_t frame, double begin_ms) {
  FrameRecord record;
  record.frame = frame;
  record[Stage::kDecode] = span(begin_ms, begin_ms + 2);
  record[Stage::kEncode] = span(begin_ms + 8, begin_ms + 9);
  return record;
}

std::size_t index(Stage stage) { return static_cast<std::size_t>(stage); }

TEST(TimeStatistics, OfAnEmptySetAreZero) {
  const TimeStatistics times = time_statistics({});
  EXPECT_EQ(times.count, 0u);
  EXPECT_EQ(times.mean_ms, 0);
  EXPECT_EQ(times.p99_ms, 0);
}

TEST(TimeStatistics, QuantilesAreTheNearestRank) {
  std::vector<double> times(100);
  std::iota(times.rbegin(), times.rend(), 1.0);  // 100, 99, … 1: unsorted on purpose
  const TimeStatistics statistics = time_statistics(times);
  EXPECT_EQ(statistics.count, 100u);
  EXPECT_DOUBLE_EQ(statistics.mean_ms, 50.5);
  EXPECT_DOUBLE_EQ(statistics.median_ms, 50.5);
  EXPECT_DOUBLE_EQ(statistics.p95_ms, 95);
  EXPECT_DOUBLE_EQ(statistics.p99_ms, 99);
}

TEST(TimeStatistics, FewTimesHaveTheLargestAsTheirTail) {
  const TimeStatistics statistics = time_statistics({7, 1, 4});
  EXPECT_DOUBLE_EQ(statistics.mean_ms, 4);
  EXPECT_DOUBLE_EQ(statistics.median_ms, 4);
  EXPECT_DOUBLE_EQ(statistics.p95_ms, 7);
  EXPECT_DOUBLE_EQ(statistics.p99_ms, 7);
  EXPECT_DOUBLE_EQ(time_statistics({3}).p99_ms, 3);
}

TEST(Summary, OfNoRecordsIsZero) {
  const RecordSummary summary = summarize({});
  EXPECT_EQ(summary.fps, 0);
  EXPECT_EQ(summary.wall_s, 0);
  EXPECT_EQ(summary.stages[index(Stage::kDecode)].count, 0u);
}

TEST(Summary, FollowsFromTheSpans) {
  std::vector<FrameRecord> records{record(0, 0), record(1, 5), record(2, 11)};
  const RecordSummary summary = summarize(records);
  // From 0 to 11 + 9 = 20 ms.
  EXPECT_NEAR(summary.wall_s, 0.020, 1e-9);
  EXPECT_NEAR(summary.fps, 150, 1e-6);
  // Three times 2 + 1 ms of work in 20 ms.
  EXPECT_NEAR(summary.overlap, 9.0 / 20, 1e-6);
  EXPECT_EQ(summary.stages[index(Stage::kDecode)].count, 3u);
  EXPECT_NEAR(summary.stages[index(Stage::kDecode)].mean_ms, 2, 1e-6);
  EXPECT_EQ(summary.stages[index(Stage::kKernels)].count, 0u);
  // Frames leave at 9, 14 and 20 ms.
  EXPECT_EQ(summary.frame_time.count, 2u);
  EXPECT_NEAR(summary.frame_time.mean_ms, 5.5, 1e-6);
  EXPECT_NEAR(summary.frame_time.p99_ms, 6, 1e-6);
  EXPECT_EQ(summary.latency.count, 3u);
  EXPECT_NEAR(summary.latency.median_ms, 9, 1e-6);
}

TEST(Summary, BusyCountsOverlappingSpansOnce) {
  std::vector<FrameRecord> records{record(0, 0), record(1, 0), record(2, 0), record(3, 11)};
  records[0][Stage::kKernels] = span(2, 6);
  records[1][Stage::kKernels] = span(4, 7);    // 1 ms beyond the first
  records[2][Stage::kKernels] = span(3, 5);    // within the first
  records[3][Stage::kKernels] = span(13, 16);  // apart
  const RecordSummary summary = summarize(records);
  ASSERT_NEAR(summary.wall_s, 0.020, 1e-9);
  EXPECT_NEAR(summary.busy[index(Stage::kKernels)], (5.0 + 3.0) / 20, 1e-6);
  // The three that decode at once count once.
  EXPECT_NEAR(summary.busy[index(Stage::kDecode)], (2.0 + 2.0) / 20, 1e-6);
  EXPECT_EQ(summary.busy[index(Stage::kH2d)], 0);
}

TEST(Summary, OverlapIsAboveOneWhereStagesRunAtOnce) {
  std::vector<FrameRecord> records{record(0, 0)};
  for (const Stage stage : kStages) records[0][stage] = span(0, 10);
  EXPECT_NEAR(summarize(records).overlap, 6, 1e-6);
}

TEST(Recorder, CutsWhatTheEnginesPreviousFrameStillUsed) {
  Recorder recorder(8);
  FrameRecord first = record(0, 0);
  first[Stage::kKernels] = span(2, 5);
  first[Stage::kH2d] = span(0, 1);
  FrameRecord second = record(1, 1);
  second[Stage::kKernels] = span(3, 7);  // waited from 3 to 5
  second[Stage::kH2d] = span(2, 3);      // did not wait
  FrameRecord third = record(2, 2);
  third[Stage::kH2d] = span(3, 4);
  third[Stage::kKernels] = span(4, 6);  // ended before the second: nothing is left
  recorder.add(first);
  recorder.add(second);
  recorder.add(third);
  const std::vector<FrameRecord> records = recorder.all();
  EXPECT_NEAR(records[0][Stage::kKernels].ms(), 3, 1e-6);
  EXPECT_EQ(records[1][Stage::kKernels].begin, at(5));
  EXPECT_EQ(records[1][Stage::kKernels].end, at(7));
  EXPECT_NEAR(records[1][Stage::kH2d].ms(), 1, 1e-6);
  EXPECT_EQ(records[2][Stage::kKernels].ms(), 0);
}

TEST(Recorder, CutsWhatAnyEarlierFrameStillUsed) {
  Recorder recorder(8);
  for (const auto& [begin, end] : {std::pair{2, 9}, {3, 5}, {4, 11}}) {  // the second ended before the first
    FrameRecord overlapping = record(recorder.frames(), 0);
    overlapping[Stage::kH2d] = span(1, 2);
    overlapping[Stage::kKernels] = span(begin, end);
    recorder.add(overlapping);
  }
  EXPECT_EQ(recorder.all()[1][Stage::kKernels].ms(), 0);
  EXPECT_EQ(recorder.all()[2][Stage::kKernels].begin, at(9));
  EXPECT_EQ(recorder.all()[2][Stage::kKernels].end, at(11));
}

TEST(Recorder, LeavesFramesWholeThatAreFilteredSeveralAtOnce) {
  Recorder recorder(8);
  FrameRecord first = record(0, 0);
  first[Stage::kKernels] = span(2, 5);
  FrameRecord second = record(1, 1);
  second[Stage::kKernels] = span(3, 7);  // not copied: a device that shares the host's memory
  recorder.add(first);
  recorder.add(second);
  EXPECT_NEAR(recorder.all()[1][Stage::kKernels].ms(), 4, 1e-6);
}

TEST(Recorder, LeavesTheCpusStagesWhole) {
  Recorder recorder(8);
  recorder.add(record(0, 0));
  recorder.add(record(1, 0.5));  // decoded while the first still was
  EXPECT_NEAR(recorder.all()[1][Stage::kDecode].ms(), 2, 1e-6);
}

TEST(Recorder, KeepsTheLatestRecordsInOrder) {
  constexpr std::int64_t kCapacity = 5;
  for (std::int64_t count = 0; count <= 13; ++count) {
    SCOPED_TRACE(count);
    Recorder recorder(kCapacity);
    for (std::int64_t frame = 0; frame < count; ++frame) recorder.add(record(frame, 10.0 * static_cast<double>(frame)));
    EXPECT_EQ(recorder.frames(), count);
    const std::vector<FrameRecord> all = recorder.all();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(std::min(count, kCapacity)));
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].frame, count - static_cast<std::int64_t>(all.size() - i));
    }
    const std::vector<FrameRecord> two = recorder.latest(2);
    ASSERT_EQ(two.size(), static_cast<std::size_t>(std::min<std::int64_t>(count, 2)));
    if (count > 0) {
      EXPECT_EQ(two.back().frame, count - 1);
    }
  }
}

TEST(Recorder, CountsDroppedFrames) {
  Recorder recorder(2);
  recorder.count_dropped(1);
  recorder.count_dropped(3);
  EXPECT_EQ(recorder.dropped(), 4);
  EXPECT_EQ(recorder.frames(), 0);
}

}  // namespace
}  // namespace framelane
