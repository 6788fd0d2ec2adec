// Transport and filters alone: kept frames through ring and device, in every mode.
#include "pipeline/transport.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/errors.h"
#include "pipeline/device_simulated.h"
#include "tests/stamped_clip.h"

namespace framelane::testing {
namespace {

using std::chrono::milliseconds;

std::vector<std::shared_ptr<Device>> devices() {
  std::vector<std::shared_ptr<Device>> all{create_cpu_device(), create_simulated_device({50e6, 50e6, 50e6, 50e6})};
  if (cuda_unavailable_reason().empty()) all.push_back(create_device("cuda"));
  return all;
}

FrameFormat small_format() {
  FrameFormat format;
  format.width = 130;
  format.height = 70;
  return format;
}

TEST(Transport, SendsEveryFrameInOrderInEveryMode) {
  for (const auto& device : devices()) {
    const KeptFrames kept = KeptFrames::synthetic(device, small_format(), 5);
    EXPECT_EQ(kept.count(), 5);
    for (const Mode mode : kModes) {
      TransportOptions options;
      options.device = device;
      options.filters = parse_filter_chain("gblur=sigma=1,eq=contrast=1.1");
      options.mode = mode;
      options.slots = 3;
      options.frames = 47;
      const TransportResult result = run_transport(kept, options);
      ASSERT_EQ(result.records.size(), 47U) << device->name() << " " << mode_name(mode);
      EXPECT_EQ(result.slots, 3);
      for (std::size_t i = 0; i < result.records.size(); ++i) {
        EXPECT_EQ(result.records[i].frame, static_cast<std::int64_t>(i));
        EXPECT_EQ(result.records[i].mode, mode);
        EXPECT_TRUE(result.records[i][Stage::kKernels].happened());
      }
    }
  }
}

TEST(Transport, KeepsTheFirstFramesOfAnInput) {
  const TemporaryFolder folder;
  make_stamped_clip(folder.file("in.mp4"), 12, 64, 48);
  MediaInputOptions input;
  input.url = folder.file("in.mp4");
  EXPECT_EQ(KeptFrames::decoded(create_cpu_device(), input, 5).count(), 5);
  const KeptFrames all = KeptFrames::decoded(create_cpu_device(), input, 100);
  EXPECT_EQ(all.count(), 12);
  EXPECT_EQ(all.format().width, 64);
  EXPECT_EQ(all.format().height, 48);
  input.url = folder.file("missing.mp4");
  EXPECT_THROW(KeptFrames::decoded(create_cpu_device(), input, 5), InputError);
}

TEST(Transport, SimulatedWorkTakesItsTime) {
  const auto device = create_cpu_device();
  TransportOptions options;
  options.device = device;
  options.mode = Mode::kSync;
  options.frames = 5;
  options.work = {milliseconds(3), milliseconds(7)};
  const TransportResult result = run_transport(KeptFrames::synthetic(device, small_format(), 2), options);
  for (const FrameRecord& record : result.records) {
    EXPECT_GE(record[Stage::kPreprocess].ms(), 3);
    EXPECT_GE(record[Stage::kKernels].ms(), 7);
  }
}

TEST(Transport, StopsWhenAsked) {
  const auto device = create_cpu_device();
  TransportOptions options;
  options.device = device;
  options.frames = 1'000'000'000;
  const TransportResult result =
      run_transport(KeptFrames::synthetic(device, small_format(), 2), options, [] { return true; });
  EXPECT_GT(result.records.size(), 0U);
}

TEST(Transport, TellsWhatIsWrongWithTheChain) {
  const auto device = create_cpu_device();
  TransportOptions options;
  options.device = device;
  options.filters = parse_filter_chain("crop=1000:1000");
  options.frames = 1;
  EXPECT_THROW(run_transport(KeptFrames::synthetic(device, small_format(), 1), options), UsageError);
}

}  // namespace
}  // namespace framelane::testing
