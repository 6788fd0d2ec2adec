// Beside the frame's way: a GPU that a machine without one plays, with engines that take known times. For
// `bench --shape` on the CPU, and for tests of what overlaps.
#pragma once

#include <cstddef>
#include <memory>

#include "pipeline/device.h"

namespace framelane {

/** Bytes per second, above 0; infinity: a copy takes as long as the host's memcpy. */
struct SimulatedSpeed {
  double h2d = 0;           ///< Stream::copy_to_device()
  double d2h = 0;           ///< Stream::copy_to_host()
  double pageable_h2d = 0;  ///< Device::copy_blocking_to_device()
  double pageable_d2h = 0;  ///< Device::copy_blocking_to_host()
};

/** The speed at which a copy of `bytes` takes `duration`, to the nanosecond. */
double simulated_bytes_per_s(std::size_t bytes, Clock::duration duration);

/** A device with memory of its own, to which frames are copied, and three engines (H2D, compute, D2H). An engine
 *  serves one job at a time, in the order in which the jobs became ready; the engines work beside each other.
 *  A copy moves its bytes and holds its engine for bytes / speed, or for as long as the memcpy takes where that is
 *  more. A filter runs on the CPU, on all cores, and holds the compute engine meanwhile; Stream::occupy() holds it for
 *  the time given; Stream::delay() holds none.
 *  Times are those of a machine whose threads wake at once: a job that waited for its engine begins when the one before
 *  it ended, and ends its duration later, however late the thread that plays it woke up. So an event's time() may lie a
 *  little before its wait() returns, never after; times of one stream rise, and jobs of one engine never overlap.
 *  Throws std::invalid_argument for a speed that is not above 0. */
std::shared_ptr<Device> create_simulated_device(const SimulatedSpeed& bytes_per_s);

}  // namespace framelane
