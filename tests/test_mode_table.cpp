// Figures and bounds of the modes, from records made by hand.
#include "app/mode_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace framelane {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kExact_ms = 1e-6;  // the clock ticks in nanoseconds

TimePoint at(double ms) {
  return TimePoint{} + std::chrono::hours(1) +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
}

struct StageTimes {
  double decode = 4;
  double preprocess = 0;
  double h2d = 1;
  double kernels = 3;
  double d2h = 2;
  double encode = 2;
};

/** Stages one after the other from `begin_ms` on; one of no length did not happen. */
FrameRecord record(std::int64_t frame, Mode mode, double begin_ms, const StageTimes& times) {
  FrameRecord record;
  record.frame = frame;
  record.mode = mode;
  const auto add = [&](Stage stage, double length_ms) {
    if (length_ms > 0) record[stage] = {at(begin_ms), at(begin_ms + length_ms)};
    begin_ms += length_ms;
  };
  add(Stage::kDecode, times.decode);
  add(Stage::kPreprocess, times.preprocess);
  add(Stage::kH2d, times.h2d);
  add(Stage::kKernels, times.kernels);
  add(Stage::kD2h, times.d2h);
  add(Stage::kEncode, times.encode);
  record.submit = {record[Stage::kDecode].end, record[Stage::kDecode].end + std::chrono::microseconds(500)};
  return record;
}

/** A frame begins every `period_ms`. */
ModeRound run(Mode mode, double period_ms, const StageTimes& times = {}, int frames = 20) {
  ModeRound round;
  round.mode = mode;
  for (int frame = 0; frame < frames; ++frame) {
    round.records.push_back(record(frame, mode, frame * period_ms, times));
  }
  round.warm_up_frames = 4;
  round.tail_frames = 4;
  return round;
}

/** Frames of 12 ms, one after the other, and the same with the decoder never waiting. */
std::vector<ModeRound> sync_and_multistream() { return {run(Mode::kSync, 12), run(Mode::kMultistream, 4)}; }

double busy(const ModeFigures& mode, Stage stage) { return mode.busy[static_cast<std::size_t>(stage)]; }

TEST(ModeTable, FrameTimeIsTheTimeBetweenFramesThatLeave) {
  const ModeTable table = tabulate(sync_and_multistream());
  ASSERT_EQ(table.modes.size(), 2U);
  EXPECT_NEAR(table.modes[0].frame_ms, 12, kExact_ms);
  EXPECT_NEAR(table.modes[0].fps, 1000.0 / 12, 1e-4);
  EXPECT_NEAR(table.modes[1].frame_ms, 4, kExact_ms);
  EXPECT_NEAR(table.modes[1].fps, 250, 1e-4);
}

TEST(ModeTable, StageTimesAreMeansOfTheCountedFrames) {
  const ModeTable table = tabulate(sync_and_multistream());
  for (const ModeFigures& mode : table.modes) {
    EXPECT_NEAR(mode.stage(Stage::kDecode), 4, kExact_ms);
    EXPECT_EQ(mode.stage(Stage::kPreprocess), 0);
    EXPECT_NEAR(mode.stage(Stage::kH2d), 1, kExact_ms);
    EXPECT_NEAR(mode.stage(Stage::kKernels), 3, kExact_ms);
    EXPECT_NEAR(mode.stage(Stage::kD2h), 2, kExact_ms);
    EXPECT_NEAR(mode.stage(Stage::kEncode), 2, kExact_ms);
    EXPECT_NEAR(mode.submit_ms, 0.5, kExact_ms);
  }
}

TEST(ModeTable, OverlapIsTheSumOfStagesOverTheFrameTime) {
  const ModeTable table = tabulate(sync_and_multistream());
  EXPECT_NEAR(table.modes[0].overlap, 1, 1e-6);
  EXPECT_NEAR(table.modes[1].overlap, 3, 1e-6);
}

