// Ending a pipeline before its input does.
#pragma once

#include <optional>

#include "pipeline/pipeline.h"

namespace framelane {

/** Asks a pipeline to stop; interrupts its input where that is still being read a second later, or may never end.
 *  Thread: the pipeline's main one. */
class PipelineStop {
 public:
  /** `pipeline` outlives this. */
  explicit PipelineStop(Pipeline& pipeline) : pipeline_(pipeline) {}

  /** Once or more often; also ends a pause. */
  void ask();
  /** Often, while the pipeline runs. */
  void follow_up();
  bool asked() const { return asked_at_.has_value(); }

 private:
  Pipeline& pipeline_;
  std::optional<TimePoint> asked_at_;
  bool input_interrupted_ = false;
};

}  // namespace framelane
