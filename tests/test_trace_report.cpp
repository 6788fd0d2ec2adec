// --trace: timelines of frames made by hand, whose events follow from them by hand; timelines of real runs against the
// format's rules; and the rules themselves against files that break them.
#include "app/trace_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>

#include "app/version.h"
#include "kernels/errors.h"
#include "pipeline/pipeline.h"
#include "tests/stamped_clip.h"
#include "tests/trace_rules.h"

namespace framelane::testing {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TimePoint at(double ms) {
  return TimePoint{} + std::chrono::hours(1) + std::chrono::nanoseconds(std::llround(ms * 1e6));
}
Span span(double begin_ms, double end_ms) { return {at(begin_ms), at(end_ms)}; }

std::string trace_text(const std::vector<TraceRun>& runs, const TraceFacts& facts = {}) {
  std::string text;
  write_trace_json([&](std::string_view part) { text += part; }, runs, facts);
  return text;
}
Json trace_of(const std::vector<TraceRun>& runs, const TraceFacts& facts = {}) {
  return Json::parse(trace_text(runs, facts));
}
Json trace_of(const std::vector<FrameRecord>& records) { return trace_of({{"", records}}); }

/** "host/decoder decode 0 + 2000, frame 0": microseconds. */
std::vector<std::string> slices_in(const Json& trace) {
  std::vector<std::string> rows;
  for (const Json& event : events_of(trace, "X")) {
    rows.push_back(fmt::format("{} {} {} + {}, frame {}", track_of(trace, event), event["name"].get<std::string>(),
                               event["ts"].get<double>(), event["dur"].get<double>(),
                               event["args"]["frame"].get<int>()));
  }
  return rows;
}

/** "s host/decoder 0" for each event of the flow of a frame. */
std::vector<std::string> flow_in(const Json& trace, int frame, const std::string& name = "frame") {
  std::vector<std::string> rows;
  for (const Json& event : trace["traceEvents"]) {
    if (!event.contains("id") || event["id"] != frame || event["name"] != name) continue;
    rows.push_back(
        fmt::format("{} {} {}", event["ph"].get<std::string>(), track_of(trace, event), event["ts"].get<double>()));
  }
  return rows;
}

FrameRecord record(std::int64_t frame, Mode mode, int slot, int slots_in_use, Span submit) {
  FrameRecord record;
  record.frame = frame;
  record.mode = mode;
  record.slot = slot;
  record.pts_s = static_cast<double>(frame) / 25;
  record.slots_in_use = slots_in_use;
  record.submit = submit;
  return record;
}

/** A frame in each mode, on a GPU; times in milliseconds after 100. The last two overlap, and the last one's kernels
 *  began when the engine was free. */
std::vector<FrameRecord> gpu_frames() {
  FrameRecord sync = record(0, Mode::kSync, 0, 1, span(102.5, 106));
  sync.spans = {span(100, 102), span(102, 102.5), span(103, 104), span(104, 105), span(105, 106), span(106, 108)};
  FrameRecord async = record(1, Mode::kAsync, 1, 1, span(109, 109.1));
  async.spans = {span(108, 109), {}, span(109.2, 109.7), span(109.7, 111), span(111, 111.4), span(111.5, 112)};
  FrameRecord multi = record(2, Mode::kMultistream, 3, 2, span(110, 110.1));
  multi.spans = {span(109, 110),         {}, span(110.2, 110.6), span(111, 112.25), span(112.25, 112.5),
                 span(112.6, 113.000123)};
  return {sync, async, multi};
}

/** Two frames whose kernels run at once on the CPU. */
std::vector<FrameRecord> cpu_frames() {
  FrameRecord first = record(0, Mode::kMultistream, 0, 1, span(2, 2.1));
  first.spans = {span(0, 2), {}, {}, span(2.1, 9), {}, span(9, 10)};
  FrameRecord second = record(1, Mode::kMultistream, 1, 2, span(4, 4.1));
  second.spans = {span(2, 4), {}, {}, span(4.1, 8), {}, span(10, 11)};
  return {first, second};
}

TEST(TraceReport, SlicesAreTheSpansOnTheirTracks) {
  EXPECT_THAT(slices_in(trace_of(gpu_frames())),
              ElementsAre("host/decoder decode 0 + 2000, frame 0", "host/decoder preprocess 2000 + 500, frame 0",
                          "host/submitter submit 2500 + 3500, frame 0",                                              //
                          "streams/sync h2d 3000 + 1000, frame 0", "GPU engines/H2D h2d 3000 + 1000, frame 0",       //
                          "streams/sync kernels 4000 + 1000, frame 0",                                               //
                          "GPU engines/compute kernels 4000 + 1000, frame 0",                                        //
                          "streams/sync d2h 5000 + 1000, frame 0", "GPU engines/D2H d2h 5000 + 1000, frame 0",       //
                          "host/encoder encode 6000 + 2000, frame 0",                                                //
                          "host/decoder decode 8000 + 1000, frame 1", "host/submitter submit 9000 + 100, frame 1",   //
                          "streams/async stream h2d 9200 + 500, frame 1",                                            //
                          "GPU engines/H2D h2d 9200 + 500, frame 1",                                                 //
                          "streams/async stream kernels 9700 + 1300, frame 1",                                       //
                          "GPU engines/compute kernels 9700 + 1300, frame 1",                                        //
                          "streams/async stream d2h 11000 + 400, frame 1",                                           //
                          "GPU engines/D2H d2h 11000 + 400, frame 1", "host/encoder encode 11500 + 500, frame 1",    //
                          "host/decoder decode 9000 + 1000, frame 2", "host/submitter submit 10000 + 100, frame 2",  //
                          "streams/stream of slot 3 h2d 10200 + 400, frame 2",                                       //
                          "GPU engines/H2D h2d 10200 + 400, frame 2",                                                //
                          "streams/stream of slot 3 kernels 11000 + 1250, frame 2",                                  //
                          "GPU engines/compute kernels 11000 + 1250, frame 2",                                       //
                          "streams/stream of slot 3 d2h 12250 + 250, frame 2",                                       //
                          "GPU engines/D2H d2h 12250 + 250, frame 2", "host/encoder encode 12600 + 400.123, frame 2"));
}

TEST(TraceReport, FlowsTieAFrameFromDecodeThroughTheEnginesToEncode) {
  const Json trace = trace_of(gpu_frames());
  EXPECT_THAT(flow_in(trace, 0), ElementsAre("s host/decoder 0", "t GPU engines/H2D 3000", "t GPU engines/compute 4000",
                                             "t GPU engines/D2H 5000", "f host/encoder 6000"));
  EXPECT_THAT(flow_in(trace, 2),
              ElementsAre("s host/decoder 9000", "t GPU engines/H2D 10200", "t GPU engines/compute 11000",
                          "t GPU engines/D2H 12250", "f host/encoder 12600"));
}

TEST(TraceReport, TheCounterShowsTheRingAsEachFrameFoundItAndEmptyAtTheEnd) {
  const Json trace = trace_of(gpu_frames());
  std::vector<std::string> rows;
  for (const Json& event : events_of(trace, "C")) {
    rows.push_back(fmt::format("{} {} {} {}", track_of(trace, event), event["name"].get<std::string>(),
                               event["ts"].get<double>(), event["args"]["slots in use"].get<int>()));
  }
  EXPECT_THAT(rows, ElementsAre("host frame ring 2500 1", "host frame ring 9000 1", "host frame ring 10000 2",
                                "host frame ring 13000.123 0"));
}

TEST(TraceReport, SlicesSayFrameModeSlotAndTime) {
  const Json last = events_of(trace_of(gpu_frames()), "X").back();
  EXPECT_EQ(last["args"], Json::parse(R"({"frame": 2, "mode": "multistream", "slot": 3, "pts_s": 0.08})"));
}

TEST(TraceReport, TracksStandInTheOrderOfTheFramesWay) {
  const Json trace = trace_of(gpu_frames());
  std::map<int, std::string> by_index;
  for (const Json& event : events_of(trace, "M")) {
    if (event["name"] == "thread_sort_index") by_index[event["args"]["sort_index"]] = track_of(trace, event);
  }
  std::vector<std::string> tracks;
  for (const auto& [index, track] : by_index) tracks.push_back(track);
  EXPECT_THAT(tracks,
              ElementsAre("host/decoder", "host/submitter", "host/encoder", "streams/sync", "streams/async stream",
                          "streams/stream of slot 3", "GPU engines/H2D", "GPU engines/compute", "GPU engines/D2H"));
}

TEST(TraceReport, SaysWhatRan) {
  const Json trace = trace_of({{"", gpu_frames()}}, {"NVIDIA H200 (cuda:0)", "lut3d=file='a\"b\xff.cube'"});
  EXPECT_EQ(trace["displayTimeUnit"], "ms");
  EXPECT_EQ(trace["otherData"]["framelane"], program_version());
  EXPECT_EQ(trace["otherData"]["device"], "NVIDIA H200 (cuda:0)");
  EXPECT_EQ(trace["otherData"]["filters"], "lut3d=file='a\"b\xEF\xBF\xBD.cube'");  // U+FFFD for what is not UTF-8
  EXPECT_EQ(trace["otherData"]["mode"], "sync, async, multistream");
}

TEST(TraceReport, HasAnEventALine) {
  std::istringstream lines(trace_text({{"", gpu_frames()}}));
  std::string line;
  std::size_t events = 0;
  std::getline(lines, line);
  while (std::getline(lines, line) && line != "]}") {
    if (line.back() == ',') line.pop_back();
    EXPECT_TRUE(Json::parse(line).is_object());
    ++events;
  }
  EXPECT_EQ(events, trace_of(gpu_frames())["traceEvents"].size());
}

TEST(TraceReport, FiltersOfTheCpuHaveATrackAStream) {
  const Json trace = trace_of(cpu_frames());
  EXPECT_THAT(slices_in(trace),
              ElementsAre("host/decoder decode 0 + 2000, frame 0", "host/submitter submit 2000 + 100, frame 0",
                          "CPU filters/stream of slot 0 kernels 2100 + 6900, frame 0",
                          "host/encoder encode 9000 + 1000, frame 0", "host/decoder decode 2000 + 2000, frame 1",
                          "host/submitter submit 4000 + 100, frame 1",
                          "CPU filters/stream of slot 1 kernels 4100 + 3900, frame 1",
                          "host/encoder encode 10000 + 1000, frame 1"));
  EXPECT_THAT(flow_in(trace, 1),
              ElementsAre("s host/decoder 2000", "t CPU filters/stream of slot 1 4100", "f host/encoder 10000"));
  EXPECT_THAT(trace_breaches(trace), IsEmpty());
}

TEST(TraceReport, RunsOfAComparisonHaveTheirOwnProcessesAndFlowsOnOneTimeAxis) {
  std::vector<FrameRecord> later = cpu_frames();
  for (FrameRecord& frame : later) {
    for (Span& each : frame.spans) {
      if (each.happened()) each = {each.begin + std::chrono::seconds(1), each.end + std::chrono::seconds(1)};
    }
    frame.submit = {};
  }
  const Json trace = trace_of({{"async", later}, {"multistream", cpu_frames()}});
  EXPECT_THAT(trace_breaches(trace), IsEmpty());
  EXPECT_THAT(flow_in(trace, 0, "async: frame"),
              ElementsAre("s async: host/decoder 1000000", "t async: CPU filters/stream of slot 0 1002100",
                          "f async: host/encoder 1009000"));
  EXPECT_THAT(flow_in(trace, 0, "multistream: frame"),
              ElementsAre("s multistream: host/decoder 0", "t multistream: CPU filters/stream of slot 0 2100",
                          "f multistream: host/encoder 9000"));
}

TEST(TraceReport, KeepsTheRulesForEveryMode) {
  const Json trace = trace_of(gpu_frames());
  EXPECT_THAT(trace_breaches(trace), IsEmpty());
  EXPECT_THAT(engine_overlaps(trace), IsEmpty());
}

TEST(TraceReport, OfARunWithoutFramesIsAnEmptyTimeline) {
  const Json trace = trace_of(std::vector<FrameRecord>{});
  EXPECT_THAT(trace_breaches(trace), IsEmpty());
  EXPECT_THAT(slices_in(trace), IsEmpty());
}

TEST(TraceReport, FramesThatClockErrorsLayOverEachOtherOnAStreamAreCut) {
  std::vector<FrameRecord> frames{gpu_frames()[1], gpu_frames()[1]};
  frames[1].frame = 2;
  frames[1].submit = {};
  // The first one's copy back ends at 111.4; the second one's copy seems to begin 4 µs before that.
  frames[1].spans = {span(109, 110), {}, span(111.396, 112), span(112, 113), span(113, 113.5), span(114, 115)};
  const Json trace = trace_of(frames);
  EXPECT_THAT(trace_breaches(trace), IsEmpty());
  EXPECT_THAT(slices_in(trace), ::testing::IsSupersetOf({"streams/async stream h2d 3400 + 600, frame 2",
                                                         "GPU engines/H2D h2d 3396 + 604, frame 2"}));
}

TEST(TraceReport, WhatAnEngineDidInAnotherFramesTimeIsLeftOut) {
  std::vector<FrameRecord> frames = gpu_frames();
  frames[1][Stage::kKernels] = span(111, 111);  // cut by the recorder
  const Json trace = trace_of(frames);
  EXPECT_THAT(trace_breaches(trace), IsEmpty());
  EXPECT_EQ(events_of(trace, "X").size(), 28U - 2);
  EXPECT_THAT(flow_in(trace, 1), ElementsAre("s host/decoder 8000", "t GPU engines/H2D 9200", "t GPU engines/D2H 11000",
                                             "f host/encoder 11500"));
}

TEST(TraceReport, AFlowStaysInItsSlicesWhereTheGpusClockIsBehind) {
  FrameRecord frame = gpu_frames()[1];
  frame[Stage::kDecode] = span(109.3, 109.4);
  frame[Stage::kH2d] = span(109.2, 109.7);  // seems to begin before decoding …
  EXPECT_THAT(flow_in(trace_of({frame}), 1),
              ElementsAre("s host/decoder 300", "t GPU engines/H2D 300", "t GPU engines/compute 700",
                          "t GPU engines/D2H 2000", "f host/encoder 2500"));
  frame[Stage::kH2d] = span(109.1, 109.2);  // … or even to end before it
  frame.submit = span(109.1, 109.2);
  const Json trace = trace_of({frame});
  EXPECT_THAT(flow_in(trace, 1), ElementsAre("s host/decoder 200", "t GPU engines/compute 600",
                                             "t GPU engines/D2H 1900", "f host/encoder 2400"));
  EXPECT_THAT(trace_breaches(trace), IsEmpty());
}

TEST(TraceReport, TimesKeepTheirNanosecondsForReadersThatRoundAndThatCut) {
  constexpr int kFrames = 20'000;
  std::mt19937 random(11);
  std::vector<FrameRecord> frames;
  std::vector<std::int64_t> begins_ns;
  std::int64_t now_ns = 0;
  for (int i = 0; i < kFrames; ++i) {  // decoding after decoding, without a gap
    begins_ns.push_back(now_ns);
    const TimePoint begin = at(0) + std::chrono::nanoseconds(now_ns);
    now_ns += 1 + static_cast<std::int64_t>(random() % 3'000'000);
    FrameRecord frame;
    frame.frame = i;
    frame[Stage::kDecode] = {begin, at(0) + std::chrono::nanoseconds(now_ns)};
    frame[Stage::kEncode] = {begin + std::chrono::seconds(100), begin + std::chrono::seconds(100)};
    frames.push_back(frame);
  }
  begins_ns.push_back(now_ns);
  const Json trace = trace_of(frames);
  const std::vector<Json> slices = events_of(trace, "X");
  ASSERT_EQ(slices.size(), std::size_t{kFrames});
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const double ts = slices[i]["ts"];
    const double dur = slices[i]["dur"];
    ASSERT_EQ(std::llround(ts * 1000), begins_ns[i]);
    ASSERT_EQ(std::llround(dur * 1000), begins_ns[i + 1] - begins_ns[i]);
    ASSERT_EQ(static_cast<std::int64_t>(ts * 1000), begins_ns[i]);
    ASSERT_EQ(static_cast<std::int64_t>(dur * 1000), begins_ns[i + 1] - begins_ns[i]);
  }
  EXPECT_THAT(trace_breaches(trace), IsEmpty());
}

