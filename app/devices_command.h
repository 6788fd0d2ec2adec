// `framelane devices`: where filters can run on this machine.
#pragma once

namespace framelane {

/** Prints one line a device, and why there is no CUDA device where there is none. */
int run_devices();

}  // namespace framelane
