// What is told of a device before it is used.
#pragma once

#include <string>

#include "pipeline/device.h"

namespace framelane {

/** The device's name; where `choice` (what --device was given) is "auto", also why it was this one. */
std::string device_text(const std::string& choice, const Device& device);

/** Warns of environment variables that make modes equal. */
void warn_of_environment(const Device& device);

}  // namespace framelane
