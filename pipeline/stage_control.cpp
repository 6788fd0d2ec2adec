#include "pipeline/stage_control.h"

namespace framelane {

void StageControl::request_stop() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

bool StageControl::wait_while_paused() {
  std::unique_lock lock(mutex_);
  const bool was_paused = paused_;
  changed_.wait(lock, [&] { return !paused_ || steps_ > 0 || stop_; });
  if (steps_ > 0) --steps_;
  return was_paused;
}

void StageControl::set_paused(bool paused) {
  {
    const std::scoped_lock lock(mutex_);
    paused_ = paused;
    steps_ = 0;
  }
  changed_.notify_all();
}

bool StageControl::paused() const {
  const std::scoped_lock lock(mutex_);
  return paused_;
}

void StageControl::step() {
  {
    const std::scoped_lock lock(mutex_);
    paused_ = true;
    ++steps_;
  }
  changed_.notify_all();
}

}  // namespace framelane
