// FFmpeg's log lines as ours.
#pragma once

#include <string>

namespace framelane {

/** From now on FFmpeg's and its codecs' messages go to spdlog: errors as warnings (an error that ends something is
 *  told by the exception it becomes), the rest for --log-level verbose. A message that comes again is counted,
 *  and repeated at 10, 100, … times. May be called more than once, from any thread. */
void route_av_log();

/** While one lives, errors that FFmpeg logs on this thread are kept instead of shown, to become the reason in an
 *  exception's one line. Nests not. */
class AvLogCapture {
 public:
  AvLogCapture();
  ~AvLogCapture();
  AvLogCapture(const AvLogCapture&) = delete;
  AvLogCapture& operator=(const AvLogCapture&) = delete;

  /** The first error so far ("moov atom not found"), or `otherwise`. Kept errors count as told then; the others are
   *  logged when the capture ends. */
  std::string reason(const std::string& otherwise);
};

}  // namespace framelane
