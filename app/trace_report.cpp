#include "app/trace_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "app/report_file.h"
#include "app/version.h"

namespace framelane {
namespace {

using Json = nlohmann::ordered_json;

/** Readers turn microseconds back into whole nanoseconds, some by rounding and some by cutting (older releases of
 *  Perfetto): the value is one of which both make the same, so that slices that touch do not overlap by a nanosecond.
 */
double microseconds(Clock::duration duration) {
  const std::int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  const double us = static_cast<double>(ns) / 1000;
  return static_cast<std::int64_t>(us * 1000) < ns ? std::nextafter(us, std::numeric_limits<double>::max()) : us;
}

/** The comma-separated list of events. */
class EventLines {
 public:
  explicit EventLines(const TextSink& sink) : sink_(sink) {}

  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    line_ = first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(line_), format, std::forward<Values>(values)...);
    sink_(line_);
  }

 private:
  const TextSink& sink_;
  std::string line_;
  bool first_ = true;
};

/** A row of the timeline. Some readers know threads by their tid alone, so a tid belongs to one process. */
struct Track {
  int pid = 0;
  int tid = 0;
};

struct Slice {
  std::string_view name;
  std::string_view category;
  Span span;
  Track track;
  bool tied = false;  ///< the frame's flow goes through it
};

/** Writes one run. Processes have the numbers `first_pid` to `first_pid` + 2. */
class RunWriter {
 public:
  static constexpr int kProcesses = 3;

  RunWriter(EventLines& lines, const TraceRun& run, int first_pid, TimePoint origin)
      : lines_(lines),
        run_(run),
        flow_name_(json_line(prefixed("frame"))),
        host_pid_(first_pid),
        streams_pid_(first_pid + 1),
        engines_pid_(first_pid + 2),
        origin_(origin),
        copied_(std::ranges::any_of(run.records, [](const auto& record) { return record[Stage::kH2d].happened(); })) {}

  void write() {
    name_tracks();
    for (const FrameRecord& record : run_.records) write_frame(record);
    if (!run_.records.empty()) write_ring(run_.records.back().left(), 0);
  }

 private:
  static constexpr int kTracks = 100;  // of a process: two streams and one a slot, of which there are 64 at most

  std::string prefixed(std::string_view name) const {
    return run_.name.empty() ? std::string(name) : fmt::format("{}: {}", run_.name, name);
  }
  static Track track(int pid, int index) { return {pid, pid * kTracks + 1 + index}; }
  static int stream_index(const FrameRecord& record) {
    return record.mode == Mode::kSync ? 0 : record.mode == Mode::kAsync ? 1 : 2 + record.slot;
  }
  static std::string stream_name(int index) {
    return index == 0 ? "sync" : index == 1 ? "async stream" : fmt::format("stream of slot {}", index - 2);
  }
  double time(TimePoint point) const { return microseconds(point - origin_); }

  void name_tracks();
  void name_process(int pid, std::string_view name);
  void name_track(int pid, int index, std::string_view name);
  void write_frame(const FrameRecord& record);
  std::span<const Slice> slices_of(const FrameRecord& record);
  Span cut_to_stream(Span span, Track track);
  void write_flow(std::int64_t frame, std::span<const Slice> slices);
  void write_ring(TimePoint point, int slots_in_use);

  EventLines& lines_;
  const TraceRun& run_;
  const std::string flow_name_;  // as JSON
  const int host_pid_;
  const int streams_pid_;
  const int engines_pid_;
  const TimePoint origin_;
  const bool copied_;
  std::vector<Slice> slices_;               // of the present frame
  std::vector<Slice> tied_;                 // of these, where its flow goes through, each from its point of the flow
  std::map<int, TimePoint> streams_ended_;  // by tid: end of the latest slice
};

void RunWriter::name_tracks() {
  name_process(host_pid_, "host");
  for (int index = 0; const std::string_view name : {"decoder", "submitter", "encoder"}) {
    name_track(host_pid_, index++, name);
  }
  name_process(streams_pid_, copied_ ? "streams" : "CPU filters");
  std::vector<int> streams;
  for (const FrameRecord& record : run_.records) streams.push_back(stream_index(record));
  std::ranges::sort(streams);
  streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
  for (const int index : streams) name_track(streams_pid_, index, stream_name(index));
  if (!copied_) return;
  name_process(engines_pid_, "GPU engines");
  for (int index = 0; const std::string_view name : {"H2D", "compute", "D2H"}) name_track(engines_pid_, index++, name);
}

