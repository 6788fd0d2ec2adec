// Finds out where an output goes before anything is opened, and puts the finished file in its place.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/media_output.h"

struct AVOutputFormat;

namespace framelane {

enum class TargetKind : std::uint8_t {
  kNull,      ///< frames are counted and dropped
  kPipe,      ///< standard output
  kFile,      ///< a regular file, new or to be replaced
  kSequence,  ///< numbered images
  kSpecial,   ///< a device or a named pipe: written as it is
  kUrl,       ///< anything that FFmpeg's protocols write to
};

/** Where to write. */
struct OutputTarget {
  TargetKind kind = TargetKind::kFile;
  std::string name;                       ///< for messages
  std::string url;                        ///< what libavformat writes to
  std::string path;                       ///< of a file: its final path
  const AVOutputFormat* muxer = nullptr;  ///< null for kNull

  /** True where an older file stays until finish: `url` is a hidden file beside it. */
  bool replaces() const { return kind == TargetKind::kFile && url != "file:" + path; }
  /** False for pipes and the like, which cannot be gone back in. */
  bool seekable() const { return kind == TargetKind::kFile || kind == TargetKind::kSequence; }
};

/** Throws UsageError or OutputError as check_output_target() does. `input_url`: as given by the user, or the input's
 *  path. */
OutputTarget find_target(const MediaOutputOptions& options, const std::string& input_url);

/** Moves a finished file over the older one (with its access rights). Throws OutputError. */
void replace_older_file(const OutputTarget& target);
/** Removes what was written, where that is a file of ours. */
void remove_written_file(const OutputTarget& target) noexcept;

}  // namespace framelane
