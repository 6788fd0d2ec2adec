// `framelane compare`: what overlap is worth for this input, chain and machine, and what bounds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/console.h"
#include "pipeline/media_input.h"
#include "pipeline/media_output.h"
#include "pipeline/mode.h"

namespace framelane {

struct CompareOptions {
  MediaInputOptions input;
  MediaOutputOptions output;  ///< "null", or a file: then encoding is part of what is compared
  std::string chain;          ///< all --vf in order, joined by ','
  std::string device = "auto";
  std::vector<Mode> modes{kModes.begin(), kModes.end()};
  int slots = 0;  ///< 0: the device's default
  CudaGraphs cuda_graphs = CudaGraphs::kAuto;
  std::optional<std::int64_t> frames;  ///< of each round and mode; nothing: as many as take a while
  int rounds = 5;
  std::string json;    ///< file, "-" or empty
  std::string report;  ///< file, "-" or empty
  std::string trace;   ///< file, "-" or empty
};

/** Runs all modes in turns over the same frames, from the input to the output and then from the ring to the device
 *  alone, and prints a table of each; where --json, --report or --trace go to standard output, that in its place.
 *  Returns the exit status: 0, or 128 + signal after what was complete by then has been told. Throws Error.
 *  Thread: main. */
int run_compare(const CompareOptions& options, Console& console);

}  // namespace framelane
