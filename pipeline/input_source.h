// Finds out what an input's name means before anything is opened.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "pipeline/media_input.h"

struct AVInputFormat;

namespace framelane {

enum class SourceKind : std::uint8_t {
  kFile,      ///< a regular file, whatever characters its name has
  kPipe,      ///< standard input ("-") or a named pipe
  kSequence,  ///< numbered images
  kCamera,    ///< a V4L2 device
  kGraph,     ///< a libavfilter graph
  kUrl,       ///< anything that FFmpeg's protocols open
};

/** How to open an input. */
struct InputSource {
  SourceKind kind = SourceKind::kUrl;
  std::string name;                        ///< for messages
  std::string url;                         ///< for libavformat; of files and named pipes: the path
  const AVInputFormat* demuxer = nullptr;  ///< null: to be probed
  std::map<std::string, std::string> demuxer_options;
};

/** Throws InputError where there is nothing to open: no such file, a directory, an empty file, no camera. The name
 *  of a file that exists always means that file; "%04d.png" means numbered images otherwise, from the lowest number
 *  up to the first that is missing (which is told). */
InputSource find_source(const MediaInputOptions& options);

}  // namespace framelane
