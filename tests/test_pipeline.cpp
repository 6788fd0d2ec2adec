// The whole way of a frame, in every mode, on every device of this machine.
#include "pipeline/pipeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "kernels/errors.h"
#include "pipeline/device_simulated.h"
#include "tests/plane_fixture.h"
#include "tests/stamped_clip.h"

namespace framelane::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/** "simulated": with memory of its own and slow copies, so that whatever does not wait for its copy shows. */
std::vector<std::string> device_ids() {
  std::vector<std::string> ids{"cpu", "simulated"};
  if (cuda_unavailable_reason().empty()) ids.emplace_back("cuda");
  return ids;
}

std::shared_ptr<Device> device_of(const std::string& id) {
  constexpr double kBytesPerSecond = 150e6;  // a frame of these tests: 0.6 ms
  if (id != "simulated") return create_device(id);
  return create_simulated_device({kBytesPerSecond, kBytesPerSecond, kBytesPerSecond, kBytesPerSecond});
}

struct Case {
  std::string device;
  Mode mode;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.device << " " << mode_name(value.mode); }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& device : device_ids()) {
    for (const Mode mode : kModes) cases.push_back({device, mode});
  }
  return cases;
}

class PipelineTest : public ::testing::TestWithParam<Case> {
 protected:
  PipelineOptions options(const std::string& input, const std::string& output, const std::string& filters = "") {
    PipelineOptions result;
    result.input.url = input;
    result.output.url = output;
    result.filters = parse_filter_chain(filters);
    result.device = device_of(GetParam().device);
    result.mode = GetParam().mode;
    return result;
  }
  static void run(Pipeline& pipeline) {
    pipeline.start();
    ASSERT_TRUE(pipeline.wait_for(std::chrono::minutes(5)));
    pipeline.finish();
  }

  TemporaryFolder folder;
};

std::vector<int> numbers(const std::vector<Stamp>& stamps) {
  std::vector<int> result;
  for (const Stamp& stamp : stamps) result.push_back(stamp.number);
  return result;
}

std::vector<int> counted(int frames) {
  std::vector<int> result;
  for (int i = 0; i < frames; ++i) result.push_back(i);
  return result;
}

/** A hash of every sample of a frame, padding left out. */
std::size_t hash_of(const FrameView& frame) {
  std::size_t hash = 0;
  for (int plane = 0; plane < frame.format.pixel.plane_count(); ++plane) {
    for (int y = 0; y < frame.planes[plane].height; ++y) {
      const std::string_view row(frame.planes[plane].row<char>(y), frame.format.row_bytes(plane));
      hash = hash * 31 + std::hash<std::string_view>{}(row);
    }
  }
  return hash;
}

TEST_P(PipelineTest, KeepsEveryFrameThroughModeSwitchesAndUnevenStreams) {
  constexpr int kFrames = 300;
  make_stamped_clip(folder.file("in.mp4"), kFrames);
  PipelineOptions run_options =
      options(folder.file("in.mp4"), folder.file("out.mkv"), "gblur=sigma=0.7,eq=contrast=1.05");
  std::mt19937 random(7);
  for (int frame = 7; frame < kFrames; frame += 7) run_options.switch_at[frame] = kModes[random() % kModes.size()];
  std::vector<int> delays_us(kFrames);
  for (int& delay : delays_us) delay = static_cast<int>(random() % 6000);
  run_options.stream_delay = [&](std::int64_t frame) {
    return microseconds(delays_us[static_cast<std::size_t>(frame)]);
  };
  Pipeline pipeline(std::move(run_options));
  run(pipeline);

  const std::vector<Stamp> before = read_stamps(folder.file("in.mp4"));
  const std::vector<Stamp> after = read_stamps(folder.file("out.mkv"));
  ASSERT_EQ(numbers(after), counted(kFrames));
  for (std::size_t i = 0; i < after.size(); ++i) ASSERT_NEAR(after[i].pts_s, before[i].pts_s, 0.001) << i;
  EXPECT_EQ(run_command("ffprobe -v error -show_entries stream=width,height -of csv=p=0 " + folder.file("out.mkv")),
            "320,240\n");
  EXPECT_EQ(pipeline.status().dropped, 0);
}

TEST_P(PipelineTest, DrainsClipsShorterThanTheRing) {
  for (const int frames : {1, 2, 3, 5, 9}) {
    const std::string in = folder.file(fmt::format("in{}.mp4", frames));
    const std::string out = folder.file(fmt::format("out{}.mkv", frames));
    make_stamped_clip(in, frames, 64, 48);
    Pipeline pipeline(options(in, out));
    run(pipeline);
    EXPECT_EQ(numbers(read_stamps(out)), counted(frames));
  }
}

