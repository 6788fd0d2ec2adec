// What this program was built with and runs with.
#pragma once

#include <string>
#include <vector>

namespace framelane {

struct ComponentVersion {
  std::string name;     ///< "FFmpeg", "libavcodec", "OpenCV", "CUDA"
  std::string built;    ///< version of the headers; empty where it says nothing
  std::string running;  ///< version of the library or driver found at run time; "none" where there is none
};

/** "0.1.0". */
std::string program_version();

/** FFmpeg and its libraries, OpenCV, CUDA runtime and driver (in a build with CUDA). */
std::vector<ComponentVersion> component_versions();

/** The text of --version, one line a component. */
std::string version_text();

}  // namespace framelane
