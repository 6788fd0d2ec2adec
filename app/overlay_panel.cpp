// Beside the frame's way.  Thread: encoder.
#include "app/overlay_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace framelane {
namespace {

constexpr Rgb kPanelColor{0.04, 0.05, 0.07};
/** Text in deep frames is darker (see OverlayCanvas): the panel under it lets less through. */
constexpr double kPanelOpacity = 0.78;
constexpr double kDeepPanelOpacity = 0.92;
constexpr Rgb kTextColor{0.94, 0.95, 0.96};
constexpr Rgb kDimColor{0.62, 0.65, 0.70};
constexpr Rgb kTrackColor{0.20, 0.22, 0.26};
constexpr Rgb kOnAccentColor{0.03, 0.04, 0.05};
constexpr Rgb kAlarmColor{0.97, 0.36, 0.34};
/** Red, amber, green: how much overlap there is. */
constexpr std::array<Rgb, kModes.size()> kModeColors{Rgb{0.97, 0.44, 0.44}, {0.98, 0.75, 0.14}, {0.29, 0.87, 0.50}};
/** The CPU's stages cool at the start and pink at the end, the device's between them. */
constexpr std::array<Rgb, kStageCount> kStageColors{Rgb{0.38, 0.65, 0.98}, {0.62, 0.58, 0.96}, {0.13, 0.78, 0.86},
                                                    {0.29, 0.87, 0.50},    {0.98, 0.75, 0.14}, {0.95, 0.47, 0.72}};
constexpr std::array<const char*, kStageCount> kStageLabels{"decode", "preprocess", "H2D", "kernels", "D2H", "encode"};
constexpr std::array kEngines{Stage::kH2d, Stage::kKernels, Stage::kD2h};
/** Filters that keys 1 to 9 switch. */
constexpr std::size_t kMaxFilters = 9;
constexpr int kMaxFilterLines = 2;
/** A ring of more slots is shown as a bar. */
constexpr int kMaxRingCells = 16;

constexpr std::size_t index(Stage stage) { return static_cast<std::size_t>(stage); }

/** Three significant digits, so that columns stay aligned. */
std::string number(double value) { return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0); }
std::string milliseconds_text(double ms) { return number(ms) + " ms"; }
std::string percent(double share) { return fmt::format("{:.0f}%", 100 * std::clamp(share, 0.0, 1.0)); }
std::string ring_text(const OverlayFigures& figures) {
  return fmt::format("{}/{}", figures.slots_in_use, figures.slots);
}
std::string filter_text(std::size_t filter, const std::string& name) { return fmt::format("{} {}", filter + 1, name); }

}  // namespace

double scale_top(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (value <= step * power) return step * power;
  }
  return 10 * power;
}

OverlayPanel::OverlayPanel(const FrameFormat& format, const std::vector<FilterSwitch>& filters) {
  const cv::Size frame(format.width, format.height);
  layout_ = overlay_layout(frame, 0);
  if (layout_.detail == OverlayDetail::kNone) return;
  font_.emplace(layout_.cap_px, OverlayFont::Weight::kRegular);
  bold_.emplace(layout_.cap_px, OverlayFont::Weight::kBold);
  if (layout_.detail == OverlayDetail::kFull) {
    large_.emplace(7 * layout_.cap_px / 3, OverlayFont::Weight::kBold);
    layout_ = overlay_layout(frame, place_filters(filters));
    if (layout_.detail != OverlayDetail::kFull) filter_places_.clear();
  }
  canvas_ = std::make_unique<OverlayCanvas>(format, layout_.size);
  inks_ = make_inks(*canvas_);
  draw_background(format.pixel.depth_bits);
  canvas_->save();
}

OverlayPanel::Inks OverlayPanel::make_inks(const OverlayCanvas& canvas) {
  Inks inks{canvas.ink(kTextColor),
            canvas.ink(kDimColor),
            canvas.ink(kTrackColor),
            canvas.ink(kOnAccentColor),
            canvas.ink(kAlarmColor),
            {},
            {}};
  for (std::size_t i = 0; i < kModeColors.size(); ++i) inks.modes[i] = canvas.ink(kModeColors[i]);
  for (std::size_t i = 0; i < kStageColors.size(); ++i) inks.stages[i] = canvas.ink(kStageColors[i]);
  return inks;
}

