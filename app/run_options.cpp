#include "app/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <utility>

#include "app/log.h"
#include "app/measure_options.h"
#include "app/option_values.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

constexpr const char* kLevels = "quiet|panic|fatal|error|warning|info|verbose|debug|trace";
constexpr const char* kModeNames = "sync|async|multistream";

void declare_filtering(Declarations& declare, ParsedValues& values) {
  PipelineOptions& pipeline = values.run.pipeline;
  declare.group("Filtering");
  declare_chain(declare, values.chains);
  declare_device(declare, values.run.device);
  declare
      .value(
          "--mode", kModeNames, [&](const std::string& text) { pipeline.mode = parse_mode(text); },
          "what overlaps (multistream)")
      ->envname("FRAMELANE_MODE");
  declare_slots(declare, pipeline.slots);
  declare_cuda_graphs(declare, pipeline.cuda_graphs);
  declare.flag("--tuned", values.run.tuned, "what 'framelane tune' found: mode, slots, decoder threads, graphs");
  declare.values(
      "--switch-at", "N:MODE",
      [&](const std::string& text) {
        const auto [frame, mode] = parse_switch(text);
        pipeline.switch_at.insert_or_assign(frame, mode);
      },
      "from frame N on, that mode");
  declare.value(
      "--on-full", "block|drop-oldest|drop-newest",
      [&](const std::string& text) { pipeline.on_full = parse_on_full(text); },
      "when frames wait (files block, live input drops)");
}

}  // namespace

void declare_input(Declarations& declare, std::vector<std::string>& inputs, MediaInputOptions& input) {
  declare.group("Input");
  declare
      .values(
          "-i,--input", "INPUT", [&](const std::string& text) { inputs.push_back(text); }, "")
      ->description("file, URL, - (stdin), camera, /dev/videoN or lavfi:GRAPH");
  declare.text("--input-format", "FORMAT", input.format, "FFmpeg's demuxer by name (probed)");
  declare.values(
      "--demuxer-opt", "KEY=VALUE",
      [&](const std::string& text) { input.demuxer_options.insert(parse_key_value(text)); },
      "option of the demuxer, such as video_size=640x480");
  declare.value(
      "--start", "TIME", [&](const std::string& text) { input.start_s = parse_seconds(text); },
      "begin there: 90, 1:30, 00:01:30.5");
  declare.value(
      "--duration", "TIME", [&](const std::string& text) { input.duration_s = parse_duration(text); },
      "end after that much");
  declare.value(
      "--decoder-threads", "N",
      [&](const std::string& text) { input.decoder_threads = static_cast<int>(parse_integer(text, 0, 1024)); },
      "threads of the decoder (0: one a core)");
}

void declare_output(Declarations& declare, ParsedValues& values, MediaOutputOptions& output) {
  declare.group("Output");
  declare.text("-o,--output", "FILE", output.url, "file, image pattern, URL, - (stdout, with --format) or null");
  declare.text("--format", "FORMAT", output.format, "FFmpeg's muxer by name (from the file's name)");
  declare.text("--video-codec", "CODEC", output.video_codec, "FFmpeg's encoder by name (libx264 where it fits)");
  declare.value(
      "--crf", "NUMBER", [&](const std::string& text) { output.crf = parse_number(text, 0, 63); },
      "constant quality, lower is better (20)");
  declare.text("--preset", "NAME", output.preset, "the encoder's speed (veryfast)");
  declare.value(
      "--bitrate", "RATE", [&](const std::string& text) { output.bitrate = parse_bitrate(text); },
      "bits a second in place of --crf: 2500k, 5M");
  declare.values(
      "--encoder-opt", "KEY=VALUE",
      [&](const std::string& text) { output.encoder_options.insert(parse_key_value(text)); },
      "option of the encoder, such as tune=film");
  declare.values(
      "--muxer-opt", "KEY=VALUE", [&](const std::string& text) { output.muxer_options.insert(parse_key_value(text)); },
      "option of the muxer, such as movflags=+faststart");
  declare.value(
      "--encoder-threads", "N",
      [&](const std::string& text) { output.encoder_threads = static_cast<int>(parse_integer(text, 0, 1024)); },
      "threads of the encoder (0: its own choice)");
  declare.flag("-y,--overwrite", values.overwrite, "replace an existing output");
  declare.flag("-n,--no-overwrite", values.keep, "never replace it (what happens anyway)");
}

