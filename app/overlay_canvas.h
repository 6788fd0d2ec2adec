// A small picture that lies over a frame: drawn in the frame's own codes, blended into its planes.
#pragma once

#include <array>
#include <opencv2/core.hpp>

#include "kernels/frame.h"

namespace framelane {

/** Non-linear R'G'B' of a display signal, 0 to 1. */
struct Rgb {
  double r = 0;
  double g = 0;
  double b = 0;
};

/** A colour in the codes of a canvas' frame (8 bits of them), multiplied by its opacity; the opacity last. */
using Ink = cv::Vec4b;

/** Holds codes of the frame's colour model multiplied by opacity, so that every drawing step and the final blend are
 *  plain linear mixes, right in Y'CbCr, gray and GBR alike. Inks have 8 bits; deeper frames get them shifted up.
 *  Above 8 bits colours are darkened to kDeepLevel: the frame may be HDR, whose full code is 10,000 (PQ) or 1,000 cd/m2
 *  (HLG). 58 % of PQ's range is the 203 cd/m2 of HDR reference white (ITU-R BT.2408), so white is neither blinding
 *  there nor too dark to read in 10-bit SDR.
 *  Thread: one at a time. */
class OverlayCanvas {
 public:
  static constexpr double kDeepLevel = 0.58;
  /** Sizes and positions are multiples of this, the coarsest chroma subsampling. */
  static constexpr int kGrid = 4;

  /** A transparent canvas; `size` in multiples of kGrid. */
  OverlayCanvas(const FrameFormat& format, cv::Size size);

  cv::Size size() const { return pixels_.size(); }
  /** `opacity` 0 to 1. */
  Ink ink(const Rgb& color, double opacity = 1) const;

  void clear() { pixels_ = cv::Scalar::all(0); }
  /** Parts of pixels are covered in proportion. What lies outside the canvas is cut off, here and below. */
  void fill(const cv::Rect2d& area, const Ink& ink);
  void fill_rounded(const cv::Rect& area, double radius_px, const Ink& ink);
  /** Where `coverage` (0 to 255) is, with its top left corner at `origin`. */
  void fill_mask(const cv::Mat1b& coverage, cv::Point origin, const Ink& ink);

  /** Remembers what is drawn so far, for restore(). */
  void save() { pixels_.copyTo(saved_); }
  void restore() { saved_.copyTo(pixels_); }

  /** Takes over what was drawn for blend(). */
  void finish();
  /** Mixes the finished picture into a frame of the canvas' format; `origin` in multiples of kGrid. Frames with alpha
   *  become opaque under it. What lies outside the frame is cut off. */
  void blend(const FrameView& frame, cv::Point origin) const;

 private:
  /** One plane's codes (multiplied by opacity) and opacities, at the plane's resolution. */
  struct Layer {
    cv::Mat1b codes;
    cv::Mat1b opacity;
  };
  FrameFormat format_;
  cv::Mat4b pixels_;
  cv::Mat4b saved_;
  std::array<Layer, kMaxPlanes> layers_;
};

}  // namespace framelane
