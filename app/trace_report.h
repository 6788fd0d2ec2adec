// --trace: which thread, stream and engine did what for which frame, and when, in Chrome's trace format ("Trace Event
// Format"), which https://ui.perfetto.dev and chrome://tracing open.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recorder.h"

namespace framelane {

/** One run, or one mode's of a comparison. */
struct TraceRun {
  /** Stands before the names of this run's processes ("sync: host") and makes its flows its own; empty where there is
   *  one run, else different from the other runs'. */
  std::string name;
  std::vector<FrameRecord> records;  ///< as the recorder gave them; frame numbers are unique
};

/** What was run, for the file's `otherData`. */
struct TraceFacts {
  std::string device;   ///< Device::name()
  std::string filters;  ///< as the user wrote them
};

/** Takes the text piece by piece: 65,536 frames are over a hundred megabytes. */
using TextSink = std::function<void(std::string_view)>;

/** Writes one object, an event a line. Times are microseconds, exact to the nanosecond, and 0 is where the first span
 * of all runs begins. Each run has processes of its own, with a track (a thread of the format) for each thing that does
 * one piece of work at a time: host         decoder (decode, preprocess), submitter (submit), encoder (encode); counter
 * of the ring's slots in use streams      sync, async stream, stream of slot N: h2d, kernels, d2h as the frame's stream
 * ran them GPU engines H2D, compute, D2H: the same spans by engine CPU filters  in place of these two where nothing was
 * copied: streams, with the spans of kernels Slices are named as their stages; their args are frame, mode, slot and
 * pts_s. A flow with the frame's number as its id goes through decode, the engines' (CPU: the streams') slices, and
 * encode. Spans of no length are left out: of an engine's span the recorder may have cut everything. */
void write_trace_json(const TextSink& sink, const std::vector<TraceRun>& runs, const TraceFacts& facts);

/** The same into a file, which it replaces, or to standard output ("-"). Throws OutputError. */
void write_trace(const std::string& path, const std::vector<TraceRun>& runs, const TraceFacts& facts);

}  // namespace framelane
