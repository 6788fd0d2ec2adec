#include "app/compare_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <memory>
#include <utility>

#include "app/compare_report.h"
#include "app/compare_runs.h"
#include "app/device_choice.h"
#include "app/report_html.h"
#include "app/signals.h"
#include "app/stats_report.h"
#include "app/trace_report.h"
#include "app/tuned_settings.h"
#include "kernels/errors.h"
#include "kernels/filter_chain.h"

namespace framelane {
namespace {

struct Target {
  const char* option;
  const std::string& file;
};

std::array<Target, 3> targets(const CompareOptions& options) {
  return {Target{"--json", options.json}, Target{"--report", options.report}, Target{"--trace", options.trace}};
}

/** Before anything runs: what could not be told, or not be run again, ends here. */
void check(const CompareOptions& options) {
  const auto all = targets(options);
  for (std::size_t i = 0; i < all.size(); ++i) {
    check_report(all[i].option, all[i].file, options.input.url, options.output.url);
    for (std::size_t other = 0; other < i; ++other) {
      if (all[i].file.empty() || all[i].file != all[other].file) continue;
      throw UsageError(fmt::format("{} {}: that is where {} goes", all[i].option, all[i].file, all[other].option));
    }
  }
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

CompareFacts facts_of(const CompareSetup& setup, const EndToEnd& end_to_end) {
  CompareFacts facts;
  facts.input = setup.pipeline.input.url;
  for (const FilterUse& use : setup.pipeline.filters) facts.filters.push_back(use.text);
  facts.device = setup.pipeline.device->name();
  facts.backend = setup.pipeline.device->backend();
  facts.slots = end_to_end.slots;
  facts.decoder_threads = setup.pipeline.input.decoder_threads;
  facts.input_format = end_to_end.input_format;
  facts.output_format = end_to_end.output_format;
  facts.output_description = end_to_end.output_description;
  facts.end_to_end = figures_of(end_to_end);
  return facts;
}

std::string json_text(const nlohmann::ordered_json& json) {
  // Names and paths may hold any bytes; what is not UTF-8 is replaced.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
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
  spdlog::info("{} | {} | rounds: {}", device_text(options.device, *setup.pipeline.device),
               options.chain.empty() ? "no filter" : options.chain, setup.rounds);
}

int exit_status() { return stop_signal() == 0 ? 0 : 128 + stop_signal(); }

}  // namespace

int run_compare(const CompareOptions& options, Console& console) {
  check(options);
  install_signal_handlers();
  const CompareSetup setup = setup_of(options, console);
  tell_start(options, setup);
  const EndToEnd end_to_end = compare_end_to_end(setup);
  if (end_to_end.rounds == 0) return exit_status();
  if (end_to_end.too_short) {
    spdlog::warn("{}: too short for a steady figure: {} frames are counted", options.input.url,
                 end_to_end.plan.counted);
  }
  CompareFacts facts = facts_of(setup, end_to_end);
  if (stop_signal() == 0) {
    const CompareBlock transport = compare_transport(setup, end_to_end.input_format);
    if (transport.rounds > 0) facts.transport = figures_of(transport);
  }
  if (setup.progress) console.set_status("");
  const bool stdout_taken = options.json == "-" || options.report == "-" || options.trace == "-";
  if (!stdout_taken) write_stdout(compare_text(facts));
  write_reports(options, facts);
  return exit_status();
}

}  // namespace framelane
