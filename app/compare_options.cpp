#include "app/compare_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "app/measure_options.h"
#include "app/run_options.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

/** Without an encoder, its settings would change nothing. */
void check_encoder_settings(const MediaOutputOptions& output) {
  if (output.url != "null") return;
  const auto refuse = [](const char* option) {
    throw UsageError(fmt::format("{}: nothing is encoded without -o FILE", option));
  };
  if (!output.video_codec.empty()) refuse("--video-codec");
  if (output.crf) refuse("--crf");
  if (!output.preset.empty()) refuse("--preset");
  if (output.bitrate) refuse("--bitrate");
  if (!output.encoder_options.empty()) refuse("--encoder-opt");
  if (!output.muxer_options.empty()) refuse("--muxer-opt");
  if (output.encoder_threads != 0) refuse("--encoder-threads");
}

}  // namespace

void declare_compare(CLI::App& command, ParsedValues& values) {
  Declarations declare(command);
  CompareOptions& compare = values.compare;
  declare_input(declare, values.inputs, compare.input);
  declare_output(declare, values, compare.output);
  command.get_option("--output")->description("file that each run writes: encoding is compared, too (null)");
  declare.group("Comparison");
  declare_chain(declare, values.chains);
  declare_device(declare, compare.device);
  declare_modes(declare, compare.modes);
  declare_slots(declare, compare.slots);
  declare_cuda_graphs(declare, compare.cuda_graphs);
  declare_rounds(declare, compare.rounds);
  declare_frames_a_round(declare, compare.frames);
  declare_console(declare, values);
  declare_json(declare, compare.json);
  declare.text("--report", "FILE", compare.report,
               "write a page for a browser: table, bars, timelines (HTML), over an existing file (- for stdout)");
  declare.text("--trace", "FILE", compare.trace,
               "write the last round's timelines for Perfetto, over an existing file (- for stdout)");
}

CompareOptions finish_compare(ParsedValues& values) {
  CompareOptions compare = std::move(values.compare);
  compare.input.url = take_input(values, "framelane compare INPUT (framelane compare --help has examples)");
  if (compare.output.url.empty()) compare.output.url = "null";
  check_encoder_settings(compare.output);
  if (compare.output.url == "-") throw UsageError("-o -: the table goes to standard output; name a file, or null");
  compare.output.overwrite = take_overwrite(values);
  compare.chain = join_chains(std::move(values.chains));
  return compare;
}

}  // namespace framelane
