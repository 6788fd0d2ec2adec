#include "app/demo_command.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "app/overlay.h"
#include "app/signals.h"
#include "app/stats_report.h"
#include "kernels/errors.h"
#include "pipeline/pipeline.h"

namespace framelane {
namespace {

constexpr const char* kChain = "gblur=sigma=3,unsharp=la=1.5,eq=contrast=1.1:saturation=1.3";
constexpr int kRate = 30;

struct ModeResult {
  Mode mode;
  std::string file;
  RecordSummary summary;
};

std::string source_url(int seconds) {
  return fmt::format("lavfi:testsrc2=size=1280x720:rate={}:duration={}", kRate, seconds);
}

ModeResult run_mode(const DemoOptions& options, Mode mode, const std::shared_ptr<Device>& device) {
  const std::string file =
      (std::filesystem::path(options.output_dir) / fmt::format("demo-{}.mp4", mode_name(mode))).string();
  PipelineOptions run;
  run.input.url = source_url(options.seconds);
  run.output.url = file;
  run.output.overwrite = Overwrite::kAllow;
  run.filters = parse_filter_chain(kChain);
  run.device = device;
  run.mode = mode;

  OverlayControls controls;
  controls.hud = true;
  Overlay overlay(controls, device->name());
  Pipeline* pipeline_in_hook = nullptr;
  PipelineHooks hooks;
  hooks.decorate = [&](const FinishedFrame& frame) { overlay.draw(frame, *pipeline_in_hook); };
  Pipeline pipeline(std::move(run), std::move(hooks));
  pipeline_in_hook = &pipeline;

  const bool terminal = isatty(fileno(stderr)) != 0;
  pipeline.start();
  while (!pipeline.wait_for(std::chrono::milliseconds(200))) {
    if (stop_signal() != 0) pipeline.request_stop();
    if (!terminal) continue;
    fmt::print(stderr, "\r{:<12} {:3.0f} %", mode_name(mode),
               100.0 * static_cast<double>(pipeline.status().frames_out) / (options.seconds * kRate));
  }
  pipeline.finish();
  if (terminal) fmt::print(stderr, "\r\033[K");
  write_stats(std::filesystem::path(file).replace_extension(".json").string(), pipeline, *device);
  return {mode, file, summarize(pipeline.recorder().all())};
}

void print_table(const std::vector<ModeResult>& results, const Device& device) {
  fmt::print("\nThe same {} frames of 1280x720 through {}\non {}, ms a frame:\n\n",
             results.front().summary.stages[0].count, kChain, device.name());
  fmt::print("{:<12}", "mode");
  for (const Stage stage : kStages) fmt::print("{:>11}", stage_name(stage));
  fmt::print("{:>12}{:>8}{:>9}\n", "frame time", "fps", "speed-up");
  const double sync_fps = results.front().summary.fps;
  for (const ModeResult& result : results) {
    const RecordSummary& summary = result.summary;
    fmt::print("{:<12}", mode_name(result.mode));
    for (const TimeStatistics& stage : summary.stages) {
      fmt::print("{:>11}", stage.count == 0 ? "-" : fmt::format("{:.2f}", stage.mean_ms));
    }
    fmt::print("{:>12.2f}{:>8.1f}{:>8.2f}x\n", 1000 / summary.fps, summary.fps, summary.fps / sync_fps);
  }
}

}  // namespace

int run_demo(const DemoOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.output_dir, error);
  if (error) throw OutputError(fmt::format("{}: {}", options.output_dir, error.message()));
  const std::shared_ptr<Device> device = create_device(options.device);
  fmt::print(stderr, "framelane demo: {} s of video in each of {} modes on {}\n", options.seconds, kModes.size(),
             device->name());
  std::vector<ModeResult> results;
  install_signal_handlers();
  for (const Mode mode : kModes) {
    results.push_back(run_mode(options, mode, device));
    if (stop_signal() != 0) return 128 + stop_signal();
  }
  print_table(results, *device);
  fmt::print("\nFiles, with the overlay drawn on them, and their statistics:\n");
  for (const ModeResult& result : results) fmt::print("  {}\n", result.file);
  return 0;
}

}  // namespace framelane
