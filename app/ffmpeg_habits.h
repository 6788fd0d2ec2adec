// Options typed by habit of ffmpeg, before our own are parsed.
#pragma once

#include <string>
#include <vector>

#include "app/options.h"

namespace framelane {

/** The words of a command in our spelling: rewrites ffmpeg's single-dash spellings ("-vf", "-ss 5", "-c:v libx264",
 * "-crf 18") into ours, and throws UsageError for what has no equivalent here, for unknown options (naming the nearest
 * known one) and for an option without its value. Bare words become values of the command's `bare_words` option; after
 * "--" every word is bare. */
std::vector<std::string> understand_habits(const CommandDescription& command,
                                           const std::vector<std::string>& arguments);

}  // namespace framelane