int OverlayPanel::place_filters(const std::vector<FilterSwitch>& filters) {
  const int gap = layout_.cap_px;
  cv::Point pen(layout_.left, layout_.filters_baseline);
  int lines = 0;
  for (std::size_t i = 0; i < std::min(filters.size(), kMaxFilters); ++i) {
    const int width = font_->width_px(filter_text(i, filters[i].name)) + gap;
    if (lines == 0) lines = 1;
    if (pen.x + width > layout_.right && pen.x > layout_.left) {
      if (lines == kMaxFilterLines) break;
      ++lines;
      pen = {layout_.left, pen.y + layout_.line_pitch};
    }
    filter_places_.push_back({pen, width});
    pen.x += width + gap;
  }
  return lines;
}

void OverlayPanel::draw_divider(int y) {
  canvas_->fill({static_cast<double>(layout_.left), static_cast<double>(y),
                 static_cast<double>(layout_.right - layout_.left), std::max(1.0, layout_.cap_px / 14.0)},
                inks_.track);
}

void OverlayPanel::draw_background(int depth_bits) {
  const int cap = layout_.cap_px;
  const double radius_px = layout_.detail == OverlayDetail::kLine ? 0 : cap;
  canvas_->fill_rounded({{0, 0}, layout_.size}, radius_px,
                        canvas_->ink(kPanelColor, depth_bits > 8 ? kDeepPanelOpacity : kPanelOpacity));
  if (layout_.detail == OverlayDetail::kLine) return;
  for (std::size_t i = 0; i < kStageCount; ++i) {
    const int baseline = layout_.first_stage_baseline + static_cast<int>(i) * layout_.stage_pitch;
    const double swatch = 0.7 * cap;
    canvas_->fill(cv::Rect2d(layout_.left, baseline - 0.85 * cap, swatch, swatch), inks_.stages[i]);
    font_->draw(*canvas_, kStageLabels[i], {layout_.left + 4 * cap / 3, baseline}, inks_.text);
  }
  font_->draw(*canvas_, "ring", {layout_.left, layout_.ring_baseline}, inks_.dim);
  if (layout_.detail != OverlayDetail::kFull) return;
  draw_divider(layout_.fps_baseline + 5 * cap / 4);
  draw_divider(layout_.first_stage_baseline + (static_cast<int>(kStageCount) - 1) * layout_.stage_pitch + cap);
  draw_divider(layout_.graph.br().y + cap / 2);
}

void OverlayPanel::show(const OverlayFigures& figures) {
  if (layout_.detail == OverlayDetail::kNone) return;
  canvas_->restore();
  if (layout_.detail == OverlayDetail::kLine) {
    draw_line(figures);
  } else {
    draw_header(figures);
    draw_frame_times(figures);
    draw_stages(figures);
    draw_ring(figures);
  }
  if (layout_.detail == OverlayDetail::kFull) {
    draw_graph(figures);
    draw_busy(figures);
    draw_filters(figures);
  }
  canvas_->finish();
}

void OverlayPanel::draw(const FrameView& frame) const {
  if (layout_.detail != OverlayDetail::kNone) canvas_->blend(frame, layout_.origin);
}

void OverlayPanel::draw_line(const OverlayFigures& figures) {
  const int width = layout_.right - layout_.left;
  const std::string mode(mode_name(figures.mode));
  const std::string fps = fmt::format("{:.0f} fps", figures.fps);
  const std::string frame_time = milliseconds_text(figures.frame_time_median_ms);
  const std::string all = fmt::format("{}  {}  {}", mode, fps, frame_time);
  const Ink& ink = inks_.modes[static_cast<std::size_t>(figures.mode)];
  if (bold_->width_px(all) <= width) {
    bold_->draw(*canvas_, all, {layout_.left, layout_.header_baseline}, ink);
    return;
  }
  // The mode shows in the colour where there is no room for its name.
  const std::string shorter = fmt::format("{}  {}", mode, fps);
  const std::string& text = bold_->width_px(shorter) <= width ? shorter : fps;
  bold_->draw(*canvas_, text, {layout_.left, layout_.header_baseline}, ink);
}

int OverlayPanel::draw_mode(Mode mode, int baseline) {
  const int cap = layout_.cap_px;
  const std::string_view name = mode_name(mode);
  const cv::Rect pill(layout_.left, baseline - cap - cap / 2, bold_->width_px(name) + 3 * cap / 2, 2 * cap);
  canvas_->fill_rounded(pill, cap / 2.0, inks_.modes[static_cast<std::size_t>(mode)]);
  bold_->draw(*canvas_, name, {pill.x + 3 * cap / 4, baseline}, inks_.on_accent);
  return pill.br().x;
}

