// Beside the frame's way.  Thread: encoder.
#include "app/overlay_figures.h"

#include <algorithm>

namespace framelane {

OverlayFigures figures_of(const std::vector<FrameRecord>& records) {
  OverlayFigures figures;
  if (records.empty()) return figures;
  const RecordSummary summary = summarize(records);
  figures.mode = records.back().mode;
  figures.frame = records.back().frame;
  // Not summary.fps: over few frames, the time that the first of them spent in the ring would weigh in.
  if (summary.frame_time.mean_ms > 0) figures.fps = 1000 / summary.frame_time.mean_ms;
  figures.frame_time_median_ms = summary.frame_time.median_ms;
  figures.frame_time_p99_ms = summary.frame_time.p99_ms;
  for (std::size_t stage = 0; stage < kStageCount; ++stage) {
    if (summary.stages[stage].count == 0) continue;
    figures.stage_ms[stage] = summary.stages[stage].median_ms;
    figures.busy[stage] = summary.busy[stage];
  }
  const std::size_t first = records.size() - std::min(records.size(), OverlayFigures::kGraphFrames + 1);
  for (std::size_t i = first + 1; i < records.size(); ++i) {
    figures.frame_times_ms.push_back(milliseconds(records[i].left() - records[i - 1].left()));
  }
  return figures;
}

}  // namespace framelane
