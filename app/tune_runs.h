// The runs that `framelane tune` measures: the first frames of one input, without an output, again and again.
#pragma once

#include <cstddef>
#include <vector>

#include "app/tune_options.h"
#include "app/tuned_settings.h"
#include "kernels/frame.h"
#include "pipeline/pipeline.h"

namespace framelane {

/** Which frames of each run count: [warm_up, end). */
struct MeasuredWindow {
  std::size_t warm_up = 0;
  std::size_t end = 0;
};

/** Short runs over the first frames of one input. Thread: main. */
class MeasuredRuns {
 public:
  /** Creates the device. Throws UsageError for the chain, DeviceError. */
  explicit MeasuredRuns(const TuneOptions& options);

  /** Runs with all defaults: they say what these are, and how long the other runs are to be. */
  void run_pilots(double budget_s);
  /** 0 when stopped by a signal. */
  double fps(const RunSettings& settings);

  Device& device() const { return *base_.device; }
  const PipelineOptions& base() const { return base_; }
  const RunSettings& defaults() const { return defaults_; }
  const FrameFormat& format() const { return format_; }
  const MeasuredWindow& window() const { return window_; }
  std::size_t count() const { return count_; }

 private:
  /** Frames that left within the window, and how long that took. */
  struct Pace {
    double frames = 0;
    double span_s = 0;
    double fps() const { return span_s > 0 ? frames / span_s : 0; }
  };
  static Pace steady_pace(const std::vector<FrameRecord>& records, const MeasuredWindow& window);
  Pace run_once(const RunSettings& settings);
  /** `available`: the input's frames, 0 where that is not known. */
  void choose_window(double fps, std::size_t available, double budget_s);

  PipelineOptions base_;
  RunSettings defaults_;
  FrameFormat format_;
  MeasuredWindow window_;
  std::size_t repeats_ = 1;
  double expected_s_ = 0;  // of a run
  std::size_t count_ = 0;
};

}  // namespace framelane
