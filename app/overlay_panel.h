// The overlay's panel: turns figures into a picture, and lays it over frames.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "app/overlay_canvas.h"
#include "app/overlay_figures.h"
#include "app/overlay_layout.h"
#include "app/overlay_text.h"

namespace framelane {

/** For frames of one format. show() costs about a millisecond at 1080p and is called a few times a second; draw() only
 *  blends the finished picture, in a twentieth of it.
 *  Thread: one at a time. */
class OverlayPanel {
 public:
  /** `filters` decide the panel's height. */
  OverlayPanel(const FrameFormat& format, const std::vector<FilterSwitch>& filters);

  /** Where it is drawn; empty where the frame is too small for any of it. */
  cv::Rect area() const { return {layout_.origin, layout_.size}; }
  OverlayDetail detail() const { return layout_.detail; }

  /** Draws the panel anew; more filters than at construction are left out. */
  void show(const OverlayFigures& figures);
  /** Blends the panel as last shown into a frame of the constructor's format. */
  void draw(const FrameView& frame) const;

 private:
  struct Inks {
    Ink text;
    Ink dim;
    Ink track;
    Ink on_accent;
    Ink alarm;
    std::array<Ink, kModes.size()> modes;
    std::array<Ink, kStageCount> stages;
  };
  struct FilterPlace {
    cv::Point baseline;
    int width_px = 0;
  };

  static Inks make_inks(const OverlayCanvas& canvas);
  /** Places as many filters as fit; returns how many lines they take. */
  int place_filters(const std::vector<FilterSwitch>& filters);
  /** What never changes: drawn once and kept. */
  void draw_background(int depth_bits);
  void draw_divider(int y);

  void draw_line(const OverlayFigures& figures);
  void draw_header(const OverlayFigures& figures);
  void draw_frame_times(const OverlayFigures& figures);
  void draw_stages(const OverlayFigures& figures);
  void draw_graph(const OverlayFigures& figures);
  void draw_ring(const OverlayFigures& figures);
  void draw_busy(const OverlayFigures& figures);
  void draw_filters(const OverlayFigures& figures);
  void draw_bar(const cv::Rect2d& track, double share, const Ink& ink);
  /** Returns the label's right end. */
  int draw_mode(Mode mode, int baseline);

  OverlayLayout layout_;
  std::vector<FilterPlace> filter_places_;
  std::unique_ptr<OverlayCanvas> canvas_;
  std::optional<OverlayFont> font_;
  std::optional<OverlayFont> bold_;
  std::optional<OverlayFont> large_;
  Inks inks_;
};

/** The smallest of 1, 2 and 5 times a power of ten that is not below `value`: the top of a scale. */
double scale_top(double value);

}  // namespace framelane
