#include "app/run_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/device_choice.h"
#include "app/keys.h"
#include "app/overlay.h"
#include "app/pipeline_stop.h"
#include "app/preview_window.h"
#include "app/progress.h"
#include "app/report_file.h"
#include "app/signals.h"
#include "app/stats_report.h"
#include "app/trace_report.h"
#include "app/tuned_run.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

using std::chrono::milliseconds;

/** False in a build without SDL2: `if constexpr` keeps calls into preview_window.cpp out of it. */
constexpr bool kHasPreview = FRAMELANE_HAS_SDL != 0;

void check_standard_streams(const PipelineOptions& run) {
  if (run.input.url == "-" && isatty(STDIN_FILENO) == 1) {
    throw UsageError("input -: standard input is a terminal; pipe a file into it");
  }
  if (run.output.url == "-" && isatty(STDOUT_FILENO) == 1) {
    throw UsageError("output -: standard output is a terminal; pipe it into a program or a file");
  }
}

bool stdout_reader_has_gone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

/** What the program uses of a preview window; empty functions where there is none. */
struct Preview {
  std::function<void(const AVFrame&)> show;
  std::function<std::vector<char>()> pump;
  std::function<void()> toggle_fullscreen;
};

Preview open_preview(const RunOptions& options) {
  Preview preview;
  if constexpr (kHasPreview) {
    try {
      const auto window = std::make_shared<PreviewWindow>("framelane: " + options.pipeline.input.url);
      preview.show = [window](const AVFrame& frame) { window->show(frame); };
      preview.pump = [window] { return window->pump(); };
      preview.toggle_fullscreen = [window] { window->toggle_fullscreen(); };
    } catch (const Error& error) {
      if (options.preview_only) throw;
      spdlog::warn("{}: going on without a preview", error.what());
    }
  } else {
    throw UsageError("--preview: this build has no preview window (it was built without SDL2)");
  }
  return preview;
}

/** `tuned`: whether stored settings are used. */
PipelineOptions pipeline_options(const RunOptions& options, bool& tuned) {
  PipelineOptions run = options.pipeline;
  run.filters = parse_filter_chain(options.chain);
  run.device = create_device(options.device);
  tuned = options.tuned && use_tuned_settings(run, options).has_value();
  return run;
}

/** One run. Members in the order in which they need each other. */
class Session {
 public:
  Session(const RunOptions& options, Console& console)
      : options_(options),
        run_(pipeline_options(options, tuned_)),
        overlay_(controls_, run_.device->name()),
        pipeline_(run_, hooks()),
        progress_(pipeline_, *run_.device, console, options.progress, run_.frame_limit) {}

  int run();

 private:
  PipelineHooks hooks();
  void tell_start() const;
  void tell_end() const;
  void finish();
  void follow_signals();
  void follow_keys();
  void act(const KeyBinding& binding, char key);
  void toggle_filter(std::size_t index);

  const RunOptions& options_;
  bool tuned_ = false;
  PipelineOptions run_;
  OverlayControls controls_;
  Overlay overlay_;
  Preview preview_;
  Pipeline pipeline_;
  PipelineStop stop_{pipeline_};
  Progress progress_;
  std::optional<TerminalKeys> keys_;
};

/** Filled in once all members are there: the encoder thread calls them after start(). */
PipelineHooks Session::hooks() {
  controls_.hud = options_.hud;
  PipelineHooks hooks;
  hooks.decorate = [this](const FinishedFrame& frame) {
    if (controls_.hud || controls_.compare_original) overlay_.draw(frame, pipeline_);
  };
  if (options_.preview) {
    hooks.observe = [this](const AVFrame& frame) {
      if (preview_.show) preview_.show(frame);
    };
  }
  return hooks;
}

int Session::run() {
  if (stop_signal() != 0) return exit_status_of_stop();
  if (options_.preview) preview_ = open_preview(options_);
  if (options_.keys && !pipeline_.input().is_stdin()) keys_.emplace();
  tell_start();
  pipeline_.start();
  const milliseconds period(preview_.pump ? 8 : 50);  // a window is redrawn as often as a screen is
  while (!pipeline_.wait_for(period)) {
    follow_signals();
    follow_keys();
    progress_.update();
  }
  finish();
  tell_end();
  if (!options_.stats.empty()) write_stats(options_.stats, pipeline_, *run_.device);
  if (!options_.trace.empty()) {
    write_trace(options_.trace, {{"", pipeline_.recorder().all()}}, {run_.device->name(), options_.chain});
  }
  return exit_status_of_stop();
}

