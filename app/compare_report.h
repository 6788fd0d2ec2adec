// What `framelane compare` found: as text, as JSON, and as the data of its page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/mode_table.h"
#include "kernels/frame.h"
#include "pipeline/device.h"

namespace framelane {

/** One way to run all modes, in figures. */
struct ComparedBlock {
  ModeTable table;
  int rounds = 0;
  std::int64_t frames_per_round = 0;  ///< counted, of each mode
  bool cuda_graphs = false;
};

struct CompareFacts {
  std::string input;
  std::vector<std::string> filters;  ///< as the user wrote them
  std::string device;
  Backend backend = Backend::kCpu;
  int slots = 0;
  bool decodes_ahead = false;  ///< libavcodec's threads do, while other stages work
  FrameFormat input_format;
  FrameFormat output_format;
  std::string output_description;
  ComparedBlock end_to_end;
  std::optional<ComparedBlock> transport;  ///< nothing where a stop came before its first round was whole
};

/** Both tables, and a sentence under each. */
std::string compare_text(const CompareFacts& facts);

/** One object, as README documents it:
 *    framelane, input, filters, device, backend, slots, cuda_graphs, input_format, output_format, output
 *    rounds, frames_per_round
 *    modes, bounds, bound_by, advice   end to end: see table_json()
 *    transport                         rounds, frames_per_round, cuda_graphs, and the same four; or null
 *    versions */
nlohmann::ordered_json compare_json(const CompareFacts& facts);

/** What report_html() takes. `date`: ISO 8601. */
nlohmann::ordered_json compare_page_json(const CompareFacts& facts, const std::string& date);

/** Now, or SOURCE_DATE_EPOCH, in ISO 8601 (UTC). */
std::string report_date();

}  // namespace framelane
