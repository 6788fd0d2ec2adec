// Beside the frame's way.  Thread: encoder.
#include "app/comparison.h"

#include <algorithm>
#include <cstring>
namespace framelane {
namespace {

constexpr Rgb kWhite{0.94, 0.95, 0.96};
constexpr Rgb kBlack{0.04, 0.05, 0.07};
constexpr int kGrid = OverlayCanvas::kGrid;
constexpr int kDividerPx = 2;
/** From here on each half has room for its label. */
constexpr int kLabelledWidth = 200;
constexpr int kLabelledHeight = 60;

int down_to_grid(int length) { return length / kGrid * kGrid; }
int up_to_grid(int length) { return down_to_grid(length + kGrid - 1); }

}  // namespace

Comparison::Comparison(const FrameFormat& format)
    : half_(down_to_grid(format.width / 2)), divider_(format, {kGrid, up_to_grid(format.height)}) {
  divider_.fill(cv::Rect2d(0, 0, kDividerPx, format.height), divider_.ink(kWhite));
  divider_.finish();
  if (format.width < kLabelledWidth || format.height < kLabelledHeight) return;
  const OverlayFont font(std::max(std::min(format.width / 135, format.height / 76), 7), OverlayFont::Weight::kRegular);
  original_label_ = make_label(format, font, "original", 0);
  filtered_label_ = make_label(format, font, "filtered", half_ + kDividerPx);
}

Comparison::Label Comparison::make_label(const FrameFormat& format, const OverlayFont& font, const char* text,
                                         int left) {
  const int cap = font.cap_height_px();
  const int width = font.width_px(text) + 2 * cap;
  const cv::Size size(up_to_grid(width), up_to_grid(2 * cap));
  Label label{OverlayCanvas(format, size), {up_to_grid(left + cap), down_to_grid(format.height - size.height - cap)}};
  label.canvas.fill_rounded({0, 0, width, 2 * cap}, cap / 2.0, label.canvas.ink(kBlack, 0.7));
  font.draw(label.canvas, text, {cap, 3 * cap / 2}, label.canvas.ink(kWhite));
  label.canvas.finish();
  return label;
}

bool Comparison::comparable(const FrameFormat& a, const FrameFormat& b) {
  return a.pixel == b.pixel && a.width == b.width && a.height == b.height;
}

void Comparison::draw(const FrameView& picture, const FrameView& original) const {
  const PixelFormat& pixel = picture.format.pixel;
  for (int plane = 0; plane < pixel.plane_count(); ++plane) {
    const PlaneView& to = picture.planes[plane];
    const PlaneView& from = original.planes[plane];
    if (to.data == from.data) continue;
    const int columns = half_ >> (pixel.is_chroma(plane) ? pixel.chroma_shift_x : 0);
    const auto bytes = static_cast<std::size_t>(columns) * static_cast<std::size_t>(pixel.bytes_per_sample());
    for (int y = 0; y < to.height; ++y) {
      std::memcpy(to.data + y * to.pitch_bytes, from.data + y * from.pitch_bytes, bytes);
    }
  }
  divider_.blend(picture, {half_, 0});
  for (const auto* label : {&original_label_, &filtered_label_}) {
    if (*label) (*label)->canvas.blend(picture, (*label)->origin);
  }
}

}  // namespace framelane