TEST(ModeTable, WarmUpAndTailAreNotCounted) {
  std::vector<ModeRound> rounds = sync_and_multistream();
  for (ModeRound& round : rounds) {
    round.records[1] = record(1, round.mode, 0, {.decode = 900});
    round.records[18] = record(18, round.mode, 5000, {.decode = 900});
  }
  const ModeTable table = tabulate(rounds);
  EXPECT_NEAR(table.modes[0].frame_ms, 12, kExact_ms);
  EXPECT_NEAR(table.modes[1].frame_ms, 4, kExact_ms);
  EXPECT_NEAR(table.modes[1].stage(Stage::kDecode), 4, kExact_ms);
  ASSERT_EQ(table.modes[1].records.size(), 12U);
  EXPECT_EQ(table.modes[1].records.front().frame, 4);
  EXPECT_EQ(table.modes[1].records.back().frame, 15);
}

TEST(ModeTable, BusyCountsWhatNeighboursDoInTheWindow) {
  // Frames in flight at both ends of the window belong to the warm-up and the tail.
  const ModeFigures mode = tabulate({run(Mode::kMultistream, 4)}).modes.front();
  EXPECT_NEAR(busy(mode, Stage::kDecode), 1, 1e-6);
  EXPECT_NEAR(busy(mode, Stage::kH2d), 1.0 / 4, 1e-6);
  EXPECT_NEAR(busy(mode, Stage::kKernels), 3.0 / 4, 1e-6);
  EXPECT_NEAR(busy(mode, Stage::kD2h), 2.0 / 4, 1e-6);
}

TEST(ModeTable, FramesFilteredAtTheSameTimeCountOnce) {
  // Two at a time: each takes 8 ms, and one leaves every 4 ms.
  const ModeTable table = tabulate({run(Mode::kMultistream, 4, {.h2d = 0, .kernels = 8, .d2h = 0})});
  EXPECT_NEAR(table.modes[0].stage(Stage::kKernels), 8, kExact_ms);
  EXPECT_NEAR(busy(table.modes[0], Stage::kKernels), 1, 1e-6);
  EXPECT_NEAR(table.modes[0].occupied_ms(Stage::kKernels), 4, kExact_ms);
  EXPECT_NEAR(table.ideal_ms, 4, kExact_ms);
}

TEST(ModeTable, CpuTimeIsSpreadOverTheCountedFrames) {
  ModeRound round = run(Mode::kAsync, 6);
  round.cpu_s = 0.12;  // for 12 frames
  const ModeTable table = tabulate({round});
  EXPECT_NEAR(table.modes[0].cpu_ms, 10, kExact_ms);
  EXPECT_NEAR(table.cores_ms, 10.0 / table.cores, kExact_ms);
}

TEST(ModeTable, SpeedUpIsTheMedianOfTheRoundsRatiosWithItsSpread) {
  // Ratios 12/4, 18/9 and 12/5.
  const ModeTable table = tabulate({run(Mode::kSync, 12), run(Mode::kMultistream, 4), run(Mode::kMultistream, 9),
                                    run(Mode::kSync, 18), run(Mode::kSync, 12), run(Mode::kMultistream, 5)});
  const ModeFigures& multistream = table.modes[1];
  EXPECT_NEAR(multistream.speedup_min, 2, 1e-6);
  EXPECT_NEAR(multistream.speedup, 2.4, 1e-6);
  EXPECT_NEAR(multistream.speedup_max, 3, 1e-6);
  EXPECT_NEAR(multistream.frame_ms, 5, kExact_ms);
  EXPECT_EQ(table.modes[0].speedup, 1);
}

TEST(ModeTable, WithoutSyncTheFirstModeIsTheBase) {
  const ModeTable table = tabulate({run(Mode::kAsync, 6), run(Mode::kMultistream, 4)});
  EXPECT_EQ(table.modes[0].speedup, 1);
  EXPECT_NEAR(table.modes[1].speedup, 1.5, 1e-6);
}

TEST(ModeTable, SerialIsTheSumOfSyncsStagesAndIdealTheSlowestOne) {
  const ModeTable table = tabulate(sync_and_multistream());
  EXPECT_NEAR(table.serial_ms, 12, kExact_ms);
  EXPECT_NEAR(table.ideal_ms, 4, kExact_ms);
  EXPECT_EQ(table.bound_by, Stage::kDecode);
}

