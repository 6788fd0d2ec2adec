// What `framelane bench` found, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/bench_filters.h"
#include "app/bench_runs.h"
#include "app/bench_shape.h"
#include "pipeline/device.h"

namespace framelane {

/** What all measurements have in common. */
struct BenchFacts {
  std::string device;
  Backend backend = Backend::kCpu;
  std::vector<std::string> filters;  ///< as the user wrote them
  int rounds = 0;
};

/** What --shape measured. */
struct BenchedShape {
  BenchShape shape;
  FrameFormat format;
  CopyBytes bytes;
  std::optional<CopyTimes> copies;
  std::vector<BenchCase> cases;
};

/** A heading, the ceilings, a row for each mode and depth of the ring, and what binds. */
std::string frames_text(const BenchFacts& facts, const BenchFrames& frames);
/** A row for each mode beside what the shape allows and what the textbook has. */
std::string shape_text(const BenchFacts& facts, const BenchedShape& shape);

/** One object, as README documents it:
 *    framelane, command, device, backend, rounds, filters, versions
 *    cases[]     size, format, slots, cuda_graphs, modes, bounds, bound_by, advice (see table_json()), ceilings; where
 *                there is one case, its fields stand beside `cases`, too
 *    modes.MODE  also frames (counted in a round), frame_ms_min, frame_ms_max, cuda_graphs, h2d_gbps and d2h_gbps
 * (null: nothing is copied), and ratio: the binding ceiling / frame_ms ceilings    h2d_gbps, d2h_gbps, two_way_gbps,
 * h2d_ms, d2h_ms, copy_ms (both ways at once; all null: nothing is copied), kernels_ms, binding ("copies" or
 * "kernels"), ratio (of the fastest mode) */
nlohmann::ordered_json frames_json(const BenchFacts& facts, const std::vector<BenchFrames>& all);
/** The same with `shape` and without ceilings:
 *    shape       preprocess_ms, h2d_ms, kernels_ms, d2h_ms, serial_ms, one_stream_ms, textbook_overlap_ms, limit_ms,
 *                simulated, h2d_bytes, d2h_bytes, measured_h2d_ms, measured_d2h_ms (null: simulated)
 *    modes.MODE  also expected_ms; ratio is the limit / frame_ms */
nlohmann::ordered_json shape_json(const BenchFacts& facts, const BenchedShape& shape);
/** The same head, and `kernels`: see filter_bench_json(). */
nlohmann::ordered_json filters_json(const BenchFacts& facts, const std::vector<FilterBenchRow>& rows);

}  // namespace framelane
