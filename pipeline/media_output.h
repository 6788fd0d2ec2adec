// demux, decode > ring > submit > encode > [mux].  What FFmpeg's libraries write.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "kernels/errors.h"
#include "pipeline/av.h"
#include "pipeline/media_input.h"

namespace framelane {

enum class Overwrite : std::uint8_t { kRefuse, kAllow };

struct MediaOutputOptions {
  std::string url;     ///< file, image pattern, URL, "-" or "null"
  std::string format;  ///< muxer by name; required for "-"
  Overwrite overwrite = Overwrite::kRefuse;
  std::string video_codec;    ///< encoder by name, or empty: libx264 where the container takes H.264, else its own
  std::optional<double> crf;  ///< default: 20 for libx264, and about the same to the eye for the others that have one
  std::string preset;         ///< default: veryfast for libx264 and libx265
  std::optional<std::int64_t> bitrate;  ///< bits a second
  std::map<std::string, std::string> encoder_options;
  std::map<std::string, std::string> muxer_options;
  int encoder_threads = 0;  ///< 0: the encoder's own choice
};

/** The reader of a pipe that we write to has gone. */
struct BrokenPipe : OutputError {
  using OutputError::OutputError;
};

/** Counts for progress and reports. */
struct OutputTotals {
  std::int64_t frames = 0;  ///< taken by encode()
  std::int64_t bytes = 0;   ///< written so far, headers included; 0 for "null"
};

/** An opened output: encoder, muxer, and the streams that are copied.
 *  Thread: encode() and finish()/abort() from one thread; write_side_packet() from any. Owns: encoder and muxer. */
class MediaOutput : public FrameSink {
 public:
  /** Streams in containers of a constant rate (AVI, YUV4MPEG2, …) are laid out on that rate's grid; elsewhere frames
   *  keep their times. `first`: of a format that planar_format() knows.
   *  Checks the target first (exists and no overwrite, same file as the input, folder not writable: OutputError or
   *  UsageError, one line) so that no work is lost, then opens the encoder for frames like `first` (filtered: size,
   *  format, colour tags, aspect ratio; pts in input.time_base()) and writes the header. Streams of the input other
   *  than the decoded one are copied where the container takes them; each that is left out is a warning in the log.
   *  Metadata, chapters and the display matrix go through.
   *  An existing target is replaced only when finish() succeeds: until then the output is a file beside it. */
  MediaOutput(const MediaOutputOptions& options, const MediaInput& input, const AVFrame& first);
  ~MediaOutput() override;  ///< abort() unless finished
  MediaOutput(const MediaOutput&) = delete;
  MediaOutput& operator=(const MediaOutput&) = delete;

  /** True for "null": frames are counted and dropped. */
  bool is_null() const;
  /** Encodes one frame (converted by libswscale where the encoder does not take its format) and writes the packets
   *  that come out. Timestamps that do not rise are moved up by one tick, counted and reported. Keeps a reference
   *  as long as the encoder needs it. Throws OutputError; BrokenPipe where nobody reads any more. */
  void encode(const AVFrame& frame) override;
  /** A packet of a stream that is not copied is dropped. Throws as encode(). */
  void write_side_packet(AvPacket packet, int input_stream);
  /** Flushes the encoder, writes the trailer, closes, and puts the file in its place. Throws OutputError. */
  void finish();
  /** Closes after an error: a new file is finalised with the frames that encode() has taken, as far as that goes; with
   *  none, and beside an older file, what was written is removed. */
  void abort() noexcept;

  OutputTotals totals() const;
  /** For messages: "out.mp4 (mp4: libx264 yuv420p, 1 audio stream copied)". */
  std::string description() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/** Throws UsageError or OutputError where `options.url` cannot be an output at all (exists without -y, is the input,
 *  folder missing or not writable, no muxer for its name); cheap, called before the input is opened. */
void check_output_target(const MediaOutputOptions& options, const std::string& input_url);

}  // namespace framelane
