// When each stage of each frame began and ended, on one time axis (the host's steady clock). Overlay, statistics,
// traces and comparisons all read this one record.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "pipeline/mode.h"

namespace framelane {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

/** In the order in which a frame meets them. */
enum class Stage : std::uint8_t { kDecode, kPreprocess, kH2d, kKernels, kD2h, kEncode };
inline constexpr std::size_t kStageCount = 6;
inline constexpr std::array kStages{Stage::kDecode,  Stage::kPreprocess, Stage::kH2d,
                                    Stage::kKernels, Stage::kD2h,        Stage::kEncode};
std::string_view stage_name(Stage stage);  ///< "decode", "preprocess", "h2d", "kernels", "d2h", "encode"

inline double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

inline double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

/** One stage's time of one frame; begin == end == TimePoint{} where the stage did not happen. In sync mode, where one
 *  stage waits for another, each begins where the one before ended: handing a frame from thread to thread is part of
 *  it, and the sum of the stages is the time between frames. */
struct Span {
  TimePoint begin;
  TimePoint end;
  bool happened() const { return begin != TimePoint{}; }
  double ms() const { return milliseconds(end - begin); }
};

struct FrameRecord {
  std::int64_t frame = 0;  ///< number in the input, from 0
  Mode mode = Mode::kMultistream;
  int slot = 0;
  double pts_s = 0;      ///< presentation time
  int slots_in_use = 0;  ///< of the ring, when the decoder handed the frame over
  Span submit;           ///< on the submitter's thread: its work, which in sync mode waits for the device
  std::array<Span, kStageCount> spans;

  Span& operator[](Stage stage) { return spans[static_cast<std::size_t>(stage)]; }
  const Span& operator[](Stage stage) const { return spans[static_cast<std::size_t>(stage)]; }
  TimePoint left() const { return (*this)[Stage::kEncode].end; }
  /** Of the first stage that happened; TimePoint::max() where none did. */
  TimePoint begin() const;
};

/** Time covered by at least one of the spans. */
Clock::duration covered_by(std::vector<Span> spans);

/** Count, mean and quantiles of a set of times, in milliseconds; all 0 for an empty set. */
struct TimeStatistics {
  std::size_t count = 0;
  double mean_ms = 0;
  double median_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
};
TimeStatistics time_statistics(std::vector<double> times_ms);

/** What a range of frame records amounts to. */
struct RecordSummary {
  std::array<TimeStatistics, kStageCount> stages;
  TimeStatistics frame_time;               ///< between the ends of neighbouring frames
  TimeStatistics latency;                  ///< from the start of decoding to the end of encoding
  double wall_s = 0;                       ///< from the first begin to the last end
  double fps = 0;                          ///< frames / wall
  double overlap = 0;                      ///< sum of all stage times / wall: 1 means one stage at a time
  std::array<double, kStageCount> busy{};  ///< union of a stage's spans / wall: an engine's utilisation, 0 to 1
};
RecordSummary summarize(const std::vector<FrameRecord>& records);

/** Keeps the latest records and running counts.
 *  Thread: all calls may come from any thread. Owns: memory for `capacity` records, allocated at construction. */
class Recorder {
 public:
  explicit Recorder(std::size_t capacity = 65'536);

  /** A frame has left the pipeline. Frames arrive in order. Spans of one engine (H2D, kernels, D2H) are cut where
   *  an earlier frame's span of that engine still ran: an engine serves one frame at a time, and an event that
   *  waited in a queue would otherwise count the wait as work. Frames that were not copied (CPU) are left as they are:
   *  they are filtered several at once. */
  void add(FrameRecord record);
  void count_dropped(std::int64_t frames);

  std::int64_t frames() const;
  std::int64_t dropped() const;
  /** The latest `count` records, oldest first. */
  std::vector<FrameRecord> latest(std::size_t count) const;
  /** All records still held, oldest first; of long runs the last `capacity` frames. */
  std::vector<FrameRecord> all() const { return latest(capacity_); }

 private:
  mutable std::mutex mutex_;
  std::size_t capacity_;
  std::vector<FrameRecord> ring_;
  std::array<TimePoint, kStageCount> busy_until_{};  // of each engine: where its latest span ends
  std::int64_t frames_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace framelane
