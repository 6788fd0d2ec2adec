#include "tests/trace_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace framelane::testing {
namespace {

using Json = nlohmann::json;

struct Slice {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string text;  ///< the event
};

struct FlowEvent {
  std::int64_t ts_ns = 0;
  char phase = 's';
  std::string text;
};

std::int64_t cut_to_ns(const Json& us) { return static_cast<std::int64_t>(us.get<double>() * 1000); }
std::int64_t rounded_to_ns(const Json& us) { return std::llround(us.get<double>() * 1000); }

bool is_time(const Json& event, const char* key) {
  return event.contains(key) && event[key].is_number() && event[key].get<double>() >= 0;
}
bool has_integer(const Json& event, const char* key) { return event.contains(key) && event[key].is_number_integer(); }
bool has_string(const Json& event, const char* key) {
  return event.contains(key) && event[key].is_string() && !event[key].get<std::string>().empty();
}

/** By thread, in order of their beginnings, the longer of two that begin together first. */
std::map<std::int64_t, std::vector<Slice>> slices_by_thread(const Json& trace,
                                                            std::int64_t (*to_ns)(const Json&) = rounded_to_ns) {
  std::map<std::int64_t, std::vector<Slice>> threads;
  for (const Json& event : events_of(trace, "X")) {
    const std::int64_t begin = to_ns(event["ts"]);
    threads[event["tid"]].push_back({begin, begin + to_ns(event["dur"]), event.dump()});
  }
  for (auto& [tid, slices] : threads) {
    std::ranges::stable_sort(slices, {}, [](const Slice& slice) { return std::pair(slice.begin_ns, -slice.end_ns); });
  }
  return threads;
}

/** Goes through a trace and notes what is wrong. */
class Checker {
 public:
  explicit Checker(const Json& trace) : trace_(trace) {}

  std::vector<std::string> run() {
    if (!trace_.is_object() || !trace_.contains("traceEvents") || !trace_["traceEvents"].is_array()) {
      return {"no object with an array traceEvents"};
    }
    const Json unit = trace_.value("displayTimeUnit", Json("ms"));
    expect(unit == "ms" || unit == "ns", "displayTimeUnit is neither ms nor ns", unit);
    for (const Json& event : trace_["traceEvents"]) check_event(event);
    if (!breaches_.empty()) return breaches_;  // what follows reads the fields
    check_names();
    check_slices(rounded_to_ns, "slices overlap");
    check_slices(cut_to_ns, "slices overlap for a reader that cuts");
    check_flows();
    return breaches_;
  }

 private:
  void expect(bool holds, const std::string& breach, const Json& event) {
    if (!holds) breaches_.push_back(fmt::format("{}: {}", breach, event.dump()));
  }

  void check_event(const Json& event) {
    if (!event.is_object() || !has_string(event, "ph")) return expect(false, "no object with a ph", event);
    const std::string phase = event["ph"];
    expect(has_string(event, "name"), "no name", event);
    expect(has_integer(event, "pid"), "no integer pid", event);
    if (phase == "M") return check_metadata(event);
    expect(is_time(event, "ts"), "ts is no number >= 0", event);
    if (phase == "C") return check_counter(event);
    expect(phase == "X" || phase == "s" || phase == "t" || phase == "f", "unknown phase", event);
    expect(has_integer(event, "tid"), "no integer tid", event);
    expect(has_string(event, "cat"), "no cat", event);
    if (phase == "X") return expect(is_time(event, "dur"), "dur is no number >= 0", event);
    expect(has_integer(event, "id") || has_string(event, "id"), "a flow without an id", event);
    expect(phase != "f" || event.value("bp", "") == "e", "f without \"bp\": \"e\" binds to the next slice", event);
  }

  void check_metadata(const Json& event) {
    static const std::map<std::string, std::string> argument_of{{"process_name", "name"},
                                                                {"process_labels", "labels"},
                                                                {"process_sort_index", "sort_index"},
                                                                {"thread_name", "name"},
                                                                {"thread_sort_index", "sort_index"}};
    const std::string name = event.value("name", "");
    const auto found = argument_of.find(name);
    if (found == argument_of.end()) return expect(false, "unknown metadata", event);
    const Json args = event.value("args", Json::object());
    const bool holds =
        found->second == "sort_index" ? has_integer(args, "sort_index") : has_string(args, found->second.c_str());
    expect(holds, "metadata without its argument", event);
    const bool of_thread = name.starts_with("thread");
    expect(has_integer(event, "tid") || !of_thread, "metadata of a thread without a tid", event);
    const std::int64_t tid = of_thread && has_integer(event, "tid") ? event["tid"].get<std::int64_t>() : -1;
    expect(metadata_.insert({name, event.value("pid", Json()).dump(), tid}).second, "metadata given twice", event);
  }

