// How many frames a measured run takes, and which of them count: `compare` and `bench` plan their rounds alike.
#pragma once

#include <cstdint>
#include <vector>

#include "app/mode_table.h"

namespace framelane {

/** Frames of one run, in their order. */
struct FramePlan {
  std::int64_t warm_up = 0;  ///< fill decoder and ring
  std::int64_t counted = 0;
  std::int64_t tail = 0;  ///< keep them full until the last counted frame has left
  std::int64_t total() const { return warm_up + counted + tail; }
  bool operator==(const FramePlan&) const = default;
};

/** Chains that take seconds a frame are told from few frames. */
inline constexpr std::int64_t kLeastFrames = 10;
/** The recorder keeps 65,536 frames, those before and behind the counted ones too. */
inline constexpr std::int64_t kMostFrames = 50'000;
/** A run has at least this many counted frames, or is called too short. Transport counts no fewer, where fewer were
 *  asked for. */
inline constexpr std::int64_t kSteadyFrames = 30;

/** `wish`, where the input has only `available` frames (at least 1): fewer are counted; where that would leave less
 *  than kSteadyFrames, nearly all are, behind a short warm-up and without a tail. */
FramePlan fitted(const FramePlan& wish, std::int64_t available);

/** Frames that take `run_ms` at `frame_ms` each, from kLeastFrames to kMostFrames. */
std::int64_t frames_for(double run_ms, double frame_ms);

/** Says in `run`, which has records, which of them count. */
void apply(ModeRound& run, const FramePlan& plan);

/** The modes' order in round `round`: turned by one from round to round, so that none always comes first. */
std::vector<Mode> turned(std::vector<Mode> modes, int round);

}  // namespace framelane
