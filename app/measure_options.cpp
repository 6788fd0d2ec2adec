#include "app/measure_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "app/frame_plan.h"
#include "app/option_values.h"
#include "kernels/errors.h"

namespace framelane {

void declare_chain(Declarations& declare, std::vector<std::string>& chains) {
  declare.values(
      "--vf", "CHAIN", [&](const std::string& text) { chains.push_back(text); },
      "filters in ffmpeg's grammar; NAME=help explains one");
}

std::string join_chains(std::vector<std::string> chains) {
  std::erase(chains, "");
  return fmt::format("{}", fmt::join(chains, ","));
}

void declare_device(Declarations& declare, std::string& device) {
  declare.text("--device", "auto|cpu|cuda|cuda:N", device, "where filters run (auto: CUDA where there is one)")
      ->envname("FRAMELANE_DEVICE");
}

void declare_slots(Declarations& declare, int& slots) {
  declare
      .value(
          "--slots", "K", [&](const std::string& text) { slots = static_cast<int>(parse_integer(text, 1, 64)); },
          "frames in flight (the device's choice)")
      ->envname("FRAMELANE_SLOTS");
}

void declare_modes(Declarations& declare, std::vector<Mode>& modes) {
  declare.value(
      "--modes", "MODE,MODE", [&](const std::string& text) { modes = parse_modes(text); },
      "which modes, with commas between (sync,async,multistream)");
}

void declare_cuda_graphs(Declarations& declare, CudaGraphs& graphs) {
  declare.value(
      "--cuda-graphs", "auto|on|off", [&](const std::string& text) { graphs = parse_cuda_graphs(text); },
      "launch a frame's work as one captured graph (auto: where that is faster)");
}

void declare_frames_a_round(Declarations& declare, std::optional<std::int64_t>& frames) {
  declare.value(
      "--frames", "N", [&](const std::string& text) { frames = parse_integer(text, 1, kMostFrames); },
      "frames of each round and mode (as many as take some tenths of a second)");
}

void declare_rounds(Declarations& declare, int& rounds) {
  const std::string help = fmt::format("times that each mode runs, in turns ({})", rounds);
  declare.value(
      "--rounds", "N", [&](const std::string& text) { rounds = static_cast<int>(parse_integer(text, 1, 1000)); }, help);
}

void declare_json(Declarations& declare, std::string& json) {
  declare.text("--json", "FILE", json,
               "write all figures as JSON, over an existing file (- for stdout, in place of the table)");
}

std::vector<Mode> parse_modes(const std::string& text) {
  std::vector<Mode> modes;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    const Mode mode = parse_mode(name);
    if (std::ranges::find(modes, mode) != modes.end()) throw UsageError(fmt::format("'{}' is there twice", name));
    modes.push_back(mode);
  }
  if (modes.empty()) throw UsageError("no mode: use sync, async or multistream, with commas between");
  return modes;
}

CudaGraphs parse_cuda_graphs(const std::string& text) {
  if (text == "auto") return CudaGraphs::kAuto;
  if (text == "on") return CudaGraphs::kOn;
  if (text == "off") return CudaGraphs::kOff;
  throw UsageError(fmt::format("unknown choice '{}': use auto, on or off", text));
}

}  // namespace framelane