TEST_P(PipelineTest, GivesTheSamePixelsAsSyncMode) {
  make_stamped_clip(folder.file("in.mp4"), 60, 322, 182);
  const auto hashes = [&](Mode mode, bool uneven) {
    PipelineOptions run_options =
        options(folder.file("in.mp4"), "null", "hqdn3d,gblur=sigma=1.5,eq=gamma=1.2,tmix=frames=3,hflip");
    run_options.mode = mode;
    if (uneven) run_options.stream_delay = [](std::int64_t frame) { return microseconds(frame % 4 * 1500); };
    std::vector<std::size_t> result;
    PipelineHooks hooks;
    hooks.decorate = [&](const FinishedFrame& frame) { result.push_back(hash_of(frame.picture)); };
    Pipeline pipeline(std::move(run_options), std::move(hooks));
    run(pipeline);
    return result;
  };
  const std::vector<std::size_t> reference = hashes(Mode::kSync, false);
  EXPECT_EQ(reference.size(), 60U);
  EXPECT_GT(std::set<std::size_t>(reference.begin(), reference.end()).size(), 50U);
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(hashes(GetParam().mode, true), reference);
}

TEST_P(PipelineTest, GraphsGiveTheSamePixelsAndTimesInOrder) {
  if (GetParam().device != "cuda" || GetParam().mode == Mode::kSync) GTEST_SKIP() << "no graphs there";
  make_stamped_clip(folder.file("in.mp4"), 90, 322, 182);
  const auto hashes = [&](CudaGraphs graphs) {
    // Passes come and go: each change of them is captured anew.
    PipelineOptions run_options = options(folder.file("in.mp4"), "null",
                                          "gblur=sigma=1.5:enable='lt(mod(n,20),10)',eq=gamma=1.2,scale=200:100,"
                                          "unsharp=la=1:enable='lt(mod(n,30),15)',hflip");
    run_options.cuda_graphs = graphs;
    std::vector<std::size_t> result;
    PipelineHooks hooks;
    hooks.decorate = [&](const FinishedFrame& frame) { result.push_back(hash_of(frame.picture)); };
    Pipeline pipeline(std::move(run_options), std::move(hooks));
    EXPECT_EQ(pipeline.uses_cuda_graphs(), graphs == CudaGraphs::kOn);
    run(pipeline);
    for (const FrameRecord& record : pipeline.recorder().all()) {
      EXPECT_GT(record[Stage::kH2d].end, record[Stage::kH2d].begin) << record.frame;
      EXPECT_GE(record[Stage::kKernels].begin, record[Stage::kH2d].end) << record.frame;
      EXPECT_GT(record[Stage::kD2h].end, record[Stage::kKernels].end) << record.frame;
      EXPECT_GE(record[Stage::kH2d].begin + microseconds(200), record[Stage::kPreprocess].end) << record.frame;
    }
    return result;
  };
  const std::vector<std::size_t> without = hashes(CudaGraphs::kOff);
  EXPECT_GT(std::set<std::size_t>(without.begin(), without.end()).size(), 60U);
  EXPECT_EQ(hashes(CudaGraphs::kOn), without);
}

TEST_P(PipelineTest, AllocatesNothingInSteadyState) {
  make_stamped_clip(folder.file("in.mp4"), 300);
  PipelineOptions run_options = options(folder.file("in.mp4"), folder.file("out.mkv"), "gblur=sigma=2,unsharp,tmix");
  const std::shared_ptr<Device> device = run_options.device;
  AllocationCounts early;
  AllocationCounts late;
  int frames = 0;
  PipelineHooks hooks;
  hooks.observe = [&](const AVFrame&) {
    if (++frames == 150) early = device->allocations();
    if (frames == 299) late = device->allocations();
  };
  Pipeline pipeline(std::move(run_options), std::move(hooks));
  run(pipeline);
  EXPECT_EQ(frames, 300);
  EXPECT_GT(early.pinned + early.device, 0);
  EXPECT_EQ(early.device, late.device);
  EXPECT_EQ(early.pinned, late.pinned);
}

