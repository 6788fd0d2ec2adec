// decode > ring > submit: [kernels]: how the passes of a plan follow each other through a slot's buffers.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/filter_chain.h"
#include "pipeline/device.h"

namespace framelane {

/** Calls `run_step(step, arguments)` for each pass of `plan`, with `arguments.src` and `.dst` set: the first reads
 * `src`, the last writes `dst`, and what lies between takes turns in `intermediate` (FilterChain::intermediate_bytes()
 * each). An empty plan copies the planes on `stream`. */
template <typename RunStep>
void for_each_pass(Stream& stream, const FilterPlan& plan, const FrameView& dst, const FrameView& src,
                   const std::array<MemoryBlock, 2>& intermediate, const RunStep& run_step) {
  if (plan.steps.empty()) {
    for (int plane = 0; plane < src.format.pixel.plane_count(); ++plane) {
      stream.copy_plane(dst.planes[plane], src.planes[plane], src.format.row_bytes(plane));
    }
    return;
  }
  FrameView from = src;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    const bool last = i + 1 == plan.steps.size();
    FilterArguments arguments;
    arguments.src = from;
    arguments.src.format = step.src_format;
    arguments.dst = last ? dst : view_frame(step.dst_format, intermediate[i % intermediate.size()].get());
    arguments.dst.format = step.dst_format;
    run_step(step, arguments);
    from = arguments.dst;
  }
}

}  // namespace framelane
