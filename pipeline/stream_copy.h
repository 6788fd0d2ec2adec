// demux > [copy] > mux: everything of an input but the filtered video.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/av.h"

struct AVFormatContext;
struct AVStream;

namespace framelane {

/** What is copied from one container to another, and which of its streams is which of ours.
 *  Thread: one at a time. Owns: nothing; both contexts outlive it. */
class StreamCopy {
 public:
  /** Adds a stream to `output` for each stream of `input`, but for `video`, that its container can hold; the others
   *  are told in the log. `name`: the output's, for messages. */
  StreamCopy(AVFormatContext& output, const AVFormatContext& input, const AVStream& video, const std::string& name);

  /** After the header is written: attached pictures. Returns FFmpeg's status. */
  int write_attached_pictures();
  /** Puts a packet into the output's terms (stream, time base, rising dts); false where its stream is not copied. */
  bool adapt(AVPacket& packet, int input_stream);

  /** For messages: "2 audio, 1 subtitle streams copied", or empty. */
  std::string description() const;

 private:
  struct Route {
    int output_stream = -1;
    std::optional<std::int64_t> last_dts;
  };
  bool add_stream(const AVStream& from);

  AVFormatContext& output_;
  const AVFormatContext& input_;
  std::vector<Route> routes_;  ///< by input stream
};

/** Tags of the file and of the video stream, but for those that describe its coding; the display matrix, HDR's static
 *  metadata and the stereo layout of the video stream, from the stream or its first frame. */
void copy_descriptions(AVFormatContext& output, AVStream& output_video, const AVFormatContext& input,
                       const AVStream& input_video, const AVFrame& first);

/** Chapters, moved by -`shift_us` and cut to what begins before `length_s`. */
void copy_chapters(AVFormatContext& output, const AVFormatContext& input, std::int64_t shift_us,
                   std::optional<double> length_s);

}  // namespace framelane
