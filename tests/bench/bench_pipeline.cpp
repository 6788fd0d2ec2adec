// A whole run from a file to "null", beside decoding alone: what the pipeline adds to the decoder's time.
//
//   framelane_bench_pipeline CLIP [CHAIN [DEVICE [ROUNDS]]]
//
// Each round runs decode-only, then sync, async and multistream; rounds are interleaved so that drift of the machine
// falls on all alike. Prints the median fps of each, its spread, and its ratio to decoding alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/errors.h"
#include "pipeline/media_input.h"
#include "pipeline/median.h"
#include "pipeline/pipeline.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/log.h>
}

namespace framelane::bench {
namespace {

struct Result {
  std::string name;
  std::vector<double> fps;
  RecordSummary last;
};

double decode_only(const std::string& clip, const std::shared_ptr<Device>& device) {
  const auto pool = std::make_shared<HostPool>(device);
  MediaInputOptions options;
  options.url = clip;
  MediaInput input(options, pool);
  AvFrame frame = input.read_frame();  // opening is not decoding
  const TimePoint begin = Clock::now();
  std::int64_t frames = 0;
  while ((frame = input.read_frame())) ++frames;
  return static_cast<double>(frames) / (milliseconds(Clock::now() - begin) / 1000);
}

double run_pipeline(const std::string& clip, const std::string& chain, const std::shared_ptr<Device>& device, Mode mode,
                    RecordSummary& summary) {
  PipelineOptions options;
  options.input.url = clip;
  options.output.url = "null";
  options.filters = parse_filter_chain(chain);
  options.device = device;
  options.mode = mode;
  Pipeline pipeline(std::move(options));
  const TimePoint begin = Clock::now();
  pipeline.start();
  while (!pipeline.wait_for(std::chrono::seconds(1))) {
  }
  const double seconds = milliseconds(Clock::now() - begin) / 1000;
  pipeline.finish();
  summary = summarize(pipeline.recorder().all());
  return static_cast<double>(pipeline.status().frames_out) / seconds;
}

void print(const std::vector<Result>& results) {
  const double decode_fps = median(results.front().fps);
  fmt::print("{:<12}{:>9}{:>9}{:>9}{:>10}", "mode", "fps", "min", "max", "/decode");
  for (const Stage stage : kStages) fmt::print("{:>11}", stage_name(stage));
  fmt::print("{:>9}{:>9}{:>9}  (stages: mean ms; busy: h2d, kernels, d2h)\n", "h2d", "kernels", "d2h");
  for (const Result& result : results) {
    const auto [least, most] = std::ranges::minmax_element(result.fps);
    const double fps = median(result.fps);
    fmt::print("{:<12}{:>9.1f}{:>9.1f}{:>9.1f}{:>10.3f}", result.name, fps, *least, *most, fps / decode_fps);
    for (const TimeStatistics& stage : result.last.stages) fmt::print("{:>11.3f}", stage.mean_ms);
    for (const Stage stage : {Stage::kH2d, Stage::kKernels, Stage::kD2h}) {
      fmt::print("{:>9.3f}", result.last.busy[static_cast<std::size_t>(stage)]);
    }
    fmt::print("\n");
  }
}

}  // namespace

int run(const std::string& clip, const std::string& chain, const std::string& device_choice, int rounds) {
  const std::shared_ptr<Device> device = create_device(device_choice);
  std::vector<Result> results{{"decode only", {}, {}}};
  for (const Mode mode : kModes) results.push_back({std::string(mode_name(mode)), {}, {}});
  for (int round = 0; round < rounds; ++round) {
    results[0].fps.push_back(decode_only(clip, device));
    for (std::size_t i = 0; i < kModes.size(); ++i) {
      Result& result = results[i + 1];
      result.fps.push_back(run_pipeline(clip, chain, device, kModes[i], result.last));
    }
  }
  fmt::print("{} through '{}' on {}, median of {} rounds\n", clip, chain, device->name(), rounds);
  print(results);
  return 0;
}

}  // namespace framelane::bench

int main(int argc, char** argv) {
  const auto argument = [&](int index, const char* otherwise) { return argc > index ? argv[index] : otherwise; };
  if (argc < 2) {
    fmt::print(stderr, "usage: framelane_bench_pipeline CLIP [CHAIN [DEVICE [ROUNDS]]]\n");
    return 2;
  }
  av_log_set_level(AV_LOG_ERROR);
  try {
    return framelane::bench::run(argv[1], argument(2, "gblur=sigma=2,eq=contrast=1.1"), argument(3, "auto"),
                                 std::max(1, std::atoi(argument(4, "5"))));
  } catch (const framelane::Error& error) {
    fmt::print(stderr, "framelane_bench_pipeline: {}\n", error.what());
    return error.exit_code();
  }
}
