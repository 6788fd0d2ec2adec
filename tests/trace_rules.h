// What makes a file a good Chrome trace: the rules of the "Trace Event Format" document for the phases that we write
// (X, M, C, s, t, f), and what Perfetto asks beyond them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace framelane::testing {

/** Every breach of a rule, one sentence each; empty for a good trace. The rules:
 *    file       an object with the array traceEvents; displayTimeUnit, where given, is "ms" or "ns"
 *    events     objects with a string ph of a known phase, a name, and an integer pid
 *    X s t f    integer tid, string cat, ts a number >= 0; X also dur, a number >= 0
 *    M          a known name, with the args and the tid that belong to it, once a process or thread
 *    C          ts; args that are numbers
 *    names      every process and thread with events has a name; a tid belongs to one process
 *    slices     of one thread nest or are disjoint, also for a reader that cuts times to whole nanoseconds
 *    flows      cat, name and id have one s and one f, with any t between them in time; f has "bp": "e"; each event
 * lies in a slice of its thread */
std::vector<std::string> trace_breaches(const nlohmann::json& trace);

/** Pairs of slices that overlap, nested or not, on one track of a process whose name ends with "GPU engines". */
std::vector<std::string> engine_overlaps(const nlohmann::json& trace);

/** Events of a phase, in the order of the file. */
std::vector<nlohmann::json> events_of(const nlohmann::json& trace, const std::string& phase);

/** "host/decoder": names of the process and the thread that an event belongs to. */
std::string track_of(const nlohmann::json& trace, const nlohmann::json& event);

}  // namespace framelane::testing
