// Beside the frame's way.  Thread: encoder.
#include "app/overlay_layout.h"

#include <algorithm>

#include "app/overlay_canvas.h"
#include "pipeline/recorder.h"

namespace framelane {
namespace {

constexpr int kSmallestCapPx = 7;
constexpr int kTiniestCapPx = 6;
constexpr int kStages = static_cast<int>(kStageCount);

int on_grid(double length) {
  return (static_cast<int>(length) + OverlayCanvas::kGrid - 1) / OverlayCanvas::kGrid * OverlayCanvas::kGrid;
}

OverlayLayout start(OverlayDetail detail, int cap_px, double width_caps) {
  OverlayLayout layout;
  layout.detail = detail;
  layout.cap_px = cap_px;
  layout.origin = cv::Point(on_grid(cap_px), on_grid(cap_px));
  layout.size.width = on_grid(width_caps * cap_px);
  return layout;
}

OverlayLayout full_layout(int cap_px, int filter_lines) {
  const int cap = cap_px;
  OverlayLayout layout = start(OverlayDetail::kFull, cap, 45);
  layout.left = 3 * cap / 2;
  layout.right = layout.size.width - layout.left;
  layout.line_pitch = 2 * cap;
  layout.header_baseline = 3 * cap;
  layout.fps_baseline = layout.header_baseline + 7 * cap / 2 + cap;
  layout.first_stage_baseline = layout.fps_baseline + 7 * cap / 2;
  layout.stage_pitch = 2 * cap;
  layout.bar_left = layout.left + 12 * cap;
  layout.bar_right = layout.right - 8 * cap;
  const int graph_top = layout.first_stage_baseline + (kStages - 1) * layout.stage_pitch + 2 * cap;
  layout.graph = {layout.left, graph_top, layout.right - layout.left, 11 * cap / 2};
  layout.ring_baseline = layout.graph.br().y + 5 * cap / 2;
  layout.busy_baseline = layout.ring_baseline + layout.line_pitch;
  layout.filters_baseline = layout.busy_baseline + layout.line_pitch;
  layout.size.height = on_grid(layout.busy_baseline + filter_lines * layout.line_pitch + 1.5 * cap);
  return layout;
}

OverlayLayout essentials_layout(int cap_px) {
  const int cap = cap_px;
  OverlayLayout layout = start(OverlayDetail::kEssentials, cap, 28);
  layout.origin = {OverlayCanvas::kGrid, OverlayCanvas::kGrid};
  layout.left = cap;
  layout.right = layout.size.width - cap;
  layout.line_pitch = 5 * cap / 3;
  layout.header_baseline = 9 * cap / 4;
  layout.fps_baseline = layout.header_baseline + 2 * cap;
  layout.first_stage_baseline = layout.fps_baseline + 2 * cap;
  layout.stage_pitch = layout.line_pitch;
  layout.bar_left = layout.left + 21 * cap / 2;
  layout.bar_right = layout.right - 7 * cap;
  layout.ring_baseline = layout.first_stage_baseline + (kStages - 1) * layout.stage_pitch + 2 * cap;
  layout.size.height = on_grid(layout.ring_baseline + cap);
  return layout;
}

OverlayLayout line_layout(cv::Size frame) {
  const int cap = kTiniestCapPx;
  OverlayLayout layout = start(OverlayDetail::kLine, cap, 0);
  layout.origin = {0, 0};
  layout.size = {std::min(frame.width, 30 * cap) / OverlayCanvas::kGrid * OverlayCanvas::kGrid, on_grid(2 * cap)};
  layout.left = cap / 2;
  layout.right = layout.size.width - layout.left;
  layout.header_baseline = 3 * cap / 2;
  return layout;
}

bool fits(const OverlayLayout& layout, cv::Size frame, double width_share, double height_share) {
  return layout.origin.x + layout.size.width <= width_share * frame.width &&
         layout.origin.y + layout.size.height <= height_share * frame.height;
}

}  // namespace

OverlayLayout overlay_layout(cv::Size frame, int filter_lines) {
  const int wanted_cap_px = static_cast<int>(std::min(frame.width / 135.0, frame.height / 76.0));
  OverlayLayout layout = full_layout(std::max(wanted_cap_px, kSmallestCapPx), filter_lines);
  if (fits(layout, frame, 0.62, 0.75)) return layout;
  for (const int cap_px : {kSmallestCapPx, kTiniestCapPx}) {
    layout = essentials_layout(cap_px);
    if (fits(layout, frame, 0.7, 0.9)) return layout;
  }
  layout = line_layout(frame);
  // A line of mode and fps needs 13 letters.
  if (frame.width >= 12 * layout.cap_px && frame.height >= 3 * layout.size.height) return layout;
  return {};
}

}  // namespace framelane