TEST_P(PipelineTest, StopLeavesAFileWithTheFramesOut) {
  make_stamped_clip(folder.file("in.mp4"), 300);
  PipelineOptions run_options = options(folder.file("in.mp4"), folder.file("out.mp4"));
  PipelineHooks hooks;
  Pipeline* running = nullptr;
  int frames = 0;
  hooks.observe = [&](const AVFrame&) {
    if (++frames == 40) running->request_stop();
  };
  Pipeline pipeline(std::move(run_options), std::move(hooks));
  running = &pipeline;
  run(pipeline);
  const std::vector<int> out = numbers(read_stamps(folder.file("out.mp4")));
  EXPECT_GE(out.size(), 40U);
  EXPECT_LT(out.size(), 300U);
  EXPECT_EQ(out, counted(static_cast<int>(pipeline.status().frames_out)));
  EXPECT_EQ(pipeline.status().frames_in, pipeline.status().frames_out);
}

TEST_P(PipelineTest, TellsTheFirstErrorOfAnyStage) {
  make_stamped_clip(folder.file("in.mp4"), 100, 64, 48);
  PipelineHooks hooks;
  int frames = 0;
  hooks.decorate = [&](const FinishedFrame&) {
    if (++frames == 20) throw OutputError("the disk is full");
  };
  Pipeline pipeline(options(folder.file("in.mp4"), folder.file("out.mp4")), std::move(hooks));
  pipeline.start();
  ASSERT_TRUE(pipeline.wait_for(std::chrono::minutes(1)));
  EXPECT_THROW(
      {
        try {
          pipeline.finish();
        } catch (const OutputError& error) {
          EXPECT_STREQ(error.what(), "the disk is full");
          throw;
        }
      },
      OutputError);
}

TEST_P(PipelineTest, TogglesFiltersWithoutLosingFrames) {
  make_stamped_clip(folder.file("in.mp4"), 200, 64, 48);
  PipelineHooks hooks;
  Pipeline* running = nullptr;
  int frames = 0;
  hooks.observe = [&](const AVFrame&) {
    if (++frames % 11 == 0) running->toggle_filter(static_cast<std::size_t>(frames) % 3);
  };
  Pipeline pipeline(
      options(folder.file("in.mp4"), folder.file("out.mkv"), "eq=contrast=1.2,gblur=sigma=0.5,eq=gamma=1.1"),
      std::move(hooks));
  running = &pipeline;
  EXPECT_FALSE(pipeline.toggle_filter(3));
  run(pipeline);
  EXPECT_EQ(numbers(read_stamps(folder.file("out.mkv"))), counted(200));
}

TEST_P(PipelineTest, PauseHoldsAndStepLetsOneFramePass) {
  make_stamped_clip(folder.file("in.mp4"), 50, 64, 48);
  std::atomic<int> frames{0};
  PipelineHooks hooks;
  hooks.observe = [&](const AVFrame&) { ++frames; };
  Pipeline pipeline(options(folder.file("in.mp4"), "null"), std::move(hooks));
  pipeline.set_paused(true);
  pipeline.start();
  EXPECT_FALSE(pipeline.wait_for(milliseconds(100)));
  EXPECT_EQ(frames, 0);
  pipeline.step();
  pipeline.step();
  EXPECT_FALSE(pipeline.wait_for(milliseconds(200)));
  EXPECT_EQ(frames, 2);
  pipeline.set_paused(false);
  ASSERT_TRUE(pipeline.wait_for(std::chrono::minutes(1)));
  pipeline.finish();
  EXPECT_EQ(frames, 50);
}

TEST_P(PipelineTest, DropsTheOldestWhenTold) {
  make_stamped_clip(folder.file("in.mp4"), 120, 64, 48);
  PipelineOptions run_options = options(folder.file("in.mp4"), folder.file("out.mkv"));
  run_options.on_full = OnFull::kDropOldest;
  run_options.slots = 3;
  PipelineHooks hooks;
  hooks.observe = [](const AVFrame&) { std::this_thread::sleep_for(milliseconds(5)); };
  Pipeline pipeline(std::move(run_options), std::move(hooks));
  run(pipeline);
  const std::vector<int> out = numbers(read_stamps(folder.file("out.mkv")));
  const PipelineStatus status = pipeline.status();
  EXPECT_EQ(status.frames_in, 120);
  EXPECT_EQ(status.frames_out + status.dropped, 120);
  EXPECT_EQ(static_cast<std::int64_t>(out.size()), status.frames_out);
  EXPECT_TRUE(std::ranges::is_sorted(out));
  EXPECT_EQ(std::set<int>(out.begin(), out.end()).size(), out.size());
  ASSERT_FALSE(out.empty());
  EXPECT_EQ(out.back(), 119) << "the newest frame counts";
  if (GetParam().mode != Mode::kSync) {
    EXPECT_GT(status.dropped, 0);
  }
}

