// Work that takes a given time and does nothing: tests force frames to finish out of order with it, `bench --shape` has
// kernels of a given length.
#pragma once

#include <chrono>

struct CUstream_st;

namespace framelane {

/** Enqueues one thread that spins for `duration` on `stream`. Throws DeviceError if the launch fails. */
void enqueue_delay(std::chrono::microseconds duration, CUstream_st* stream);

/** Enqueues as many threads as the current device holds, each spinning for `duration` from its own start: no other
 *  kernel finds room beside it. Throws DeviceError if the launch fails. */
void enqueue_occupation(std::chrono::microseconds duration, CUstream_st* stream);

}  // namespace framelane
