#include "app/compare_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <span>
#include <utility>

#include "app/stats_report.h"
#include "app/version.h"

namespace framelane {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTimelineFrames = 30;

Json block_json(const ComparedBlock& block, Backend backend) {
  Json json{{"rounds", block.rounds}, {"frames_per_round", block.frames_per_round}, {"cuda_graphs", block.cuda_graphs}};
  json.update(table_json(block.table, backend));
  return json;
}

Json facts_json(const CompareFacts& facts) {
  return {{"framelane", program_version()},
          {"command", "compare"},
          {"input", facts.input},
          {"filters", facts.filters},
          {"device", facts.device},
          {"backend", backend_name(facts.backend)},
          {"slots", facts.slots},
          {"input_format", format_json(facts.input_format)},
          {"output_format", format_json(facts.output_format)},
          {"output", facts.output_description}};
}

/** From the middle of the run. */
std::span<const FrameRecord> shown_frames(const std::vector<FrameRecord>& records) {
  const std::size_t shown = std::min(records.size(), kTimelineFrames);
  return std::span(records).subspan((records.size() - shown) / 2, shown);
}

Json timeline_json(const std::vector<FrameRecord>& records) {
  const auto shown = shown_frames(records);
  TimePoint zero = TimePoint::max();
  for (const FrameRecord& record : shown) zero = std::min(zero, record.begin());
  Json timeline = Json::array();
  for (const FrameRecord& record : shown) {
    Json spans = Json::object();
    for (const Stage stage : kStages) {
      const Span& span = record[stage];
      if (!span.happened()) continue;
      spans[std::string(stage_name(stage))] = {milliseconds(span.begin - zero), milliseconds(span.end - zero)};
    }
    timeline.push_back({{"frame", record.frame}, {"slot", record.slot}, {"spans", std::move(spans)}});
  }
  return timeline;
}

Json frame_times_json(const std::vector<FrameRecord>& records) {
  Json times = Json::array();
  for (std::size_t i = 1; i < records.size(); ++i) {
    times.push_back(milliseconds(records[i].left() - records[i - 1].left()));
  }
  return times;
}

Json page_block_json(const ComparedBlock& block, Backend backend) {
  Json json = block_json(block, backend);
  for (const ModeFigures& mode : block.table.modes) {
    Json& target = json["modes"][std::string(mode_name(mode.mode))];
    target["frame_times_ms"] = frame_times_json(mode.records);
    target["timeline"] = timeline_json(mode.records);
  }
  return json;
}

std::string block_text(std::string_view title, const ComparedBlock& block, Backend backend, std::string_view note) {
  return fmt::format("\n{}; {} round{} of {} frame{} a mode{}\n\n{}{}\n{}", title, block.rounds,
                     block.rounds == 1 ? "" : "s", block.frames_per_round, block.frames_per_round == 1 ? "" : "s",
                     block.cuda_graphs ? ", CUDA graphs" : "", table_text(block.table, backend),
                     table_advice(block.table, backend), note);
}

/** Sync mode is not as serial as it looks. */
std::string_view decoder_note(const CompareFacts& facts) {
  if (!facts.decodes_ahead) return "";
  return "(libavcodec's own threads decode ahead in every mode, sync too; --decoder-threads 1 shows it without.)\n";
}

}  // namespace

std::string compare_text(const CompareFacts& facts) {
  std::string text = fmt::format("{} | {} | {} | {}, {} slots\n", facts.input, describe(facts.input_format),
                                 facts.filters.empty() ? "no filter" : fmt::format("{}", fmt::join(facts.filters, ",")),
                                 facts.device, facts.slots);
  text += block_text(fmt::format("End to end: decoded, filtered, to {}", facts.output_description), facts.end_to_end,
                     facts.backend, decoder_note(facts));
  if (facts.transport) {
    text += block_text("Transport and filters alone: frames decoded beforehand, results discarded", *facts.transport,
                       facts.backend, "");
  }
  return text;
}

nlohmann::ordered_json compare_json(const CompareFacts& facts) {
  Json json = facts_json(facts);
  json.update(block_json(facts.end_to_end, facts.backend));
  json["transport"] = facts.transport ? block_json(*facts.transport, facts.backend) : Json();
  json["versions"] = versions_json();
  return json;
}

nlohmann::ordered_json compare_page_json(const CompareFacts& facts, const std::string& date) {
  Json json = facts_json(facts);
  json["date"] = date;
  json["rounds"] = facts.end_to_end.rounds;
  json["frames_per_round"] = facts.end_to_end.frames_per_round;
  json["cuda_graphs"] = facts.end_to_end.cuda_graphs;
  json["versions"] = versions_json();
  json["end_to_end"] = page_block_json(facts.end_to_end, facts.backend);
  if (facts.transport) json["transport"] = page_block_json(*facts.transport, facts.backend);
  return json;
}

std::string report_date() {
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now =
      epoch != nullptr ? static_cast<std::time_t>(std::strtoll(epoch, nullptr, 10)) : std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace framelane
