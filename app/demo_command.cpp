#include "app/demo_command.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "app/compare_command.h"
#include "app/overlay.h"
#include "app/signals.h"
#include "app/stats_report.h"
#include "kernels/errors.h"
#include "pipeline/pipeline.h"

namespace framelane {
namespace {

constexpr const char* kChain = "gblur=sigma=3,unsharp=la=1.5,eq=contrast=1.1:saturation=1.3";
constexpr int kRate = 30;

std::string source_url(int seconds) {
  return fmt::format("lavfi:testsrc2=size=1280x720:rate={}:duration={}", kRate, seconds);
}

std::string demo_file(const DemoOptions& options, const std::string& name) {
  return (std::filesystem::path(options.output_dir) / name).string();
}

/** Writes a video and its statistics; returns the video's file. */
std::string run_mode(const DemoOptions& options, Mode mode, const std::shared_ptr<Device>& device) {
  const std::string file = demo_file(options, fmt::format("demo-{}.mp4", mode_name(mode)));
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
  return file;
}

/** The same video without overlay and encoder, all modes in turns: a table on standard output, and the page. */
int compare_modes(const DemoOptions& options, const std::string& page, const std::string& timeline, Console& console) {
  constexpr int kRounds = 3;
  CompareOptions compare;
  compare.input.url = source_url(options.seconds);
  compare.output.url = "null";
  compare.chain = kChain;
  compare.device = options.device;
  compare.rounds = kRounds;
  compare.report = page;
  compare.trace = timeline;
  return run_compare(compare, console);
}

}  // namespace

int run_demo(const DemoOptions& options, Console& console) {
  std::error_code error;
  std::filesystem::create_directories(options.output_dir, error);
  if (error) throw OutputError(fmt::format("{}: {}", options.output_dir, error.message()));
  const std::shared_ptr<Device> device = create_device(options.device);
  fmt::print(stderr, "framelane demo: {} s of video in each of {} modes on {}\n", options.seconds, kModes.size(),
             device->name());
  std::vector<std::string> videos;
  install_signal_handlers();
  for (const Mode mode : kModes) {
    videos.push_back(run_mode(options, mode, device));
    if (stop_signal() != 0) return exit_status_of_stop();
  }
  const std::string page = demo_file(options, "demo-compare.html");
  const std::string timeline = demo_file(options, "demo-trace.json");
  if (const int status = compare_modes(options, page, timeline, console); status != 0) return status;
  std::string files = "\nFiles:\n";
  for (const std::string& video : videos) files += fmt::format("  {}  (statistics beside it)\n", video);
  files += fmt::format("  {}  the table, with each mode's timeline, for a browser\n", page);
  files += fmt::format("  {}  timelines for https://ui.perfetto.dev\n", timeline);
  write_stdout(files);
  return 0;
}

}  // namespace framelane
