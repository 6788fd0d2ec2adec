// The three ways to submit a frame's work, and which of them holds for which frame.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string_view>

namespace framelane {

enum class Mode : std::uint8_t { kSync, kAsync, kMultistream };
inline constexpr std::array kModes{Mode::kSync, Mode::kAsync, Mode::kMultistream};

/** Whether a frame's work (H2D, kernels, D2H) is launched as one captured graph a slot; kAuto: where that measures
 *  faster in the mode that the run begins with. */
enum class CudaGraphs : std::uint8_t { kAuto, kOn, kOff };

std::string_view mode_name(Mode mode);
/** "sync", "async" or "multistream"; throws UsageError. */
Mode parse_mode(std::string_view name);

/** Decides each frame's mode once, when the decoder starts on it, so that a switch is frame-exact.
 *  Thread: set() any; mode_for() the decoder, with rising frame numbers. */
class ModeControl {
 public:
  /** `switches`: from that frame on, that mode. */
  ModeControl(Mode initial, std::map<std::int64_t, Mode> switches) : mode_(initial), switches_(std::move(switches)) {}

  void set(Mode mode) { mode_ = mode; }
  Mode current() const { return mode_; }
  Mode mode_for(std::int64_t frame) {
    if (const auto found = switches_.find(frame); found != switches_.end()) mode_ = found->second;
    return mode_;
  }

 private:
  std::atomic<Mode> mode_;
  const std::map<std::int64_t, Mode> switches_;
};

}  // namespace framelane
