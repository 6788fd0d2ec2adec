// The left half of the frame as it was decoded beside the right half as it was filtered (key c).
#pragma once

#include <optional>

#include "app/overlay_canvas.h"
#include "app/overlay_text.h"
#include "kernels/frame.h"

namespace framelane {

/** Thread: one at a time. Owns: the divider's and the labels' pictures. */
class Comparison {
 public:
  /** For filtered frames of `format`. */
  explicit Comparison(const FrameFormat& format);

  /** True for frames that can stand side by side: of the same size and pixel format. */
  static bool comparable(const FrameFormat& a, const FrameFormat& b);
  /** Copies the left half of `original` into `picture`, and draws a divider of 2 px and labels. `original` and
   *  `picture` are comparable(); they may be the same memory. */
  void draw(const FrameView& picture, const FrameView& original) const;

 private:
  struct Label {
    OverlayCanvas canvas;
    cv::Point origin;
  };
  /** `left`: the left edge of the half that it names. */
  static Label make_label(const FrameFormat& format, const OverlayFont& font, const char* text, int left);

  int half_ = 0;  ///< the divider's left edge, on the canvas' grid
  OverlayCanvas divider_;
  std::optional<Label> original_label_;  ///< where there is room
  std::optional<Label> filtered_label_;
};

}  // namespace framelane