TEST_P(PipelineTest, LiveSourceThatIsFasterThanTheEncoderLosesFramesAndKeepsTheNewest) {
  if (GetParam().mode == Mode::kSync)
    GTEST_SKIP() << "sync mode takes one frame at a time on any device: no ring fills";
  make_stamped_clip(folder.file("in.mp4"), 50, 64, 48);  // a frame each 40 ms
  PipelineOptions run_options = options(folder.file("in.mp4"), "null");
  run_options.input.realtime = true;
  run_options.on_full = OnFull::kDropOldest;
  run_options.slots = 3;
  std::vector<std::int64_t> out;
  PipelineHooks hooks;
  hooks.decorate = [&](const FinishedFrame& frame) {
    out.push_back(frame.record.frame);
    std::this_thread::sleep_for(milliseconds(160));
  };
  Pipeline pipeline(std::move(run_options), std::move(hooks));
  run(pipeline);
  EXPECT_GE(pipeline.status().dropped, 20) << "three of four come too fast";
  EXPECT_EQ(pipeline.status().dropped + static_cast<std::int64_t>(out.size()), 50);
  EXPECT_TRUE(std::ranges::is_sorted(out));
  EXPECT_EQ(out.back(), 49);
}

TEST_P(PipelineTest, ErrorWithTemporalWorkInFlightEndsCleanly) {
  make_stamped_clip(folder.file("in.mp4"), 30, 64, 48);
  PipelineOptions run_options = options(folder.file("in.mp4"), "null", "tmix=frames=5,hqdn3d");
  run_options.stream_delay = [](std::int64_t) { return milliseconds(20); };
  PipelineHooks hooks;
  hooks.observe = [](const AVFrame&) { throw OutputError("no more"); };
  Pipeline pipeline(std::move(run_options), std::move(hooks));
  pipeline.start();
  ASSERT_TRUE(pipeline.wait_for(std::chrono::minutes(1)));
  EXPECT_THROW(pipeline.finish(), OutputError);
}

TEST_P(PipelineTest, RecordsEveryStageInOrder) {
  make_stamped_clip(folder.file("in.mp4"), 40);
  Pipeline pipeline(options(folder.file("in.mp4"), folder.file("out.mkv"), "gblur=sigma=2"));
  run(pipeline);
  const std::vector<FrameRecord> records = pipeline.recorder().all();
  ASSERT_EQ(records.size(), 40U);
  const bool copies = GetParam().device != "cpu";
  for (const FrameRecord& record : records) {
    TimePoint previous_end{};
    for (const Stage stage : kStages) {
      const bool is_copy = stage == Stage::kH2d || stage == Stage::kD2h;
      ASSERT_EQ(record[stage].happened(), copies || !is_copy) << stage_name(stage);
      if (!record[stage].happened()) continue;
      EXPECT_LE(record[stage].begin, record[stage].end) << stage_name(stage) << " of " << record.frame;
      // Event times and host times meet within the clock's calibration.
      EXPECT_GE(record[stage].begin + microseconds(200), previous_end) << stage_name(stage) << " of " << record.frame;
      previous_end = record[stage].end;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DevicesAndModes, PipelineTest, ::testing::ValuesIn(all_cases()), [](const auto& test) {
  return test.param.device + "_" + std::string(mode_name(test.param.mode));
});

TEST(Overlap, MultistreamHidesTimeThatSyncAndAsyncPay) {
  TemporaryFolder folder;
  make_stamped_clip(folder.file("in.mp4"), 60, 64, 48);
  const auto fps = [&](Mode mode) {
    PipelineOptions options;
    options.input.url = folder.file("in.mp4");
    options.output.url = "null";
    options.device = create_cpu_device();
    options.mode = mode;
    options.slots = 6;
    options.stream_delay = [](std::int64_t) { return milliseconds(10); };
    Pipeline pipeline(std::move(options));
    pipeline.start();
    EXPECT_TRUE(pipeline.wait_for(std::chrono::minutes(1)));
    pipeline.finish();
    return summarize(pipeline.recorder().all()).fps;
  };
  // Sleeping takes no core, so the ideal is six frames at a time; half of that leaves room for a busy machine.
  EXPECT_GT(fps(Mode::kMultistream), 3 * fps(Mode::kSync));
  EXPECT_GT(fps(Mode::kMultistream), 3 * fps(Mode::kAsync));
}

}  // namespace
}  // namespace framelane::testing