void Session::finish() {
  keys_.reset();
  try {
    pipeline_.finish();
  } catch (const OutputError&) {
    progress_.finish();
    if (run_.output.url == "-" && stdout_reader_has_gone()) throw ClosedPipe();
    throw;
  } catch (...) {
    progress_.finish();
    throw;
  }
  progress_.finish();
}

void Session::tell_start() const {
  warn_of_environment(*run_.device);
  warn_of_missing_graphs(run_.cuda_graphs, *run_.device);
  spdlog::info("{} | {} | {}, {} slots{} | {} > {}", device_text(options_.device, *run_.device),
               options_.chain.empty() ? "no filter" : options_.chain, mode_name(run_.mode), pipeline_.status().slots,
               tuned_ ? " (tuned)" : "", describe(pipeline_.input_format()), pipeline_.output_description());
}

void Session::tell_end() const {
  const ProgressFacts facts = progress_.facts();
  const PipelineStatus status = pipeline_.status();
  if (status.damage.decode_errors > 0) {
    spdlog::warn("{}: {} damaged packets or frames", run_.input.url, status.damage.decode_errors);
  }
  const std::string stopped = stop_signal() == 0 ? "" : fmt::format("stopped by {}: ", signal_name(stop_signal()));
  spdlog::info("{}{} frames in {:.2f} s, {:.1f} fps, {} dropped", stopped, facts.frames, facts.elapsed_s,
               facts.elapsed_s > 0 ? static_cast<double>(facts.frames) / facts.elapsed_s : 0.0, facts.dropped);
}

void Session::follow_signals() {
  if (stop_signal() != 0) stop_.ask();
  stop_.follow_up();
}

void Session::follow_keys() {
  std::vector<char> typed = keys_ ? keys_->poll() : std::vector<char>{};
  if (preview_.pump) {
    const std::vector<char> in_window = preview_.pump();
    typed.insert(typed.end(), in_window.begin(), in_window.end());
  }
  for (const char key : typed) {
    if (const KeyBinding* binding = find_key(key)) act(*binding, key);
  }
}

void Session::act(const KeyBinding& binding, char key) {
  switch (binding.action) {
    case KeyAction::kFinish:
      return stop_.ask();
    case KeyAction::kHelp:
      for (const KeyBinding& each : key_bindings()) spdlog::info("{:<9} {}", each.shown, each.help);
      return;
    case KeyAction::kPause:
      return pipeline_.set_paused(!pipeline_.status().paused && !stop_.asked());
    case KeyAction::kStep:
      pipeline_.set_paused(!stop_.asked());
      return pipeline_.step();
    case KeyAction::kFullScreen:
      if (preview_.toggle_fullscreen) preview_.toggle_fullscreen();
      return;
    case KeyAction::kOverlay:
      controls_.hud = !controls_.hud;
      return;
    case KeyAction::kCompare:
      controls_.compare_original = !controls_.compare_original;
      return;
    case KeyAction::kSync:
      return pipeline_.set_mode(Mode::kSync);
    case KeyAction::kAsync:
      return pipeline_.set_mode(Mode::kAsync);
    case KeyAction::kMultistream:
      return pipeline_.set_mode(Mode::kMultistream);
    case KeyAction::kToggleFilter:
      return toggle_filter(static_cast<std::size_t>(key - '1'));
  }
}

void Session::toggle_filter(std::size_t index) {
  const std::vector<FilterUse>& filters = pipeline_.filters();
  if (!pipeline_.toggle_filter(index)) {
    spdlog::info("filter {} cannot be switched: {}", index + 1,
                 index < filters.size() ? filters[index].text + " changes the frame's size"
                                        : fmt::format("the chain has {}", filters.size()));
    return;
  }
  const bool on = (pipeline_.status().filters_on >> index & 1) != 0;
  spdlog::info("filter {} {}: {}", index + 1, on ? "on" : "off", filters[index].text);
}

}  // namespace

int run_media(const RunOptions& options, Console& console) {
  check_standard_streams(options.pipeline);
  check_reports({{"--stats", options.stats}, {"--trace", options.trace}, {"--progress", options.progress}},
                options.pipeline.input.url, options.pipeline.output.url);
  install_signal_handlers();
  std::optional<Session> session;
  {
    const EndSoonOnSignal opening;
    session.emplace(options, console);
  }
  return session->run();
}

}  // namespace framelane