void OverlayPanel::draw_header(const OverlayFigures& figures) {
  const int cap = layout_.cap_px;
  const int baseline = layout_.header_baseline;
  const int pill_right = draw_mode(figures.mode, baseline);
  if (layout_.detail == OverlayDetail::kEssentials) {
    bold_->draw_right(*canvas_, fmt::format("{} fps", number(figures.fps)), {layout_.right, baseline}, inks_.text);
    return;
  }
  const std::string frame = fmt::format("frame {}", figures.frame);
  font_->draw_right(*canvas_, frame, {layout_.right, baseline}, inks_.dim);
  const int room = layout_.right - font_->width_px(frame) - pill_right - 2 * cap;
  font_->draw(*canvas_, font_->fitted(figures.device_name, room), {pill_right + cap, baseline}, inks_.dim);
}

void OverlayPanel::draw_frame_times(const OverlayFigures& figures) {
  const int cap = layout_.cap_px;
  const int baseline = layout_.fps_baseline;
  const std::string median = milliseconds_text(figures.frame_time_median_ms);
  const std::string p99 = milliseconds_text(figures.frame_time_p99_ms);
  if (layout_.detail == OverlayDetail::kEssentials) {
    font_->draw(*canvas_, "frame " + median, {layout_.left, baseline}, inks_.text);
    font_->draw_right(*canvas_, "p99 " + p99, {layout_.right, baseline}, inks_.text);
    return;
  }
  const std::string fps = number(figures.fps);
  large_->draw(*canvas_, fps, {layout_.left, baseline}, inks_.text);
  const int fps_right = layout_.left + large_->width_px(fps) + cap / 2;
  font_->draw(*canvas_, "fps", {fps_right, baseline}, inks_.dim);
  const int labels = layout_.right - 16 * cap;
  const int upper = baseline - layout_.line_pitch + cap / 4;
  font_->draw(*canvas_, "frame time", {labels, upper}, inks_.dim);
  font_->draw_right(*canvas_, median, {layout_.right, upper}, inks_.text);
  font_->draw(*canvas_, "p99", {labels, baseline}, inks_.dim);
  font_->draw_right(*canvas_, p99, {layout_.right, baseline}, inks_.text);
}

void OverlayPanel::draw_bar(const cv::Rect2d& track, double share, const Ink& ink) {
  canvas_->fill(track, inks_.track);
  canvas_->fill({track.x, track.y, track.width * std::clamp(share, 0.0, 1.0), track.height}, ink);
}

void OverlayPanel::draw_stages(const OverlayFigures& figures) {
  const int cap = layout_.cap_px;
  double longest = 0;
  for (const auto& ms : figures.stage_ms) longest = std::max(longest, ms.value_or(0));
  const double top = scale_top(longest);
  for (std::size_t i = 0; i < kStageCount; ++i) {
    const int baseline = layout_.first_stage_baseline + static_cast<int>(i) * layout_.stage_pitch;
    const cv::Rect2d track(layout_.bar_left, baseline - cap, layout_.bar_right - layout_.bar_left, cap);
    const auto& ms = figures.stage_ms[i];
    draw_bar(track, ms.value_or(0) / top, inks_.stages[i]);
    font_->draw_right(*canvas_, ms ? milliseconds_text(*ms) : "-", {layout_.right, baseline},
                      ms ? inks_.text : inks_.dim);
  }
}

void OverlayPanel::draw_graph(const OverlayFigures& figures) {
  const int cap = layout_.cap_px;
  const cv::Rect& graph = layout_.graph;
  // A rare spike is cut off rather than allowed to flatten everything else.
  const double top_ms = scale_top(std::max(1.25 * figures.frame_time_p99_ms, 1e-3));
  const std::string mark = fmt::format("{:g} ms", top_ms);
  const int plot_right = graph.br().x - font_->width_px(mark) - cap / 2;
  const double step = static_cast<double>(plot_right - graph.x) / static_cast<double>(OverlayFigures::kGraphFrames);
  const Ink& ink = inks_.stages[index(Stage::kDecode)];
  // The newest frame is at the right end.
  double x = plot_right - step * static_cast<double>(figures.frame_times_ms.size());
  for (const double ms : figures.frame_times_ms) {
    const double height = graph.height * std::clamp(ms / top_ms, 0.0, 1.0);
    canvas_->fill({x, graph.br().y - height, 0.8 * step, height}, ms > top_ms ? inks_.alarm : ink);
    x += step;
  }
  const double thickness = std::max(1.0, cap / 14.0);
  for (int dash = graph.x; dash < plot_right; dash += cap) {
    const double length = std::min(0.5 * cap, static_cast<double>(plot_right - dash));
    canvas_->fill({static_cast<double>(dash), static_cast<double>(graph.y), length, thickness}, inks_.dim);
    canvas_->fill({static_cast<double>(dash), graph.y + graph.height / 2.0, length, thickness}, inks_.track);
  }
  font_->draw_right(*canvas_, mark, {layout_.right, graph.y + cap}, inks_.dim);
  font_->draw_right(*canvas_, "0", {layout_.right, graph.br().y}, inks_.dim);
}

