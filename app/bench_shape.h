// `framelane bench --shape`: the textbook's workload, whose stages take known times, and what each mode should make of
// it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/bench_options.h"
#include "app/ceilings.h"
#include "kernels/filter_chain.h"
#include "kernels/frame.h"
#include "pipeline/device.h"

namespace framelane {

/** ms a frame, from a shape's stages alone. The textbook's 8, 3, 12, 3 give 26, 18, 15 and 12. */
struct ShapeFigures {
  double serial_ms = 0;            ///< all stages, one after the other: sync
  double one_stream_ms = 0;        ///< the GPU's three stages queue behind each other, the CPU works beside them: async
  double textbook_overlap_ms = 0;  ///< as the textbook overlaps: D2H is hidden, H2D is waited for before each kernel
  double limit_ms = 0;             ///< the slowest single stage: multistream
};
ShapeFigures shape_figures(const BenchShape& shape);
/** What `mode` comes to where nothing but the stages takes time. */
double expected_ms(const ShapeFigures& figures, Mode mode);

/** A device and frames whose copies take the shape's times. */
struct ShapeWorkload {
  std::shared_ptr<Device> device;
  FrameFormat format;
  std::vector<FilterUse> filters;   ///< not run: makes results of another size where D2H moves other bytes than H2D
  CopyBytes bytes;                  ///< of a frame
  std::optional<CopyTimes> copies;  ///< measured; nothing on a simulated device
};

/** On a GPU, frames are as large as pinned copies manage in the given times: by a measurement, which takes a second. On
 *  `device` that shares the host's memory, and so copies nothing: a simulated GPU with engines that take these times.
 *  Throws UsageError where such frames need more memory than there is, DeviceError. Thread: main. */
ShapeWorkload shape_workload(const BenchShape& shape, const std::shared_ptr<Device>& device, int slots);

}  // namespace framelane
