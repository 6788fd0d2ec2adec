// Beside the frame's way.  Thread: encoder.
#include "app/overlay_text.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace framelane {
namespace {

/** How many times larger than shown letters are drawn: small ones more, so that all are smooth and cost the same. */
int oversize(int cap_height_px) { return std::max(64 / cap_height_px, 4); }
/** Units of Hershey's simplex letters, which putText() maps to one pixel each at scale 1. */
constexpr double kCapHeightUnits = 21;

/** First and last column that has ink, or {0, -1}. */
std::pair<int, int> ink_columns(const cv::Mat1b& picture) {
  cv::Mat1b columns;
  cv::reduce(picture, columns, 0, cv::REDUCE_MAX);
  const auto* begin = columns[0];
  const auto* end = begin + columns.cols;
  const auto has_ink = [](std::uint8_t value) { return value != 0; };
  const auto* first = std::find_if(begin, end, has_ink);
  if (first == end) return {0, -1};
  const auto* last = end - 1;
  while (*last == 0) --last;
  return {static_cast<int>(first - begin), static_cast<int>(last - begin)};
}

}  // namespace

OverlayFont::OverlayFont(int cap_height_px, Weight weight) : cap_height_px_(cap_height_px) {
  const double share = weight == Weight::kBold ? 0.17 : 0.12;
  const double stroke_px = std::max(1.0, share * cap_height_px);
  for (char letter = kFirst; letter <= kLast; ++letter) {
    glyphs_[letter - kFirst] = render(letter, cap_height_px, stroke_px);
  }
  int digit_advance = 0;
  for (char digit = '0'; digit <= '9'; ++digit) digit_advance = std::max(digit_advance, glyph(digit).advance);
  for (char digit = '0'; digit <= '9'; ++digit) {
    Glyph& shape = glyphs_[digit - kFirst];
    shape.left = (digit_advance - shape.coverage.cols) / 2;
    shape.advance = digit_advance;
  }
}

OverlayFont::Glyph OverlayFont::render(char letter, int cap_height_px, double stroke_px) {
  // Strokes are centred on Hershey's lines: the letter is one stroke higher than the lines' distance.
  const int larger = oversize(cap_height_px);
  const double scale = (cap_height_px - stroke_px) * larger / kCapHeightUnits;
  const int thickness = cvRound(stroke_px * larger);
  const int face = cv::FONT_HERSHEY_SIMPLEX;
  const std::string once(1, letter);
  int below = 0;
  const int width_once = cv::getTextSize(once, face, scale, 0, &below).width;
  const int width = cv::getTextSize(once + once, face, scale, 0, &below).width - width_once;

  const int rows_above = cap_height_px + cap_height_px / 2;  // brackets and accents rise above capitals
  const int rows = 2 * cap_height_px + cap_height_px / 2;
  const int margin = 2 * thickness;
  cv::Mat1b large(rows * larger, width + 2 * margin, std::uint8_t{0});
  const int baseline = rows_above * larger - thickness / 2;
  cv::putText(large, once, {margin, baseline}, face, scale, 255, thickness, cv::LINE_8);

  Glyph shape;
  const auto [first, last] = ink_columns(large);
  if (last < first) {
    shape.advance = std::max(cvRound(0.4 * cap_height_px), 3);
    return shape;
  }
  // Whole pixels wide and starting on one, so that upright stems are not smeared over two columns.
  const int columns = std::max(cvRound(static_cast<double>(last + 1 - first) / larger), 1);
  cv::resize(large.colRange(first, last + 1), shape.coverage, {columns, rows}, 0, 0, cv::INTER_AREA);
  const double gap_px = 0.09 * cap_height_px;
  shape.left = std::max(cvRound(static_cast<double>(first - margin) / larger), 0);
  const double right_px = static_cast<double>(width - (last - margin)) / larger;
  shape.advance = shape.left + columns + std::max(cvRound(right_px - stroke_px / 2 + gap_px), 1);
  return shape;
}

const OverlayFont::Glyph& OverlayFont::glyph(char letter) const {
  return glyphs_[(letter >= kFirst && letter <= kLast ? letter : '?') - kFirst];
}

int OverlayFont::width_px(std::string_view text) const {
  int width = 0;
  for (const char letter : text) width += glyph(letter).advance;
  return width;
}

void OverlayFont::draw(OverlayCanvas& canvas, std::string_view text, cv::Point baseline, const Ink& ink) const {
  const int rows_above = cap_height_px_ + cap_height_px_ / 2;
  for (const char letter : text) {
    const Glyph& shape = glyph(letter);
    if (!shape.coverage.empty()) {
      canvas.fill_mask(shape.coverage, {baseline.x + shape.left, baseline.y - rows_above}, ink);
    }
    baseline.x += shape.advance;
  }
}

void OverlayFont::draw_right(OverlayCanvas& canvas, std::string_view text, cv::Point baseline, const Ink& ink) const {
  draw(canvas, text, {baseline.x - width_px(text), baseline.y}, ink);
}

std::string OverlayFont::fitted(std::string_view text, int width_px) const {
  if (this->width_px(text) <= width_px) return std::string(text);
  std::string shortened(text);
  while (!shortened.empty() && this->width_px(shortened + "..") > width_px) shortened.pop_back();
  return shortened + "..";
}

}  // namespace framelane