TEST(ModeTable, DecodeIsTakenFromTheFastestMode) {
  // Codec threads work ahead while sync mode filters: there decoding looks as if it took next to nothing.
  const ModeTable table = tabulate({run(Mode::kSync, 8.1, {.decode = 0.1}), run(Mode::kMultistream, 4, {.decode = 4})});
  EXPECT_NEAR(table.ideal_ms, 4, kExact_ms);
  EXPECT_EQ(table.bound_by, Stage::kDecode);
}

TEST(ModeTable, AnEnginesTimeIsTheLeastThatAModeShows) {
  // Pageable copies in sync mode, copies that meet each other in multistream: async shows what they take alone.
  const ModeTable table =
      tabulate({run(Mode::kSync, 30, {.decode = 0.5, .h2d = 20}), run(Mode::kAsync, 9, {.decode = 0.5, .h2d = 5}),
                run(Mode::kMultistream, 6, {.decode = 0.5, .h2d = 6})});
  EXPECT_NEAR(table.ideal_ms, 5, kExact_ms);
  EXPECT_EQ(table.bound_by, Stage::kH2d);
  EXPECT_NEAR(table.serial_ms, 0.5 + 20 + 3 + 2 + 2, kExact_ms);
}

TEST(ModeTable, NoStageAloneExceedsTheFrameTimeWhereDecodingWasOverBefore) {
  // Four frames, decoded one after the other in 4 ms each by 16 ms; then one leaves every 2 ms. Without a tail.
  ModeRound drained{Mode::kAsync, {}};
  for (int frame = 0; frame < 4; ++frame) {
    FrameRecord& record = drained.records.emplace_back();
    record[Stage::kDecode] = {at(4 * frame), at(4 * frame + 4)};
    record[Stage::kEncode] = {at(14 + 2 * frame), at(16 + 2 * frame)};
  }
  drained.warm_up_frames = 1;  // left at 16 ms
  const ModeTable table = tabulate({drained});
  EXPECT_NEAR(table.modes[0].stage(Stage::kDecode), 4, kExact_ms);
  EXPECT_NEAR(table.modes[0].frame_ms, 2, kExact_ms);
  EXPECT_NEAR(table.ideal_ms, 2, kExact_ms);
  EXPECT_EQ(table.bound_by, Stage::kEncode);
}

/** Filters of 6 ms beside a decoder that waits for cores; 5 ms of CPU time over the cores of this machine. */
ModeTable crowded_table() {
  ModeTable table =
      tabulate({run(Mode::kSync, 12, {.decode = 2, .h2d = 0, .kernels = 6, .d2h = 0}),
                run(Mode::kMultistream, 6, {.decode = 5, .preprocess = 1, .h2d = 0, .kernels = 6, .d2h = 0})});
  table.modes[1].cpu_ms = 10;
  table.cores = 2;
  table.cores_ms = 5;
  return table;
}

TEST(ModeTable, OnSharedCoresTheCoresBoundWhereKernelsAloneTakeLess) {
  ModeTable table = crowded_table();
  share_cores(table, {.kernels_ms = 3});
  EXPECT_EQ(table.ideal_ms, 0);
  EXPECT_EQ(table.bound_ms(), 5);
  EXPECT_EQ(table.bound_by, Stage::kKernels);
  EXPECT_EQ(table.alone_ms[static_cast<std::size_t>(Stage::kDecode)], 0);
}

TEST(ModeTable, OnSharedCoresKernelsAloneAreIdealWhereTheyTakeMoreThanTheCores) {
  ModeTable table = crowded_table();
  share_cores(table, {.kernels_ms = 5.5});
  EXPECT_EQ(table.ideal_ms, 5.5);
  EXPECT_EQ(table.bound_ms(), 5.5);
}

TEST(ModeTable, OnSharedCoresNoStageAloneExceedsTheFastestModesFrameTime) {
  ModeTable table = crowded_table();
  share_cores(table, {.kernels_ms = 7});
  EXPECT_NEAR(table.ideal_ms, 6, kExact_ms);
}

TEST(ModeTable, OnSharedCoresDecodingAloneIsThatOfSyncWhereNothingWorksBesideIt) {
  ModeTable table = crowded_table();
  share_cores(table, {.kernels_ms = 1, .sync_decodes_alone = true});
  EXPECT_NEAR(table.alone_ms[static_cast<std::size_t>(Stage::kDecode)], 2, kExact_ms);
  EXPECT_EQ(table.bound_by, Stage::kDecode);
}

