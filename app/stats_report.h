// --stats: what a run was and how it went, as JSON for scripts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/report_file.h"
#include "kernels/filter.h"
#include "kernels/frame.h"
#include "pipeline/device.h"
#include "pipeline/pipeline.h"
#include "pipeline/recorder.h"

namespace framelane {

/** width, height, pixel_format, matrix, range. */
nlohmann::ordered_json format_json(const FrameFormat& format);
/** versions.NAME.{built,running}. */
nlohmann::ordered_json versions_json();
/** "cuda" or "cpu". */
const char* backend_name(Backend backend);

/** What the report is made of. */
struct RunFacts {
  std::string device;
  Backend backend = Backend::kCpu;
  std::vector<std::string> filters;  ///< as the user wrote them
  FrameFormat input;
  FrameFormat output;
  std::string output_description;
  PipelineStatus status;
  std::vector<FrameRecord> records;
};
RunFacts run_facts(const Pipeline& pipeline, const Device& device);

/** One object; units are in the names, times in milliseconds unless they end in _s:
 *    framelane, device, backend, mode, modes_used, slots, filters
 *    input, output         width, height, pixel_format, matrix, range; output also description and bytes
 *    frames                in, out, dropped, decode_errors, recorded
 *    wall_s, fps, overlap  over the recorded frames; overlap is the sum of stage times / wall_s
 *    stages.NAME           count, mean_ms, median_ms, p95_ms, p99_ms; all six, count 0 where one did not happen
 *    frame_time, latency   the same keys
 *    device_busy           h2d, compute, d2h: union of their spans / wall_s, 0 to 1
 *    versions.NAME         built, running
 *  Of runs longer than the recorder's capacity the last frames are `recorded`. */
nlohmann::ordered_json stats_json(const RunFacts& facts);
nlohmann::ordered_json stats_json(const Pipeline& pipeline, const Device& device);

/** Writes stats_json() to a file, which it replaces, or to standard output ("-"). Throws OutputError. */
void write_stats(const std::string& path, const Pipeline& pipeline, const Device& device);

}  // namespace framelane
