#include "app/frame_plan.h"

#include <algorithm>
#include <cstddef>

namespace framelane {
namespace {

/** The first frame was decoded while the pipeline was being built; where it counts, that wait does not. */
void close_gap_of_setup(FrameRecord& first) {
  Span& decode = first[Stage::kDecode];
  const Clock::duration gap = first[Stage::kPreprocess].begin - decode.end;
  decode.begin += gap;
  decode.end += gap;
}

}  // namespace

FramePlan fitted(const FramePlan& wish, std::int64_t available) {
  if (available >= wish.total()) return wish;
  const std::int64_t left = available - wish.warm_up - wish.tail;
  if (left >= std::min(kSteadyFrames, wish.counted)) return {wish.warm_up, left, wish.tail};
  const std::int64_t warm_up = std::min(wish.warm_up, available / 4);
  return {warm_up, std::min(wish.counted, available - warm_up), 0};
}

std::int64_t frames_for(double run_ms, double frame_ms) {
  return std::clamp(static_cast<std::int64_t>(run_ms / frame_ms), kLeastFrames, kMostFrames);
}

void apply(ModeRound& run, const FramePlan& plan) {
  run.warm_up_frames = static_cast<std::size_t>(plan.warm_up);
  run.tail_frames = static_cast<std::size_t>(plan.tail);
  if (plan.warm_up == 0) close_gap_of_setup(run.records.front());
}

std::vector<Mode> turned(std::vector<Mode> modes, int round) {
  std::ranges::rotate(modes, modes.begin() + round % static_cast<std::ptrdiff_t>(modes.size()));
  return modes;
}

}  // namespace framelane
