// Beside the frame's way: every stage writes into the frame's record, the encoder thread hands it in here.
#include "pipeline/recorder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pipeline/median.h"

namespace framelane {
namespace {

/** Nearest-rank quantile of sorted times. */
double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

/** Cuts from `span` what earlier frames' spans of the same engine cover, which end at `busy_until`. */
void cut_overlap(Span& span, TimePoint& busy_until) {
  span.begin = std::min(std::max(span.begin, busy_until), span.end);
  busy_until = std::max(busy_until, span.end);
}

}  // namespace

std::string_view stage_name(Stage stage) {
  static constexpr std::array<std::string_view, kStageCount> names{"decode",  "preprocess", "h2d",
                                                                   "kernels", "d2h",        "encode"};
  return names[static_cast<std::size_t>(stage)];
}

TimePoint FrameRecord::begin() const {
  TimePoint first = TimePoint::max();
  for (const Span& span : spans) {
    if (span.happened()) first = std::min(first, span.begin);
  }
  return first;
}

Clock::duration covered_by(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::begin);
  Clock::duration covered{};
  TimePoint end{};
  for (const Span& span : spans) {
    const TimePoint begin = std::max(span.begin, end);
    if (span.end > begin) covered += span.end - begin;
    end = std::max(end, span.end);
  }
  return covered;
}

TimeStatistics time_statistics(std::vector<double> times_ms) {
  if (times_ms.empty()) return {};
  std::ranges::sort(times_ms);
  const double sum = std::accumulate(times_ms.begin(), times_ms.end(), 0.0);
  return {times_ms.size(), sum / static_cast<double>(times_ms.size()), median_of_sorted(times_ms),
          quantile(times_ms, 0.95), quantile(times_ms, 0.99)};
}

RecordSummary summarize(const std::vector<FrameRecord>& records) {
  RecordSummary summary;
  if (records.empty()) return summary;
  TimePoint first = TimePoint::max();
  TimePoint last = TimePoint::min();
  double stages_ms = 0;
  std::array<double, kStageCount> covered_ms{};
  for (const Stage stage : kStages) {
    const auto index = static_cast<std::size_t>(stage);
    std::vector<double> times;
    std::vector<Span> spans;
    for (const FrameRecord& record : records) {
      if (!record[stage].happened()) continue;
      spans.push_back(record[stage]);
      times.push_back(record[stage].ms());
      stages_ms += times.back();
      first = std::min(first, record[stage].begin);
      last = std::max(last, record[stage].end);
    }
    summary.stages[index] = time_statistics(std::move(times));
    covered_ms[index] = milliseconds(covered_by(std::move(spans)));
  }
  std::vector<double> frame_times;
  std::vector<double> latencies;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i > 0) frame_times.push_back(milliseconds(records[i].left() - records[i - 1].left()));
    latencies.push_back(milliseconds(records[i].left() - records[i][Stage::kDecode].begin));
  }
  summary.frame_time = time_statistics(std::move(frame_times));
  summary.latency = time_statistics(std::move(latencies));
  summary.wall_s = seconds(last - first);
  if (summary.wall_s <= 0) return summary;
  summary.fps = static_cast<double>(records.size()) / summary.wall_s;
  summary.overlap = stages_ms / 1000 / summary.wall_s;
  for (std::size_t i = 0; i < kStageCount; ++i) summary.busy[i] = covered_ms[i] / 1000 / summary.wall_s;
  return summary;
}

Recorder::Recorder(std::size_t capacity) : capacity_(capacity) { ring_.reserve(capacity); }

void Recorder::add(FrameRecord record) {
  const std::scoped_lock lock(mutex_);
  if (record[Stage::kH2d].happened()) {  // else a device that filters several frames at once
    for (const Stage engine : {Stage::kH2d, Stage::kKernels, Stage::kD2h}) {
      cut_overlap(record[engine], busy_until_[static_cast<std::size_t>(engine)]);
    }
  }
  if (ring_.size() < capacity_) {
    ring_.push_back(record);
  } else {
    ring_[static_cast<std::size_t>(frames_) % capacity_] = record;
  }
  ++frames_;
}

void Recorder::count_dropped(std::int64_t frames) {
  const std::scoped_lock lock(mutex_);
  dropped_ += frames;
}

std::int64_t Recorder::frames() const {
  const std::scoped_lock lock(mutex_);
  return frames_;
}

std::int64_t Recorder::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

std::vector<FrameRecord> Recorder::latest(std::size_t count) const {
  const std::scoped_lock lock(mutex_);
  const std::size_t held = std::min(count, ring_.size());
  std::vector<FrameRecord> records;
  records.reserve(held);
  for (std::size_t i = held; i > 0; --i) {
    records.push_back(ring_[static_cast<std::size_t>(frames_ - static_cast<std::int64_t>(i)) % capacity_]);
  }
  return records;
}

}  // namespace framelane