void OverlayPanel::draw_ring(const OverlayFigures& figures) {
  const int cap = layout_.cap_px;
  const int baseline = layout_.ring_baseline;
  const std::string dropped = fmt::format("dropped {}", figures.dropped);
  font_->draw_right(*canvas_, dropped, {layout_.right, baseline}, figures.dropped > 0 ? inks_.alarm : inks_.dim);
  const int start = layout_.left + font_->width_px("ring ") + cap / 2;
  const std::string text = ring_text(figures);
  if (layout_.detail == OverlayDetail::kEssentials) {
    font_->draw(*canvas_, text, {start, baseline}, inks_.text);
    return;
  }
  const Ink& ink = inks_.stages[index(Stage::kH2d)];
  const int room = layout_.bar_right - layout_.bar_left;
  const int slots = std::max(figures.slots, 1);
  double right = layout_.bar_left + room / 2.0;
  if (slots > kMaxRingCells) {
    draw_bar(cv::Rect2d(layout_.bar_left, baseline - cap, room / 2.0, cap),
             static_cast<double>(figures.slots_in_use) / slots, ink);
  } else {
    const double pitch = std::min<double>(cap, room / 2.0 / slots);
    for (int slot = 0; slot < slots; ++slot) {
      canvas_->fill({layout_.bar_left + slot * pitch, static_cast<double>(baseline - cap), 0.75 * pitch,
                     static_cast<double>(cap)},
                    slot < figures.slots_in_use ? ink : inks_.track);
    }
    right = layout_.bar_left + slots * pitch;
  }
  font_->draw(*canvas_, text, {static_cast<int>(right) + cap / 2, baseline}, inks_.text);
}

void OverlayPanel::draw_busy(const OverlayFigures& figures) {
  const int cap = layout_.cap_px;
  const int baseline = layout_.busy_baseline;
  const auto& kernels = figures.busy[index(Stage::kKernels)];
  // Without copies there is no GPU: the filters run on the CPU.
  const bool copies = figures.busy[index(Stage::kH2d)] || figures.busy[index(Stage::kD2h)];
  font_->draw(*canvas_, copies ? "GPU busy" : "filters busy", {layout_.left, baseline}, inks_.dim);
  const auto track = [&](double left, double right) { return cv::Rect2d(left, baseline - cap, right - left, cap); };
  if (!copies) {
    draw_bar(track(layout_.bar_left, layout_.bar_right), kernels.value_or(0), inks_.stages[index(Stage::kKernels)]);
    font_->draw_right(*canvas_, kernels ? percent(*kernels) : "-", {layout_.right, baseline}, inks_.text);
    return;
  }
  const double pitch = (layout_.right - layout_.bar_left + cap) / 3.0;
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    const double left = layout_.bar_left + static_cast<double>(i) * pitch;
    const double right = left + pitch - cap;
    const double busy = figures.busy[index(kEngines[i])].value_or(0);
    draw_bar(track(left, right - 4 * cap), busy, inks_.stages[index(kEngines[i])]);
    font_->draw_right(*canvas_, percent(busy), {static_cast<int>(right), baseline}, inks_.text);
  }
}

void OverlayPanel::draw_filters(const OverlayFigures& figures) {
  const int cap = layout_.cap_px;
  for (std::size_t i = 0; i < std::min(filter_places_.size(), figures.filters.size()); ++i) {
    const auto& [name, on] = figures.filters[i];
    const auto& [baseline, width_px] = filter_places_[i];
    const cv::Rect pill(baseline.x, baseline.y - cap - cap / 3, width_px, cap + 2 * (cap / 3));
    if (on) canvas_->fill_rounded(pill, cap / 3.0, inks_.track);
    font_->draw(*canvas_, filter_text(i, name), {baseline.x + cap / 2, baseline.y}, on ? inks_.text : inks_.dim);
    if (!on) {
      canvas_->fill({baseline.x + cap / 2.0, baseline.y - cap / 2.0, static_cast<double>(width_px - cap),
                     std::max(1.0, cap / 10.0)},
                    inks_.alarm);
    }
  }
}

}  // namespace framelane
