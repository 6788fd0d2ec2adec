#include "app/compare_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

#include "app/compare_report.h"
#include "app/compare_runs.h"
#include "app/device_choice.h"
#include "app/report_file.h"
#include "app/report_html.h"
#include "app/signals.h"
#include "app/stats_report.h"
#include "app/trace_report.h"
#include "app/tuned_settings.h"
#include "kernels/errors.h"
#include "kernels/filter_chain.h"

namespace framelane {
namespace {

/** Before anything runs: what could not be told, or not be run again, ends here. */
void check(const CompareOptions& options) {
  check_reports({{"--json", options.json}, {"--report", options.report}, {"--trace", options.trace}}, options.input.url,
                options.output.url);
  check_output_target(options.output, options.input.url);
  if (!can_be_reopened(options.input)) {
    throw UsageError(
        fmt::format("{}: compare reads its input again for each run, and this one comes only once; "
                    "compare a file of it",
                    options.input.url));
  }
}

CompareSetup setup_of(const CompareOptions& options, Console& console) {
  CompareSetup setup;
  setup.pipeline.input = options.input;
  setup.pipeline.output = options.output;
  setup.pipeline.output.overwrite = Overwrite::kAllow;
  setup.pipeline.filters = parse_filter_chain(options.chain);
  setup.pipeline.device = create_device(options.device);
  setup.pipeline.slots = options.slots;
  setup.pipeline.cuda_graphs = options.cuda_graphs;
  setup.modes = options.modes;
  setup.rounds = options.rounds;
  setup.frames = options.frames;
  if (console.has_status_line() && console.options().progress) {
    setup.progress = [&console](const std::string& what) { console.set_status(what); };
  }
  setup.stop = [] { return stop_signal() != 0; };
  return setup;
}

ComparedBlock figures_of(const CompareBlock& block) {
  return {tabulate(block.runs), block.rounds, block.plan.counted, block.cuda_graphs};
}

/** A lavfi graph makes its frames in the thread that asks for them. */
bool decodes_ahead(const MediaInputOptions& input) {
  return input.decoder_threads != 1 && !input.url.starts_with("lavfi:") && input.format != "lavfi";
}

/** Filters on the CPU have its cores to themselves in transport's runs only. */
void correct_for_cores(CompareFacts& facts, const CompareOptions& options) {
  if (facts.backend != Backend::kCpu) return;
  CoresAlone known;
  if (facts.transport) known.kernels_ms = facts.transport->table.alone_ms[static_cast<std::size_t>(Stage::kKernels)];
  known.sync_decodes_alone = !facts.decodes_ahead && options.output.url == "null";  // encoders have threads, too
  share_cores(facts.end_to_end.table, known);
}

/** Why the figures are no steady ones, and what would help. */
std::string too_short_text(const CompareOptions& options, const FramePlan& plan) {
  if (plan.tail == 0) {
    return fmt::format("{}: too short for a steady figure: {} frame{} counted", options.input.url, plan.counted,
                       plan.counted == 1 ? " is" : "s are");
  }
  if (options.frames == plan.counted) {
    return fmt::format("--frames {}: too few for a steady figure: give {} or more", plan.counted, kSteadyFrames);
  }
  return fmt::format(
      "too few frames for a steady figure, because each takes so long: {} are counted; --frames {} "
      "takes more",
      plan.counted, kSteadyFrames);
}

CompareFacts facts_of(const CompareSetup& setup, const EndToEnd& end_to_end) {
  CompareFacts facts;
  facts.input = setup.pipeline.input.url;
  for (const FilterUse& use : setup.pipeline.filters) facts.filters.push_back(use.text);
  facts.device = setup.pipeline.device->name();
  facts.backend = setup.pipeline.device->backend();
  facts.slots = end_to_end.slots;
  facts.decodes_ahead = decodes_ahead(setup.pipeline.input);
  facts.input_format = end_to_end.input_format;
  facts.output_format = end_to_end.output_format;
  facts.output_description = end_to_end.output_description;
  facts.end_to_end = figures_of(end_to_end);
  return facts;
}

void write_timelines(const CompareOptions& options, const CompareFacts& facts) {
  std::vector<TraceRun> runs;
  for (const ModeFigures& mode : facts.end_to_end.table.modes) {
    runs.push_back({std::string(mode_name(mode.mode)), mode.records});
  }
  write_trace(options.trace, runs, {facts.device, options.chain});
}

void write_reports(const CompareOptions& options, const CompareFacts& facts) {
  if (!options.json.empty()) write_report(options.json, json_text(compare_json(facts)));
  if (!options.report.empty()) write_report(options.report, report_html(compare_page_json(facts, report_date())));
  if (!options.trace.empty()) write_timelines(options, facts);
}

void tell_start(const CompareOptions& options, const CompareSetup& setup) {
  warn_of_environment(*setup.pipeline.device);
  warn_of_missing_graphs(options.cuda_graphs, *setup.pipeline.device);
  spdlog::info("{} | {} | rounds: {}", device_text(options.device, *setup.pipeline.device),
               options.chain.empty() ? "no filter" : options.chain, setup.rounds);
}

}  // namespace

int run_compare(const CompareOptions& options, Console& console) {
  check(options);
  install_signal_handlers();
  const CompareSetup setup = setup_of(options, console);
  tell_start(options, setup);
  const EndToEnd end_to_end = compare_end_to_end(setup);
  if (end_to_end.rounds == 0) return exit_status_of_stop();
  if (end_to_end.too_short) spdlog::warn("{}", too_short_text(options, end_to_end.plan));
  CompareFacts facts = facts_of(setup, end_to_end);
  if (stop_signal() == 0) {
    const CompareBlock transport = compare_transport(setup, end_to_end.input_format);
    if (transport.rounds > 0) facts.transport = figures_of(transport);
  }
  correct_for_cores(facts, options);
  if (setup.progress) console.set_status("");
  const bool stdout_taken =
      is_standard_output(options.json) || is_standard_output(options.report) || is_standard_output(options.trace);
  if (!stdout_taken) write_stdout(compare_text(facts));
  write_reports(options, facts);
  return exit_status_of_stop();
}

}  // namespace framelane
