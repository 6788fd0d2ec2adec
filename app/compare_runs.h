// The runs of `framelane compare`: all modes over the same frames, in turns, round after round, so that what slows the
// machine for a while (clocks, heat, neighbours) meets all of them alike.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/frame_plan.h"
#include "app/mode_table.h"
#include "kernels/frame.h"
#include "pipeline/pipeline.h"

namespace framelane {

struct CompareSetup {
  /** What every run has in common; its mode and frame limit are set for each run. Its output may be replaced: every run
   *  writes it anew. */
  PipelineOptions pipeline;
  std::vector<Mode> modes;
  int rounds = 5;
  std::optional<std::int64_t> frames;         ///< to count in each run; nothing: as many as take a while
  std::function<void(std::string)> progress;  ///< told of what is going on, often; may be empty
  std::function<bool()> stop;                 ///< polled: true ends the comparison
};

/** One way to run all modes. */
struct CompareBlock {
  std::vector<ModeRound> runs;  ///< in the order in which they were made; whole rounds only
  FramePlan plan;
  int rounds = 0;  ///< that are whole: fewer than asked for after a stop
  int slots = 0;
  bool cuda_graphs = false;  ///< whether the last run that can use them did
  bool too_short = false;    ///< end to end: fewer than kSteadyFrames are counted, or none follow them
};

struct EndToEnd : CompareBlock {
  FrameFormat input_format;
  FrameFormat output_format;
  std::string output_description;
};

/** A fresh pipeline for each run. A first run, of the mode that overlaps most, finds the number of frames and warms up
 *  the machine. Blocking. Thread: main. Throws as Pipeline does. */
EndToEnd compare_end_to_end(const CompareSetup& setup);

/** The same frames, decoded beforehand, through ring and device alone. `format`: as compare_end_to_end() told it. */
CompareBlock compare_transport(const CompareSetup& setup, const FrameFormat& format);

}  // namespace framelane
