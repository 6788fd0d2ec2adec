// What the overlay shows, as plain numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/mode.h"
#include "pipeline/recorder.h"

namespace framelane {

/** A filter of the chain and whether it works. */
struct FilterSwitch {
  std::string name;
  bool on = true;
};

/** Everything that is drawn. Times in milliseconds; "busy" is an engine's utilisation, 0 to 1. */
struct OverlayFigures {
  Mode mode = Mode::kMultistream;
  std::string device_name;
  std::int64_t frame = 0;
  double fps = 0;
  double frame_time_median_ms = 0;
  double frame_time_p99_ms = 0;
  /** Medians; nothing where the stage does not happen (copies on the CPU device). */
  std::array<std::optional<double>, kStageCount> stage_ms;
  std::vector<double> frame_times_ms;  ///< oldest first, at most kGraphFrames
  int slots = 0;
  int slots_in_use = 0;
  std::int64_t dropped = 0;
  /** Of H2D, kernels and D2H; nothing where the engine has no work of its own. */
  std::array<std::optional<double>, kStageCount> busy;
  std::vector<FilterSwitch> filters;

  static constexpr std::size_t kGraphFrames = 120;
};

/** The figures that follow from the latest records, oldest first: mode, frame, fps, times and utilisation. */
OverlayFigures figures_of(const std::vector<FrameRecord>& records);

}  // namespace framelane