  void check_counter(const Json& event) {
    const Json args = event.value("args", Json());
    expect(args.is_object() && !args.empty() && std::ranges::all_of(args, [](const Json& v) { return v.is_number(); }),
           "a counter's args are not numbers", event);
  }

  void check_names() {
    std::map<std::int64_t, std::int64_t> process_of;
    for (const Json& event : trace_["traceEvents"]) {
      if (event["ph"] == "M") continue;
      expect(metadata_.contains({"process_name", event["pid"].dump(), -1}), "a process without a name", event);
      if (event["ph"] == "C") continue;
      const std::int64_t tid = event["tid"];
      expect(metadata_.contains({"thread_name", event["pid"].dump(), tid}), "a thread without a name", event);
      expect(process_of.try_emplace(tid, event["pid"]).first->second == event["pid"], "a tid of two processes", event);
    }
  }

  void check_slices(std::int64_t (*to_ns)(const Json&), const char* breach) {
    for (const auto& [tid, slices] : slices_by_thread(trace_, to_ns)) {
      std::vector<const Slice*> open;
      for (const Slice& slice : slices) {
        while (!open.empty() && open.back()->end_ns <= slice.begin_ns) open.pop_back();
        if (!open.empty() && slice.end_ns > open.back()->end_ns) {
          breaches_.push_back(fmt::format("{}: {} and {}", breach, open.back()->text, slice.text));
        }
        open.push_back(&slice);
      }
    }
  }

  void check_flows() {
    const auto slices = slices_by_thread(trace_);
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<FlowEvent>> flows;
    for (const Json& event : trace_["traceEvents"]) {
      const std::string phase = event["ph"];
      if (phase != "s" && phase != "t" && phase != "f") continue;
      const std::int64_t ts = rounded_to_ns(event["ts"]);
      flows[{event["cat"], event["name"], event["id"].dump()}].push_back({ts, phase[0], event.dump()});
      const auto thread = slices.find(event["tid"].get<std::int64_t>());
      expect(thread != slices.end() && lies_in_a_slice(ts, thread->second), "a flow's event outside of slices", event);
    }
    for (auto& [key, events] : flows) check_flow(events);
  }

  /** For slices whose beginnings rise, and of which those of one thread nest. */
  static bool lies_in_a_slice(std::int64_t ts, const std::vector<Slice>& slices) {
    const auto after = std::ranges::upper_bound(slices, ts, {}, &Slice::begin_ns);
    return std::any_of(std::make_reverse_iterator(after), slices.rend(),
                       [&](const Slice& slice) { return ts < slice.end_ns; });
  }

  void check_flow(std::vector<FlowEvent>& events) {
    const std::string first = events.front().text;
    std::ranges::stable_sort(events, {}, &FlowEvent::ts_ns);
    const auto count = [&](char phase) { return std::ranges::count(events, phase, &FlowEvent::phase); };
    if (count('s') != 1 || count('f') != 1) {
      breaches_.push_back("a flow without exactly one s and one f: " + first);
    } else if (events.front().phase != 's' || events.back().phase != 'f') {
      breaches_.push_back("a flow that does not begin with s and end with f: " + first);
    }
  }

  const Json& trace_;
  std::vector<std::string> breaches_;
  std::set<std::tuple<std::string, std::string, std::int64_t>> metadata_;  // name, pid, tid or -1
};

std::string metadata_name(const Json& trace, const char* kind, const char* key, const Json& id) {
  for (const Json& event : events_of(trace, "M")) {
    if (event["name"] == kind && event[key] == id) return event["args"]["name"];
  }
  return "";
}

}  // namespace

std::vector<std::string> trace_breaches(const Json& trace) { return Checker(trace).run(); }

std::vector<std::string> engine_overlaps(const Json& trace) {
  std::set<std::int64_t> engines;
  for (const Json& event : events_of(trace, "M")) {
    if (event["name"] != "thread_name") continue;
    const std::string process = metadata_name(trace, "process_name", "pid", event["pid"]);
    if (process.ends_with("GPU engines")) engines.insert(event["tid"].get<std::int64_t>());
  }
  std::vector<std::string> overlaps;
  for (const auto& [tid, slices] : slices_by_thread(trace)) {
    if (!engines.contains(tid)) continue;
    for (std::size_t i = 1; i < slices.size(); ++i) {
      if (slices[i].begin_ns < slices[i - 1].end_ns) overlaps.push_back(slices[i - 1].text + " and " + slices[i].text);
    }
  }
  return overlaps;
}

std::vector<Json> events_of(const Json& trace, const std::string& phase) {
  std::vector<Json> events;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

std::string track_of(const Json& trace, const Json& event) {
  const std::string process = metadata_name(trace, "process_name", "pid", event["pid"]);
  return event.contains("tid") ? process + "/" + metadata_name(trace, "thread_name", "tid", event["tid"]) : process;
}

}  // namespace framelane::testing
