#include "app/pipeline_stop.h"

#include <chrono>

namespace framelane {
namespace {

constexpr std::chrono::seconds kReadGrace{1};

}  // namespace

void PipelineStop::ask() {
  if (asked_at_) return;
  asked_at_ = Clock::now();
  pipeline_.request_stop();
  pipeline_.set_paused(false);
}

void PipelineStop::follow_up() {
  if (!asked_at_ || input_interrupted_) return;
  const bool may_never_end = pipeline_.input().is_live() || pipeline_.input().is_stdin();
  if (!may_never_end && Clock::now() - *asked_at_ <= kReadGrace) return;
  pipeline_.interrupt_input();
  input_interrupted_ = true;
}

}  // namespace framelane
