// Letters for the overlay, sharp at small sizes.
#pragma once

#include <array>
#include <opencv2/core.hpp>
#include <string>
#include <string_view>

#include "app/overlay_canvas.h"

namespace framelane {

/** Printable ASCII at one size; other bytes show as '?'. The shapes are OpenCV's Hershey letters, drawn large once,
 *  then scaled so that stems, cap height and x-height meet whole pixels: legible down to 6 px, where OpenCV's own
 *  drawing is a blur. Digits are equally wide.
 *  Thread: all calls on a const object may come from any thread. */
class OverlayFont {
 public:
  enum class Weight { kRegular, kBold };

  /** `cap_height_px`: of a capital letter, at least 6. */
  OverlayFont(int cap_height_px, Weight weight);

  int cap_height_px() const { return cap_height_px_; }
  int width_px(std::string_view text) const;
  /** `baseline`: where the first letter starts, and the row below its foot. */
  void draw(OverlayCanvas& canvas, std::string_view text, cv::Point baseline, const Ink& ink) const;
  /** Ends at `baseline` instead. */
  void draw_right(OverlayCanvas& canvas, std::string_view text, cv::Point baseline, const Ink& ink) const;
  /** `text`, shortened by ".." where it is wider than `width_px`. */
  std::string fitted(std::string_view text, int width_px) const;

 private:
  static constexpr char kFirst = ' ';
  static constexpr char kLast = '~';
  struct Glyph {
    cv::Mat1b coverage;
    int left = 0;     ///< from the pen to the coverage's first column
    int advance = 0;  ///< to the next letter
  };
  static Glyph render(char letter, int cap_height_px, double stroke_px);
  const Glyph& glyph(char letter) const;

  int cap_height_px_;
  std::array<Glyph, kLast - kFirst + 1> glyphs_;
};

}  // namespace framelane