TEST(ModeTable, DecodeAndPreprocessAreOneThreadsWork) {
  const ModeTable table = tabulate({run(Mode::kMultistream, 5, {.decode = 2, .preprocess = 3, .kernels = 4})});
  EXPECT_NEAR(table.ideal_ms, 5, kExact_ms);
  EXPECT_EQ(table.bound_by, Stage::kPreprocess);
}

TEST(ModeTable, ARunWithoutWarmUpBeginsWithItsFirstFrame) {
  ModeRound image = run(Mode::kSync, 12, {}, 1);
  image.warm_up_frames = 0;
  image.tail_frames = 0;
  EXPECT_NEAR(tabulate({image}).modes[0].frame_ms, 12, kExact_ms);
}

TEST(ModeTable, NothingToCountIsAnError) {
  EXPECT_THROW(tabulate({}), std::invalid_argument);
  EXPECT_THROW(tabulate({run(Mode::kSync, 12, {}, 8)}), std::invalid_argument);
}

// ---- text and JSON

TEST(ModeTableText, HasARowForEachFigure) {
  std::vector<ModeRound> rounds = sync_and_multistream();
  rounds[1].cpu_s = 0.12;
  const std::string text = table_text(tabulate(rounds), Backend::kCuda);
  for (const char* row :
       {"\ndecode                             4.00               4.00\n",
        "\npreprocess                            -                  -\n",
        "\nH2D                                1.00               1.00\n",
        "\nkernels                            3.00               3.00\n",
        "\nD2H                                2.00               2.00\n",
        "\nencode                             2.00               2.00\n",
        "\nframe time                        12.00               4.00\n",
        "\nfps                                83.3              250.0\n",
        "\nCPU time                              -              10.00\n",
        "\nGPU busy: H2D                     8.3 %             25.0 %\n",
        "\nGPU busy: compute                25.0 %             75.0 %\n",
        "\nGPU busy: D2H                    16.7 %             50.0 %\n",
        "\nspeed-up                          1.00x              3.00x\n",
        "\ntimes the ideal                    3.00               1.00\n",
        "\nbounds: serial 12.00 ms (all stages, one after the other), ideal 4.00 ms (decode alone)\n"}) {
    EXPECT_THAT(text, HasSubstr(row));
  }
}

TEST(ModeTableText, ShowsTheSpreadOfTheSpeedUp) {
  const ModeTable table =
      tabulate({run(Mode::kSync, 12), run(Mode::kMultistream, 4), run(Mode::kSync, 12), run(Mode::kMultistream, 5)});
  EXPECT_THAT(table_text(table, Backend::kCuda), HasSubstr(" 2.70x (2.40-3.00)\n"));
}

TEST(ModeTableText, LongSpeedUpsDoNotTouch) {
  const ModeTable table = tabulate({run(Mode::kSync, 120), run(Mode::kAsync, 12), run(Mode::kMultistream, 10),
                                    run(Mode::kSync, 150), run(Mode::kAsync, 10), run(Mode::kMultistream, 5)});
  // Ratios 10 and 15, 12 and 30.
  EXPECT_THAT(table_text(table, Backend::kCuda), HasSubstr(" 1.00x  12.50x (10.00-15.00)  21.00x (12.00-30.00)\n"));
}

TEST(ModeTableText, WhereTheCoresBoundNoStageIsCalledAlone) {
  ModeTable table = crowded_table();
  share_cores(table, {.kernels_ms = 3});
  const std::string text = table_text(table, Backend::kCpu);
  EXPECT_THAT(text, HasSubstr("\ntimes the bound                    2.40               1.20\n"));
  EXPECT_THAT(text, HasSubstr("(all stages, one after the other), cores 5.00 ms (CPU time over 2)\n"));
  EXPECT_THAT(text, Not(HasSubstr("alone")));
  EXPECT_EQ(table_json(table, Backend::kCpu)["bounds"]["ideal_ms"], table.cores_ms);
}

