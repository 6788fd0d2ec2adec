// Beside the frame's way: which threads give way to which.
#pragma once

#include <sys/resource.h>

#include <algorithm>

namespace framelane {

/** Makes the calling thread, and those that it creates from now on, nicer by `steps` (of 19). There is no way back
 *  without privileges. */
inline void lower_thread_priority(int steps) {
  setpriority(PRIO_PROCESS, 0, std::min(getpriority(PRIO_PROCESS, 0) + steps, 19));  // on Linux: of this thread
}

}  // namespace framelane