std::string take_input(const ParsedValues& values, const std::string& usage) {
  if (values.inputs.empty()) throw UsageError(fmt::format("no input: {}", usage));
  if (values.inputs.size() > 1) {
    throw UsageError(fmt::format("two inputs, '{}' and '{}': framelane takes one", values.inputs[0], values.inputs[1]));
  }
  return values.inputs.front();
}

Overwrite take_overwrite(const ParsedValues& values) {
  if (values.overwrite && values.keep) throw UsageError("-y and -n contradict each other");
  return values.overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
}

void declare_console(Declarations& declare, ParsedValues& values) {
  declare.group("What you see");
  declare
      .value(
          "-v,--log-level", kLevels, [&](const std::string& text) { values.console.level = parse_log_level(text); },
          "how much is told on stderr (info)")
      ->envname("FRAMELANE_LOG_LEVEL");
  declare.flag("--quiet", values.quiet, "errors only, no progress");
  declare.value(
      "--color", "auto|always|never", [&](const std::string& text) { values.console.color = parse_color(text); },
      "coloured labels (auto)");
}

void declare_run(CLI::App& command, ParsedValues& values) {
  Declarations declare(command);
  PipelineOptions& pipeline = values.run.pipeline;
  declare_input(declare, values.inputs, pipeline.input);
  declare.flag("--realtime", pipeline.input.realtime, "play a file at its own speed");
  declare_output(declare, values, pipeline.output);
  declare.value(
      "--frames", "N",
      [&](const std::string& text) { pipeline.frame_limit = parse_integer(text, 1, std::int64_t{1} << 53); },
      "end after that many frames");
  declare_filtering(declare, values);
  declare_console(declare, values);
  declare.flag("--hud", values.run.hud, "draw the overlay: times of each stage, fps, mode");
  declare.flag("--preview", values.run.preview, "show the frames in a window, too");
  declare.flag("--no-keys", values.no_keys, "do not read keys from the terminal");
  declare.text("--stats", "FILE", values.run.stats,
               "write times and totals as JSON, over an existing file (- for stdout)");
  declare.text("--trace", "FILE", values.run.trace,
               "write a timeline of the last 65,536 frames for Perfetto, over an existing file (- for stdout)");
  declare.text("--progress", "FILE", values.run.progress,
               "write ffmpeg's -progress keys, over an existing file (- for stdout)");
  command.final_callback([&command, &values] {
    const auto given = [&](const char* option) { return command.get_option(option)->count() > 0; };
    values.run.given = {given("--mode"), given("--slots"), given("--decoder-threads"), given("--cuda-graphs")};
  });
}

RunOptions finish_run(ParsedValues& values) {
  RunOptions run = std::move(values.run);
  if (values.inputs.size() == 2 && run.pipeline.output.url.empty()) {
    throw UsageError(
        fmt::format("two inputs, '{}' and '{}': the output is named with -o", values.inputs[0], values.inputs[1]));
  }
  run.pipeline.input.url = take_input(values, "framelane run INPUT -o OUTPUT (framelane run --help has examples)");
  if (run.pipeline.output.url.empty()) {
    if (!run.preview) throw UsageError("no output: name one with -o (a file, - or null)");
    run.pipeline.output.url = "null";
    run.preview_only = true;
  }
  run.keys = !values.no_keys;
  run.pipeline.output.overwrite = take_overwrite(values);
  run.chain = join_chains(values.chains);
  return run;
}

}  // namespace framelane
