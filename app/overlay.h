// What is drawn on a frame between its filters and the encoder: the HUD and the comparison with the original. It never
// meets a filter again.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "app/comparison.h"
#include "app/overlay_figures.h"
#include "app/overlay_panel.h"
#include "pipeline/pipeline.h"

namespace framelane {

/** Set by keys and options, read for each frame. */
struct OverlayControls {
  std::atomic<bool> hud{false};
  std::atomic<bool> compare_original{false};
};

/** Draws as OverlayControls say. The panel's figures are renewed ten times a second of watching: of the video's own
 *  time or of the clock's, whichever is sooner, so that a file written faster than it plays shows them as fresh; but
 *  never so often that this takes more than 1 % of the thread's time. Every frame gets the finished picture only.
 *  It is drawn upright in the stored picture: rotation tags and pixels that are not square turn and stretch it.
 *  Thread: encoder. */
class Overlay {
 public:
  /** `controls` outlives this; `device_name` is shown. */
  Overlay(const OverlayControls& controls, std::string device_name);

  void draw(const FinishedFrame& frame, const Pipeline& pipeline);

 private:
  void draw_comparison(const FinishedFrame& frame);
  void draw_panel(const FinishedFrame& frame, const Pipeline& pipeline);
  bool is_due(const FrameRecord& record) const;
  void renew_panel(const FrameRecord& record, const Pipeline& pipeline);
  OverlayFigures figures(const FrameRecord& record, const Pipeline& pipeline) const;

  const OverlayControls& controls_;
  const std::string device_name_;
  FrameFormat format_;  ///< of the pictures that the next two are made for
  std::optional<Comparison> comparison_;
  std::optional<OverlayPanel> panel_;
  bool told_not_comparable_ = false;

  Mode shown_mode_ = Mode::kMultistream;
  double shown_pts_s_ = 0;
  TimePoint shown_at_;
  Clock::duration cost_{};  ///< of the latest renewal
};

}  // namespace framelane
