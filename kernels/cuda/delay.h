// Work that takes a given time and does nothing: tests use it to force frames to finish out of order.
#pragma once

#include <chrono>

struct CUstream_st;

namespace framelane {

/** Enqueues one thread that spins for `duration` on `stream`. Throws DeviceError if the launch fails. */
void enqueue_delay(std::chrono::microseconds duration, CUstream_st* stream);

}  // namespace framelane
