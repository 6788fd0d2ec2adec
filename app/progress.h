// How far a run is: a line for people, ffmpeg's -progress keys for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "app/console.h"
#include "pipeline/pipeline.h"

namespace framelane {

/** One look at a run. */
struct ProgressFacts {
  std::int64_t frames = 0;
  double fps = 0;  ///< of the last seconds
  double position_s = 0;
  double elapsed_s = 0;
  std::optional<double> fraction;     ///< 0 to 1; nothing where the end is not known
  std::optional<std::int64_t> bytes;  ///< written; nothing for "null"
  std::int64_t dropped = 0;
  Mode mode = Mode::kMultistream;
  int slots = 0;
  bool paused = false;
  std::optional<double> gpu_busy;  ///< 0 to 1; nothing on the CPU
};

/** "frame=  120 fps=59.8 time=00:00:04.80 speed=2.4x  42% ETA 0:03 multistream drop=3"; "drop=", " paused", percentage
 *  and ETA only where there is something to tell. */
std::string progress_line(const ProgressFacts& facts);

/** ffmpeg's keys, ours (mode, slots, gpu_busy) and `progress=continue` or `progress=end`, a line each. What is not
 *  known is N/A, as in ffmpeg. */
std::string progress_keys(const ProgressFacts& facts, bool end);

/** "00:01:30.50"; rounded to `decimals`. */
std::string clock_time(double seconds, int decimals);

/** Share of the whole that is done: by time, or by frames where their number is limited, whichever ends first.
 *  Nothing where neither is known. */
std::optional<double> done_fraction(double position_s, std::optional<double> duration_s, std::int64_t frames,
                                    std::optional<std::int64_t> frame_limit);

/** Shows a run's progress on the console (a line that is rewritten ten times a second, or plain lines every 5 s) and
 *  writes the keys to `target` twice a second.
 *  Thread: main. `pipeline` and `console` outlive it. */
class Progress {
 public:
  /** `target`: a file, "-" or ffmpeg's "pipe:1" for standard output, "pipe:2" for standard error, or empty. Throws
   *  OutputError where the file cannot be written. */
  Progress(const Pipeline& pipeline, const Device& device, Console& console, const std::string& target,
           std::optional<std::int64_t> frame_limit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /** Call often: shows what is due. */
  void update();
  /** Removes the rewritten line; writes the last keys. */
  void finish();
  ProgressFacts facts() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Sample {
    Clock::time_point time;
    std::int64_t frames = 0;
  };
  void remember_sample(Clock::time_point now);
  void write_keys(bool end);

  const Pipeline& pipeline_;
  const bool on_gpu_;
  Console& console_;
  const std::optional<std::int64_t> frame_limit_;
  int target_ = -1;
  const Clock::time_point start_;
  std::deque<Sample> samples_;
  Clock::time_point next_line_;
  Clock::time_point next_keys_;
};

}  // namespace framelane
