// NVIDIA's own library, NPP, as the yardstick of `bench --filters`: what it has for the same work on the same planes.
// Loaded while running, from the CUDA toolkit's libraries where they are; nothing of them is needed to build. Only in a
// build with CUDA.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/filter_chain.h"

namespace framelane {

/** What NPP has for a filter. */
struct NppCounterpart {
  std::string function;                      ///< "nppiMirror_8u_C1R_Ctx"
  FrameFormat output;                        ///< what it writes: Sobel's strengths have 16 bits
  std::unique_ptr<CompiledFilter> compiled;  ///< one call a plane; throws DeviceError where NPP reports an error
};

/** NPP's function for `use` on CUDA frames of 8 bits, where it does the same inside the frame. Not quite the same: it
 *  repeats the edge sample at the border, cuts a blur's fraction off, sharpens by a Gaussian instead of a binomial, and
 *  has another parameter in its cubic. Nothing for other depths, where NPP is not on this machine, and for what it does
 *  differently: shrinking but by area (it does not widen its kernels), other sample positions (neighbor).
 *  `output` is the filter's format. For the current CUDA device. Throws DeviceError. */
std::optional<NppCounterpart> find_npp_counterpart(const FilterUse& use, const FrameFormat& input,
                                                   const FrameFormat& output);

}  // namespace framelane