TEST(ModeTableText, OnTheCpuFiltersAreBusyAndNoGpu) {
  const std::string text = table_text(tabulate({run(Mode::kSync, 9, {.h2d = 0, .d2h = 0})}), Backend::kCpu);
  EXPECT_THAT(text, HasSubstr("\nfilters busy                     33.3 %\n"));
  EXPECT_THAT(text, HasSubstr("\nH2D                                   -\n"));
  EXPECT_THAT(text, Not(HasSubstr("GPU")));
}

TEST(ModeTableJson, HasTheDocumentedKeys) {
  const auto json = table_json(tabulate(sync_and_multistream()), Backend::kCuda);
  const auto& mode = json["modes"]["multistream"];
  EXPECT_NEAR(mode["frame_ms"].get<double>(), 4, kExact_ms);
  EXPECT_NEAR(mode["fps"].get<double>(), 250, 1e-4);
  EXPECT_NEAR(mode["speedup"].get<double>(), 3, 1e-6);
  EXPECT_NEAR(mode["speedup_min"].get<double>(), 3, 1e-6);
  EXPECT_NEAR(mode["speedup_max"].get<double>(), 3, 1e-6);
  EXPECT_TRUE(mode["cpu_ms"].is_null());  // was not measured
  EXPECT_NEAR(mode["overlap"].get<double>(), 3, 1e-6);
  for (const char* stage : {"decode_ms", "preprocess_ms", "h2d_ms", "kernels_ms", "d2h_ms", "encode_ms"}) {
    EXPECT_TRUE(mode["stages"][stage].is_number()) << stage;
  }
  EXPECT_NEAR(mode["busy"]["h2d"].get<double>(), 0.25, 1e-6);
  EXPECT_NEAR(mode["busy"]["compute"].get<double>(), 0.75, 1e-6);
  EXPECT_NEAR(mode["busy"]["d2h"].get<double>(), 0.5, 1e-6);
  EXPECT_NEAR(json["bounds"]["serial_ms"].get<double>(), 12, kExact_ms);
  EXPECT_NEAR(json["bounds"]["ideal_ms"].get<double>(), 4, kExact_ms);
  EXPECT_EQ(json["bound_by"], "decode");
  EXPECT_EQ(json["advice"], table_advice(tabulate(sync_and_multistream()), Backend::kCuda));
}

// ---- advice

std::string advice_for(const StageTimes& times, double period_ms, Backend backend = Backend::kCuda) {
  return table_advice(tabulate({run(Mode::kSync, 100, times), run(Mode::kMultistream, period_ms, times)}), backend);
}

TEST(ModeTableAdvice, DecodingWithItsFiguresAndTheRoomForFilters) {
  EXPECT_EQ(advice_for({}, 4),
            "Decoding bounds this machine: 4.00 ms of multistream's 4.00 ms a frame (1.00 times the ideal); the GPU's "
            "kernels are busy 75 %. More or faster cores, or a codec that decodes faster, would help; more GPU filters "
            "cost nothing until kernels reach 4.00 ms.");
}

TEST(ModeTableAdvice, EachOtherStageHasItsOwn) {
  EXPECT_THAT(advice_for({.preprocess = 9}, 13), HasSubstr("Preprocessing on the CPU bounds"));
  EXPECT_THAT(advice_for({.h2d = 9}, 9), HasSubstr("Copying to the GPU (H2D) bounds"));
  EXPECT_THAT(advice_for({.kernels = 9}, 9), HasSubstr("kernels bounds this machine: 9.00 ms of multistream's 9.00"));
  EXPECT_THAT(advice_for({.d2h = 9}, 10), HasSubstr("Copying from the GPU (D2H) bounds this machine: 9.00 ms of "
                                                    "multistream's 10.00 ms a frame (1.11 times the ideal)"));
  EXPECT_THAT(advice_for({.encode = 9}, 9), HasSubstr("Encoding bounds"));
}

TEST(ModeTableAdvice, OnTheCpuNoGpuIsBusy) {
  const StageTimes times{.h2d = 0, .kernels = 9, .d2h = 0};
  const std::string filtering = advice_for(times, 9, Backend::kCpu);
  EXPECT_THAT(filtering, HasSubstr("Filtering bounds this machine: 9.00 ms"));
  EXPECT_THAT(filtering, HasSubstr("A lighter chain, more cores or a GPU would help."));
  EXPECT_THAT(advice_for({.h2d = 0, .kernels = 1, .d2h = 0}, 4, Backend::kCpu), Not(HasSubstr("GPU")));
}