TEST(TraceReport, TellsWhereItCannotBeWritten) {
  EXPECT_THROW(write_trace("/no/such/folder/trace.json", {{"", gpu_frames()}}, {}), OutputError);
  EXPECT_THROW(write_trace("/dev/full", {{"", gpu_frames()}}, {}), OutputError);
}

// ---- real runs

std::vector<std::string> device_ids() {
  std::vector<std::string> ids{"cpu"};
  if (cuda_unavailable_reason().empty()) ids.emplace_back("cuda");
  return ids;
}

struct Run {
  std::string device;
  Mode mode;
  bool switches;  ///< to every mode in turn
};
void PrintTo(const Run& run, std::ostream* out) { *out << run.device << " " << mode_name(run.mode); }

std::vector<Run> real_runs() {
  std::vector<Run> runs;
  for (const std::string& device : device_ids()) {
    for (const Mode mode : kModes) runs.push_back({device, mode, false});
    runs.push_back({device, Mode::kMultistream, true});
  }
  return runs;
}

class TraceOfARealRun : public ::testing::TestWithParam<Run> {};

constexpr int kRealFrames = 60;

std::vector<FrameRecord> records_of(const Run& run) {
  const TemporaryFolder folder;
  make_stamped_clip(folder.file("in.mp4"), kRealFrames, 160, 120);
  PipelineOptions options;
  options.input.url = folder.file("in.mp4");
  options.output.url = "null";
  options.filters = parse_filter_chain("gblur=sigma=2,eq=contrast=1.1");
  options.device = create_device(run.device);
  options.mode = run.mode;
  for (int frame = 7; run.switches && frame < kRealFrames; frame += 7) {
    options.switch_at[frame] = kModes[static_cast<std::size_t>(frame / 7) % kModes.size()];
  }
  Pipeline pipeline(std::move(options));
  pipeline.start();
  EXPECT_TRUE(pipeline.wait_for(std::chrono::minutes(5)));
  pipeline.finish();
  return pipeline.recorder().all();
}

