// Options that `compare`, `bench` and `tune` (and, in part, `run`) have in common, one function each, so that a command
// takes those that it needs. Targets must outlive the parsing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/declarations.h"
#include "pipeline/mode.h"

namespace framelane {

/** --vf, repeatable; join_chains() makes one chain of them. */
void declare_chain(Declarations& declare, std::vector<std::string>& chains);
/** All of them in order, joined by ','; empty ones are left out. */
std::string join_chains(std::vector<std::string> chains);

/** --device, or FRAMELANE_DEVICE. */
void declare_device(Declarations& declare, std::string& device);
/** --slots, 1 to 64, or FRAMELANE_SLOTS. */
void declare_slots(Declarations& declare, int& slots);
/** --modes: names with commas between, each once; `modes` keeps what it holds where the option is not given. */
void declare_modes(Declarations& declare, std::vector<Mode>& modes);
/** --cuda-graphs. */
void declare_cuda_graphs(Declarations& declare, CudaGraphs& graphs);
/** --frames, of each round and mode, 1 to 50,000. */
void declare_frames_a_round(Declarations& declare, std::optional<std::int64_t>& frames);
/** --rounds, 1 to 1000; `rounds` holds the default. */
void declare_rounds(Declarations& declare, int& rounds);
/** --json: a file, or "-" for standard output in place of the table. */
void declare_json(Declarations& declare, std::string& json);

/** "sync,async": throws UsageError for none, an unknown one, or one twice. */
std::vector<Mode> parse_modes(const std::string& text);
/** "auto", "on" or "off"; throws UsageError. */
CudaGraphs parse_cuda_graphs(const std::string& text);

}  // namespace framelane