void RunWriter::name_process(int pid, std::string_view name) {
  lines_.add(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", pid, json_line(prefixed(name)));
  lines_.add(R"({{"name":"process_sort_index","ph":"M","pid":{},"args":{{"sort_index":{}}}}})", pid, pid);
}

void RunWriter::name_track(int pid, int index, std::string_view name) {
  const int tid = track(pid, index).tid;
  lines_.add(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":"{}"}}}})", pid, tid, name);
  lines_.add(R"({{"name":"thread_sort_index","ph":"M","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", pid, tid, tid);
}

void RunWriter::write_frame(const FrameRecord& record) {
  if (record.submit.happened()) write_ring(record.submit.begin, record.slots_in_use);
  const std::string args = fmt::format(R"({{"frame":{},"mode":"{}","slot":{},"pts_s":{}}})", record.frame,
                                       mode_name(record.mode), record.slot, record.pts_s);
  const std::span<const Slice> slices = slices_of(record);
  for (const Slice& slice : slices) {
    lines_.add(R"({{"name":"{}","cat":"{}","ph":"X","ts":{},"dur":{},"pid":{},"tid":{},"args":{}}})", slice.name,
               slice.category, time(slice.span.begin), microseconds(slice.span.end - slice.span.begin), slice.track.pid,
               slice.track.tid, args);
  }
  write_flow(record.frame, slices);
}

/** In the order in which the frame met them; only those that took time. */
std::span<const Slice> RunWriter::slices_of(const FrameRecord& record) {
  slices_.clear();
  const auto add = [&](const Slice& slice) {
    if (slice.span.end > slice.span.begin) slices_.push_back(slice);
  };
  const auto add_stage = [&](Stage stage, std::string_view category, Track on, bool tied) {
    add({stage_name(stage), category, record[stage], on, tied});
  };
  add_stage(Stage::kDecode, "host", track(host_pid_, 0), true);
  add_stage(Stage::kPreprocess, "host", track(host_pid_, 0), false);
  add({"submit", "host", record.submit, track(host_pid_, 1), false});
  const Track stream = track(streams_pid_, stream_index(record));
  for (int engine = 0; const Stage stage : {Stage::kH2d, Stage::kKernels, Stage::kD2h}) {
    add({stage_name(stage), "stream", cut_to_stream(record[stage], stream), stream, !copied_});
    if (copied_) add_stage(stage, "engine", track(engines_pid_, engine), true);
    ++engine;
  }
  add_stage(Stage::kEncode, "host", track(host_pid_, 2), true);
  return slices_;
}

/** A GPU's clock is set by the host's anew now and then: two frames' spans on one stream may then seem to overlap by
 *  some microseconds, and readers drop slices that do. (Spans of an engine have been cut by the recorder.) */
Span RunWriter::cut_to_stream(Span span, Track track) {
  if (!copied_ || !span.happened()) return span;
  TimePoint& ended = streams_ended_[track.tid];
  span.begin = std::max(span.begin, ended);
  ended = std::max(ended, span.end);
  return span;
}

/** A flow's events lie in their slices, and in the order of time. */
void RunWriter::write_flow(std::int64_t frame, std::span<const Slice> slices) {
  tied_.clear();
  TimePoint point{};
  for (const Slice& slice : slices) {
    point = std::max(point, slice.span.begin);
    if (!slice.tied || point >= slice.span.end) continue;
    tied_.push_back(slice);
    tied_.back().span.begin = point;
  }
  if (tied_.size() < 2) return;
  for (std::size_t i = 0; i < tied_.size(); ++i) {
    const bool last = i + 1 == tied_.size();
    lines_.add(R"({{"name":{},"cat":"frame","ph":"{}","id":{},"ts":{},"pid":{},"tid":{}{}}})", flow_name_,
               i == 0 ? 's'
               : last ? 'f'
                      : 't',
               frame, time(tied_[i].span.begin), tied_[i].track.pid, tied_[i].track.tid, last ? R"(,"bp":"e")" : "");
  }
}

void RunWriter::write_ring(TimePoint point, int slots_in_use) {
  lines_.add(R"({{"name":"frame ring","ph":"C","ts":{},"pid":{},"args":{{"slots in use":{}}}}})", time(point),
             host_pid_, slots_in_use);
}

/** Where the first span of all begins. */
TimePoint first_begin(const std::vector<TraceRun>& runs) {
  TimePoint first = TimePoint::max();
  for (const TraceRun& run : runs) {
    for (const FrameRecord& record : run.records) {
      first = std::min(first, record.begin());
      if (record.submit.happened()) first = std::min(first, record.submit.begin);
    }
  }
  return first;
}

std::string modes_of(const std::vector<TraceRun>& runs) {
  std::vector<std::string_view> names;
  for (const Mode mode : kModes) {
    const bool used = std::ranges::any_of(runs, [&](const TraceRun& run) {
      return std::ranges::find(run.records, mode, &FrameRecord::mode) != run.records.end();
    });
    if (used) names.push_back(mode_name(mode));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void write_trace_json(const TextSink& sink, const std::vector<TraceRun>& runs, const TraceFacts& facts) {
  const Json other{
      {"framelane", program_version()}, {"device", facts.device}, {"filters", facts.filters}, {"mode", modes_of(runs)}};
  sink(fmt::format(R"({{"displayTimeUnit":"ms","otherData":{},"traceEvents":[)", json_line(other)));
  EventLines lines(sink);
  const TimePoint origin = first_begin(runs);
  int first_pid = 1;
  for (const TraceRun& run : runs) {
    RunWriter(lines, run, first_pid, origin).write();
    first_pid += RunWriter::kProcesses;
  }
  sink("\n]}\n");
}

void write_trace(const std::string& path, const std::vector<TraceRun>& runs, const TraceFacts& facts) {
  ReportFile file(path);
  write_trace_json([&](std::string_view text) { file.write(text); }, runs, facts);
  file.finish();
}

}  // namespace framelane
