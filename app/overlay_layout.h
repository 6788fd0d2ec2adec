// Where things stand on the overlay, and how much of it a frame has room for.
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>

namespace framelane {

enum class OverlayDetail : std::uint8_t {
  kNone,
  kLine,        ///< mode, fps and frame time in one line
  kEssentials,  ///< those, stage bars, ring and drops
  kFull         ///< all
};

/** All lengths follow from one: the height of a capital letter. Texts are given by their baseline's left end.
 *  Measured from the panel's corner, in pixels. */
struct OverlayLayout {
  OverlayDetail detail = OverlayDetail::kNone;
  int cap_px = 0;    ///< height of a capital letter
  cv::Point origin;  ///< the panel's corner in the frame, on the canvas' grid
  cv::Size size;     ///< a multiple of the grid

  int left = 0;  ///< of everything inside
  int right = 0;
  int header_baseline = 0;
  int fps_baseline = 0;
  int first_stage_baseline = 0;
  int stage_pitch = 0;
  int bar_left = 0;
  int bar_right = 0;
  cv::Rect graph;
  int ring_baseline = 0;
  int busy_baseline = 0;
  int filters_baseline = 0;
  int line_pitch = 0;
};

/** Letters have 1/77 of a 16:9 frame's height, so that the full panel takes a third of the width; at least 7 px (6 px
 *  in small frames), for which small frames give up a larger share, and then details. `filter_lines`: lines of text
 *  for the filters' names. */
OverlayLayout overlay_layout(cv::Size frame, int filter_lines);

}  // namespace framelane
