// `framelane demo`: what overlap is worth, shown on a moving test picture.
#pragma once

#include <string>

#include "app/console.h"

namespace framelane {

struct DemoOptions {
  std::string output_dir = "out";  ///< created if missing; earlier demo files in it are replaced
  std::string device = "auto";
  int seconds = 8;  ///< of video a mode
};

/** Filters a synthetic 1280x720 video in each mode, with the overlay, into `output_dir`, then compares the modes:
 * prints the table, writes the page and the timelines, and says where the files are. Returns the exit code. Throws
 * Error. Thread: main. */
int run_demo(const DemoOptions& options, Console& console);

}  // namespace framelane