TEST_P(TraceOfARealRun, KeepsTheRulesAndTiesEveryFrame) {
  const Json trace = trace_of(records_of(GetParam()));
  EXPECT_THAT(trace_breaches(trace), IsEmpty());
  EXPECT_THAT(engine_overlaps(trace), IsEmpty());
  EXPECT_EQ(events_of(trace, "C").size(), std::size_t{kRealFrames + 1});
  std::map<std::string, int> slices;
  for (const Json& event : events_of(trace, "X")) ++slices[event["name"]];
  for (const char* name : {"decode", "submit", "encode"}) EXPECT_EQ(slices[name], kRealFrames) << name;
  EXPECT_EQ(slices.contains("h2d"), GetParam().device != "cpu");
  for (int frame = 0; frame < kRealFrames; ++frame) {
    const std::vector<std::string> flow = flow_in(trace, frame);
    ASSERT_GE(flow.size(), 3U) << frame;
    EXPECT_THAT(flow.front(), HasSubstr("host/decoder"));
    EXPECT_THAT(flow.back(), HasSubstr("host/encoder"));
  }
}

TEST_P(TraceOfARealRun, HasAStreamForEachFrame) {
  const std::vector<FrameRecord> records = records_of(GetParam());
  const Json trace = trace_of(records);
  for (const Json& event : events_of(trace, "X")) {
    if (event["cat"] != "stream") continue;
    const FrameRecord& record = records.at(event["args"]["frame"].get<std::size_t>());
    const std::string stream = record.mode == Mode::kSync    ? "sync"
                               : record.mode == Mode::kAsync ? "async stream"
                                                             : fmt::format("stream of slot {}", record.slot);
    EXPECT_EQ(track_of(trace, event), (GetParam().device == "cpu" ? "CPU filters/" : "streams/") + stream);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, TraceOfARealRun, ::testing::ValuesIn(real_runs()), [](const auto& test) {
  return fmt::format("{}_{}", test.param.device, test.param.switches ? "switching" : mode_name(test.param.mode));
});

// ---- the rules

Json& event_of(Json& trace, const std::string& phase, int skip = 0) {
  for (Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase && skip-- == 0) return event;
  }
  throw std::out_of_range("no such event");
}

