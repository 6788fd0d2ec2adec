// Beside the frame's way: frames as pictures that a window shows.
#pragma once

#include <cstddef>

#include "pipeline/frame_converter.h"

struct AVFrame;

namespace framelane {

struct PictureSize {
  int width = 0;
  int height = 0;
  bool operator==(const PictureSize&) const = default;
};

/** The size of `frame` with square pixels: its width stretched by the sample aspect ratio. */
PictureSize display_size(const AVFrame& frame);
/** The size of `frame` as it is stored. */
PictureSize stored_size(const AVFrame& frame);

/** Makes display pictures of frames: full-range R'G'B', 8 bits, by the frame's own matrix and range, scaled. HDR is
 *  not tone-mapped, and 8-bit gray always counts as full range (libswscale reads it so). Quick rather than exact: a few
 * ms at 1080p. Thread: one at a time. */
class PicturePainter {
 public:
  /** Fills `size` pixels of 4 bytes B, G, R, A at `pixels`, whose rows are `pitch_bytes` apart. Throws
   *  std::runtime_error where libswscale cannot convert. */
  void paint(std::byte* pixels, std::ptrdiff_t pitch_bytes, PictureSize size, const AVFrame& frame);

 private:
  FrameConverter converter_{ConversionQuality::kQuick};
};

}  // namespace framelane
