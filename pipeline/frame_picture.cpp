// Beside the frame's way.  Thread: any, one at a time (the preview: main).
#include "pipeline/frame_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "pipeline/av.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>
}

namespace framelane {

PictureSize stored_size(const AVFrame& frame) { return {frame.width, frame.height}; }

PictureSize display_size(const AVFrame& frame) {
  const auto [num, den] = frame.sample_aspect_ratio;
  if (num <= 0 || den <= 0) return stored_size(frame);
  const double width = static_cast<double>(frame.width) * num / den;
  return {std::max(static_cast<int>(std::lround(width)), 1), frame.height};
}

void PicturePainter::paint(std::byte* pixels, std::ptrdiff_t pitch_bytes, PictureSize size, const AVFrame& frame) {
  const AvFrame picture = make_frame();
  picture->format = AV_PIX_FMT_BGRA;
  picture->width = size.width;
  picture->height = size.height;
  picture->data[0] = reinterpret_cast<std::uint8_t*>(pixels);
  picture->linesize[0] = static_cast<int>(pitch_bytes);
  converter_.convert(*picture, frame);
}

}  // namespace framelane
