// --report: what a comparison found, as a page to look at and to pass on.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace framelane {

/** One self-contained HTML page (no network, its style, script and data inline) that shows `report`: a table of the
 *  modes, their stages as bars, their frame times and a timeline of each. Any thread. Text that is not UTF-8 is
 *  replaced by U+FFFD; markup in names is shown as it stands, never run.
 *
 *  `report`, times in ms; what is missing is left out of the page:
 *    framelane, command, date      version, "compare", ISO 8601
 *    input, filters                the input's name; the filters as the user wrote them
 *    input_format, output_format   width, height, pixel_format, matrix, range
 *    device, backend               "NVIDIA H200 (cuda:0)"; "cuda" or "cpu"
 *    output                        where the frames went
 *    slots                         of the frame ring
 *    rounds, frames_per_round, cuda_graphs   of both blocks; a block's own come first
 *    versions.NAME                 built, running
 *    end_to_end, transport         BLOCK each
 *  BLOCK:
 *    modes.NAME                    sync, async, multistream: any of them, in this order; MODE each
 *    bounds                        serial_ms, ideal_ms (cores_ms where that is more); cores_ms: CPU time over all cores
 *    bound_by, advice              the slowest stage's name; one sentence
 *    rounds, frames_per_round, cuda_graphs
 *  MODE:
 *    frame_ms, fps, cpu_ms         a frame
 *    speedup, speedup_min, _max    over sync, and its spread over the rounds
 *    overlap                       stages at once, mean
 *    stages.STAGE_ms               decode, preprocess, h2d, kernels, d2h, encode; 0 where one did not happen
 *    busy                          h2d, compute, d2h: 0 to 1
 *    frame_times_ms                one a frame of the last round
 *    timeline                      [{frame, slot, spans: {STAGE: [begin, end]}}], from the first begin of them all; a
 *                                  stage that did not happen is absent; several frames' kernels may overlap (CPU) */
std::string report_html(const nlohmann::ordered_json& report);

}  // namespace framelane