TEST(ModeTableAdvice, TwoStagesWithinATenthAreBothNamed) {
  const std::string advice = advice_for({.kernels = 3.8}, 4);
  EXPECT_THAT(advice, HasSubstr("Two stages bound this machine alike: decoding, 4.00 ms"));
  EXPECT_THAT(advice, HasSubstr("the GPU's work on kernels, 3.80 ms"));
  EXPECT_THAT(advice_for({.kernels = 3.5}, 4), HasSubstr("Decoding bounds"));
}

TEST(ModeTableAdvice, FullCoresAreToldOfWithTheTimeTheyNeed) {
  ModeTable table = tabulate(
      {run(Mode::kSync, 12, {.h2d = 0, .d2h = 0}), run(Mode::kMultistream, 8, {.h2d = 0, .kernels = 6, .d2h = 0})});
  table.modes[1].cpu_ms = 15.2;
  table.cores = 2;
  table.cores_ms = 7.6;
  EXPECT_THAT(
      table_advice(table, Backend::kCpu),
      HasSubstr("The CPU's cores bound this machine: 15.20 ms of CPU time a frame keep 2 cores busy for 7.60 of "
                "multistream's 8.00 ms"));
  table.cores_ms = 7;
  EXPECT_THAT(table_advice(table, Backend::kCpu), Not(HasSubstr("cores bound")));
}

TEST(ModeTableAdvice, ASubmitterThatNeverRestsIsWhatBounds) {
  // 0.5 ms of calls a frame, and a frame leaves every 0.55 ms, though no stage takes more than 0.1.
  const StageTimes small{.decode = 0.05, .h2d = 0.1, .kernels = 0.1, .d2h = 0.1, .encode = 0.05};
  const std::string advice = advice_for(small, 0.55);
  EXPECT_THAT(advice, HasSubstr("Handing work to the device bounds this machine: that takes 0.50 ms of multistream's "
                                "0.55 ms a frame"));
  EXPECT_THAT(advice, HasSubstr("--cuda-graphs on"));
}

TEST(ModeTableAdvice, WhereNothingDominatesItSaysSo) {
  EXPECT_THAT(advice_for({}, 6), HasSubstr("No stage alone bounds this machine: the slowest (decode) takes 4.00 ms of "
                                           "multistream's 6.00 ms a frame (1.50 times the ideal)"));
}

TEST(ModeTableAdvice, OnTheCpuItTellsOfTheCoresThatWereAtWork) {
  ModeTable table = tabulate({run(Mode::kMultistream, 6, {.h2d = 0, .d2h = 0})});
  table.modes[0].cpu_ms = 7.2;
  table.cores = 2;
  table.cores_ms = 3.6;
  EXPECT_THAT(table_advice(table, Backend::kCpu),
              HasSubstr("the rest is hand-overs and waiting, also for cores (1.2 of 2 were at work for it)."));
}

TEST(ModeTableAdvice, OnSharedCoresOnlyWhatWasMeasuredAloneIsCalledSo) {
  ModeTable table = crowded_table();
  share_cores(table, {.kernels_ms = 3});
  EXPECT_THAT(table_advice(table, Backend::kCpu),
              HasSubstr("The CPU's cores alone do not bound this machine: their work fills 5.00 of multistream's 6.00 "
                        "ms a frame. Decoding is under way for 83 % of that time, filtering for 100 %, encoding for "
                        "33 %"));
  table.cores_ms = 5.7;
  EXPECT_THAT(table_advice(table, Backend::kCpu), HasSubstr("for 5.70 of multistream's 6.00 ms; filtering alone takes "
                                                            "3.00 ms. More cores"));
  share_cores(table, {});
  EXPECT_THAT(table_advice(table, Backend::kCpu), HasSubstr("for 5.70 of multistream's 6.00 ms. More cores"));
}

TEST(ModeTableAdvice, SyncAloneIsReferredToTheOtherModes) {
  EXPECT_THAT(table_advice(tabulate({run(Mode::kSync, 12)}), Backend::kCuda), HasSubstr("Other modes overlap them"));
}

}  // namespace
}  // namespace framelane
