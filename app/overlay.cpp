// decode > ring > submit > [draw] encode > mux.  Thread: encoder.
#include "app/overlay.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <utility>

namespace framelane {
namespace {

/** Figures come from this many of the latest frames: steady digits, and a second or more of most videos. */
constexpr std::size_t kFrames = 240;
constexpr double kRenewalPeriod_s = 0.1;
/** Time between renewals over the time of one: at most 1 % of the thread. */
constexpr int kCostFactor = 100;

std::vector<FilterSwitch> filter_switches(const Pipeline& pipeline, std::uint64_t filters_on) {
  std::vector<FilterSwitch> switches;
  for (std::size_t i = 0; i < pipeline.filters().size(); ++i) {
    switches.push_back({std::string(pipeline.filters()[i].descriptor->name), i >= 64 || (filters_on >> i & 1) != 0});
  }
  return switches;
}

}  // namespace

Overlay::Overlay(const OverlayControls& controls, std::string device_name)
    : controls_(controls), device_name_(std::move(device_name)) {}

void Overlay::draw(const FinishedFrame& frame, const Pipeline& pipeline) {
  if (frame.picture.format != format_) {
    format_ = frame.picture.format;
    comparison_.reset();
    panel_.reset();
  }
  if (controls_.compare_original) draw_comparison(frame);
  if (controls_.hud) draw_panel(frame, pipeline);
}

void Overlay::draw_comparison(const FinishedFrame& frame) {
  if (!Comparison::comparable(frame.picture.format, frame.original.format)) {
    if (!std::exchange(told_not_comparable_, true)) {
      spdlog::warn("the original ({}) cannot be shown beside the filtered picture ({}): size or format differs",
                   describe(frame.original.format), describe(frame.picture.format));
    }
    return;
  }
  if (!comparison_) comparison_.emplace(format_);
  comparison_->draw(frame.picture, frame.original);
}

void Overlay::draw_panel(const FinishedFrame& frame, const Pipeline& pipeline) {
  if (!panel_) {
    panel_.emplace(format_, filter_switches(pipeline, ~std::uint64_t{0}));
    renew_panel(frame.record, pipeline);
  } else if (is_due(frame.record)) {
    renew_panel(frame.record, pipeline);
  }
  panel_->draw(frame.picture);
}

void Overlay::renew_panel(const FrameRecord& record, const Pipeline& pipeline) {
  shown_mode_ = record.mode;
  shown_pts_s_ = record.pts_s;
  shown_at_ = Clock::now();
  panel_->show(figures(record, pipeline));
  cost_ = Clock::now() - shown_at_;
}

bool Overlay::is_due(const FrameRecord& record) const {
  if (record.mode != shown_mode_) return true;
  const Clock::duration age = Clock::now() - shown_at_;
  if (age < kCostFactor * cost_) return false;
  return milliseconds(age) >= 1000 * kRenewalPeriod_s || std::abs(record.pts_s - shown_pts_s_) >= kRenewalPeriod_s;
}

OverlayFigures Overlay::figures(const FrameRecord& record, const Pipeline& pipeline) const {
  // The frame at hand is not in the recorder yet: it has not been encoded.
  OverlayFigures figures = figures_of(pipeline.recorder().latest(kFrames));
  const PipelineStatus status = pipeline.status();
  figures.mode = record.mode;
  figures.frame = record.frame;
  figures.device_name = device_name_;
  figures.slots = status.slots;
  figures.slots_in_use = status.slots_in_use;
  figures.dropped = status.dropped;
  figures.filters = filter_switches(pipeline, status.filters_on);
  return figures;
}

}  // namespace framelane
