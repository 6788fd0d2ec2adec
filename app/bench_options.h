// The options of `framelane bench`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/frame.h"
#include "pipeline/mode.h"

namespace CLI {
class App;
}  // namespace CLI

namespace framelane {

struct ParsedValues;

/** What each stage of a frame takes, for `bench --shape`. */
struct BenchShape {
  std::chrono::microseconds preprocess{0};
  std::chrono::microseconds h2d{0};
  std::chrono::microseconds kernels{0};
  std::chrono::microseconds d2h{0};
};

/** `framelane bench`. */
struct BenchOptions {
  std::vector<FrameFormat> formats;  ///< every size in every pixel format; empty with `filters`: its own choice
  std::string chain;                 ///< all --vf in order, joined by ','
  std::string device = "auto";
  std::vector<Mode> modes{kModes.begin(), kModes.end()};
  std::vector<int> slots{0};  ///< ring depths to try; 0: the device's default
  CudaGraphs cuda_graphs = CudaGraphs::kAuto;
  std::optional<std::int64_t> frames;  ///< of each round and mode; nothing: as many as take a while
  int rounds = 5;
  std::optional<BenchShape> shape;  ///< timed work in place of frames and filters of a kind
  bool filters = false;             ///< each filter's kernel alone
  std::string json;                 ///< file, "-" or empty
};

struct BenchSize {
  int width = 0;
  int height = 0;
};

struct BenchPixels {
  PixelFormat pixel;
  ColorRange range = ColorRange::kLimited;
};

/** What has been read of BenchOptions so far; empty where an option was not given. */
struct BenchValues {
  std::vector<BenchSize> sizes;
  std::vector<BenchPixels> pixels;
  std::vector<Mode> modes;
  std::optional<std::vector<int>> slots;
  std::optional<CudaGraphs> cuda_graphs;
  BenchOptions options;
};

/** All options of `bench`. `values` must outlive the parsing. */
void declare_bench(CLI::App& command, ParsedValues& values);

/** What `bench` is to do; `values.bench` and `values.chains` are used up. Throws UsageError where options contradict
 *  each other. */
BenchOptions finish_bench(ParsedValues& values);

}  // namespace framelane
