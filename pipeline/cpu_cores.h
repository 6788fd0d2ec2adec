// Beside the frame's way: what the machine has.
#pragma once

#include <algorithm>
#include <thread>

namespace framelane {

/** Of this machine; 1 where it does not tell. */
inline int cpu_cores() { return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U)); }

}  // namespace framelane
