#include "app/stats_report.h"

#include <algorithm>

#include "app/report_file.h"
#include "app/version.h"

namespace framelane {
namespace {

using Json = nlohmann::ordered_json;

const char* matrix_name(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBt601:
      return "smpte170m";
    case ColorMatrix::kBt709:
      return "bt709";
    case ColorMatrix::kBt2020:
      return "bt2020nc";
    case ColorMatrix::kSmpte240m:
      return "smpte240m";
    case ColorMatrix::kFcc:
      return "fcc";
  }
  return "unknown";
}

Json output_json(const RunFacts& facts) {
  Json output = format_json(facts.output);
  output["description"] = facts.output_description;
  output["bytes"] = facts.status.output.bytes;
  return output;
}

Json times_json(const TimeStatistics& times) {
  return {{"count", times.count},
          {"mean_ms", times.mean_ms},
          {"median_ms", times.median_ms},
          {"p95_ms", times.p95_ms},
          {"p99_ms", times.p99_ms}};
}

Json stages_json(const RecordSummary& summary) {
  Json stages = Json::object();
  for (const Stage stage : kStages) {
    stages[std::string(stage_name(stage))] = times_json(summary.stages[static_cast<std::size_t>(stage)]);
  }
  return stages;
}

Json busy_json(const RecordSummary& summary) {
  const auto busy = [&](Stage stage) { return summary.busy[static_cast<std::size_t>(stage)]; };
  return {{"h2d", busy(Stage::kH2d)}, {"compute", busy(Stage::kKernels)}, {"d2h", busy(Stage::kD2h)}};
}

/** In the order of kModes. */
Json modes_json(const std::vector<FrameRecord>& records) {
  Json modes = Json::array();
  for (const Mode mode : kModes) {
    if (std::ranges::find(records, mode, &FrameRecord::mode) != records.end()) modes.push_back(mode_name(mode));
  }
  return modes;
}

}  // namespace

nlohmann::ordered_json format_json(const FrameFormat& format) {
  return {{"width", format.width},
          {"height", format.height},
          {"pixel_format", describe(format.pixel)},
          {"matrix", format.pixel.model == ColorModel::kGbr ? "gbr" : matrix_name(format.matrix)},
          {"range", format.range == ColorRange::kFull ? "full" : "limited"}};
}

nlohmann::ordered_json versions_json() {
  Json versions = Json::object();
  for (const ComponentVersion& component : component_versions()) {
    versions[component.name] = {{"built", component.built}, {"running", component.running}};
  }
  return versions;
}

const char* backend_name(Backend backend) { return backend == Backend::kCuda ? "cuda" : "cpu"; }

RunFacts run_facts(const Pipeline& pipeline, const Device& device) {
  RunFacts facts;
  facts.device = device.name();
  facts.backend = device.backend();
  for (const FilterUse& use : pipeline.filters()) facts.filters.push_back(use.text);
  facts.input = pipeline.input_format();
  facts.output = pipeline.output_format();
  facts.output_description = pipeline.output_description();
  facts.status = pipeline.status();
  facts.records = pipeline.recorder().all();
  return facts;
}

nlohmann::ordered_json stats_json(const RunFacts& facts) {
  const RecordSummary summary = summarize(facts.records);
  const PipelineStatus& status = facts.status;
  return {{"framelane", program_version()},
          {"device", facts.device},
          {"backend", backend_name(facts.backend)},
          {"mode", mode_name(status.mode)},
          {"modes_used", modes_json(facts.records)},
          {"slots", status.slots},
          {"filters", facts.filters},
          {"input", format_json(facts.input)},
          {"output", output_json(facts)},
          {"frames",
           {{"in", status.frames_in},
            {"out", status.frames_out},
            {"dropped", status.dropped},
            {"decode_errors", status.damage.decode_errors},
            {"recorded", facts.records.size()}}},
          {"wall_s", summary.wall_s},
          {"fps", summary.fps},
          {"overlap", summary.overlap},
          {"stages", stages_json(summary)},
          {"frame_time", times_json(summary.frame_time)},
          {"latency", times_json(summary.latency)},
          {"device_busy", busy_json(summary)},
          {"versions", versions_json()}};
}

nlohmann::ordered_json stats_json(const Pipeline& pipeline, const Device& device) {
  return stats_json(run_facts(pipeline, device));
}

void write_stats(const std::string& path, const Pipeline& pipeline, const Device& device) {
  write_report(path, json_text(stats_json(pipeline, device)));
}

}  // namespace framelane
