// What is told of a device before it is used.
#pragma once

#include <string>

#include "pipeline/device.h"
#include "pipeline/mode.h"

namespace framelane {

/** The device's name; where `choice` (what --device was given) is "auto", also why it was this one. */
std::string device_text(const std::string& choice, const Device& device);

/** Warns of environment variables that make modes equal. */
void warn_of_environment(const Device& device);

/** Warns where graphs were asked for and `device` has none. */
void warn_of_missing_graphs(CudaGraphs graphs, const Device& device);

}  // namespace framelane