void repeat(Json& trace, Json event, const Json& changes = Json::object()) {
  event.update(changes);
  trace["traceEvents"].push_back(event);
}

struct Broken {
  const char* name;
  std::function<void(Json&)> damage;
  const char* breach;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

std::vector<Broken> broken_traces() {
  return {{"array_only", [](Json& trace) { trace = trace["traceEvents"]; }, "no object with an array"},
          {"unit", [](Json& trace) { trace["displayTimeUnit"] = "s"; }, "displayTimeUnit"},
          {"no_phase", [](Json& trace) { event_of(trace, "X").erase("ph"); }, "no object with a ph"},
          {"unknown_phase", [](Json& trace) { event_of(trace, "X")["ph"] = "Y"; }, "unknown phase"},
          {"no_name", [](Json& trace) { event_of(trace, "X").erase("name"); }, "no name"},
          {"pid_as_text", [](Json& trace) { event_of(trace, "X")["pid"] = "1"; }, "no integer pid"},
          {"no_tid", [](Json& trace) { event_of(trace, "s").erase("tid"); }, "no integer tid"},
          {"no_category", [](Json& trace) { event_of(trace, "X").erase("cat"); }, "no cat"},
          {"negative_time", [](Json& trace) { event_of(trace, "C")["ts"] = -1; }, "ts is no number"},
          {"time_as_text", [](Json& trace) { event_of(trace, "X")["ts"] = "5"; }, "ts is no number"},
          {"no_duration", [](Json& trace) { event_of(trace, "X").erase("dur"); }, "dur is no number"},
          {"negative_duration", [](Json& trace) { event_of(trace, "X")["dur"] = -0.5; }, "dur is no number"},
          {"unknown_metadata", [](Json& trace) { event_of(trace, "M")["name"] = "process_title"; }, "unknown metadata"},
          {"metadata_without_name", [](Json& trace) { event_of(trace, "M")["args"] = Json::object(); }, "its argument"},
          {"metadata_twice", [](Json& trace) { repeat(trace, event_of(trace, "M")); }, "given twice"},
          {"counter_of_text",
           [](Json& trace) {
             event_of(trace, "C")["args"] = {{"slots", "2"}};
           },
           "are not numbers"},
          {"nameless_process", [](Json& trace) { event_of(trace, "C")["pid"] = 77; }, "a process without a name"},
          {"nameless_thread", [](Json& trace) { event_of(trace, "X")["tid"] = 77; }, "a thread without a name"},
          {"thread_of_two_processes",
           [](Json& trace) {
             repeat(trace, event_of(trace, "M", 2), {{"pid", 2}});  // the decoder's name
             repeat(trace, event_of(trace, "X"), {{"pid", 2}, {"ts", 50'000}});
           },
           "a tid of two processes"},
          {"overlap", [](Json& trace) { event_of(trace, "X")["dur"] = 2000.001; }, "slices overlap:"},
          {"overlap_when_cut",
           [](Json& trace) {
             constexpr double kJustBelow = 2048.006;  // times 1000 it is a little less than whole
             event_of(trace, "X")["dur"] = std::nextafter(kJustBelow, 3000);
             event_of(trace, "X", 1)["ts"] = kJustBelow;
           },
           "for a reader that cuts"},
          {"flow_without_id", [](Json& trace) { event_of(trace, "t").erase("id"); }, "a flow without an id"},
          {"flow_end_to_the_next_slice", [](Json& trace) { event_of(trace, "f").erase("bp"); }, "binds to the next"},
          {"flow_outside_of_slices", [](Json& trace) { event_of(trace, "s")["ts"] = 2700; }, "outside of slices"},
          {"flow_at_a_slices_end", [](Json& trace) { event_of(trace, "t")["ts"] = 4000; }, "outside of slices"},
          {"flow_that_never_ends", [](Json& trace) { event_of(trace, "f")["id"] = 99; }, "exactly one s and one f"},
          {"flow_begun_twice", [](Json& trace) { event_of(trace, "t")["ph"] = "s"; }, "exactly one s and one f"},
          // Into the decoder's last slice, behind the flow's end.
          {"flow_back_in_time", [](Json& trace) { event_of(trace, "s")["ts"] = 9500; }, "does not begin with s"}};
}

class TraceRules : public ::testing::TestWithParam<Broken> {};

TEST_P(TraceRules, AreSeenToBeBroken) {
  Json trace = trace_of(gpu_frames());
  ASSERT_THAT(trace_breaches(trace), IsEmpty());
  GetParam().damage(trace);
  EXPECT_THAT(trace_breaches(trace), ::testing::Contains(HasSubstr(GetParam().breach)));
}

INSTANTIATE_TEST_SUITE_P(Each, TraceRules, ::testing::ValuesIn(broken_traces()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(EngineOverlaps, AreFoundWhetherNestedOrNot) {
  for (const double begin_ms : {109.5, 109.8}) {  // before the async frame's kernels, within them
    std::vector<FrameRecord> frames = gpu_frames();
    frames[2][Stage::kKernels] = span(begin_ms, 110.9);
    EXPECT_EQ(engine_overlaps(trace_of(frames)).size(), 1U) << begin_ms;
  }
}

}  // namespace
}  // namespace framelane::testing
