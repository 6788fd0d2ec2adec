// [demux, decode] > ring > submit > encode > mux.  What FFmpeg's libraries read.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/av.h"
#include "pipeline/frame_source.h"
#include "pipeline/host_pool.h"

struct AVFormatContext;
struct AVStream;

namespace framelane {

struct MediaInputOptions {
  std::string url;     ///< file, URL, "-", "camera", "/dev/videoN" or "lavfi:GRAPH"
  std::string format;  ///< demuxer by name, or empty: probed
  std::map<std::string, std::string> demuxer_options;
  std::optional<double> start_s;     ///< frames before it are dropped, later times shifted so that it becomes 0
  std::optional<double> duration_s;  ///< from start_s (or the file's start)
  int decoder_threads = 0;           ///< 0: one a core
  bool realtime = false;             ///< hand frames out at their own speed
};

/** A packet of a stream that is passed through, and that stream's index in the input. Timestamps are in the input
 *  stream's time base, shifted as the video's are. Attached pictures are not among them: a muxer finds them in their
 *  AVStream. */
using SidePacketSink = std::function<void(AvPacket packet, int input_stream)>;

/** Counts of what was wrong with the input. */
struct InputDamage {
  std::int64_t decode_errors = 0;  ///< packets that did not decode, frames marked corrupt
  bool cut_short = false;          ///< the file breaks off before its end
};

/** An opened input with one decoded video stream.
 *
 *  Time: where the container starts late (MPEG-TS, cameras), all streams are shifted so that it starts at 0, as ffmpeg
 *  does; with `start_s`, so that this becomes 0. Other timestamps are kept as they are; see Timeline for jumps.
 *  Thread: read_frame() from one thread at a time; the rest from any once open. Owns: demuxer and decoder. */
class MediaInput : public FrameSource {
 public:
  /** Opens, probes and chooses the video stream (never an attached picture where there is a real one). Decoded frames
   *  come from `pool` where the codec allows it. Throws InputError: one line, naming the input and the cause. */
  MediaInput(const MediaInputOptions& options, std::shared_ptr<HostPool> pool);
  ~MediaInput() override;
  MediaInput(const MediaInput&) = delete;
  MediaInput& operator=(const MediaInput&) = delete;

  /** The next frame in presentation order, null at the end (all delayed frames come out first). `pts` is in
   *  time_base() and never missing. Damaged packets are counted and skipped. Interrupted by interrupt(): null.
   *  Throws InputError where not one frame came out, and, after all frames that did, when a device or a network
   *  source broke; DeviceError when memory for frames is out. */
  AvFrame read_frame() override;
  /** How long the latest read_frame() held its frame back for `realtime`: that is not decoding. Thread: its caller. */
  std::chrono::steady_clock::duration held_back() const override;
  /** Makes a blocking read return soon, and read_frame() null; for errors elsewhere and Ctrl-C on live sources. */
  void interrupt() override;
  /** Where packets of the other streams go, on read_frame()'s thread. Each is held back until a frame at or after its
   *  time has come out: so a cut after any frame cuts all streams at one time. Before a sink is set they are kept. */
  void set_side_packet_sink(SidePacketSink sink);
  /** After the last read_frame(), at the end or at a cut: hands on what the other streams hold before `until_s`
   *  (seconds of the frames' time), reading on where it must; a live source is not read on. */
  void drain_side_packets(double until_s) override;

  const AVFormatContext& format_context() const;
  const AVStream& video_stream() const;
  /** Numerator and denominator of the unit of frames' pts. */
  std::pair<int, int> time_base() const override;
  /** Average frames a second; 0 when unknown. */
  double frame_rate() const override;
  /** Length in seconds that will come out (after start and duration); nothing when unknown (live, pipes). */
  std::optional<double> duration_s() const;
  std::optional<std::int64_t> frame_count() const;
  /** Cameras and other sources that do not wait: the newest frame counts. */
  bool is_live() const;
  bool is_stdin() const;
  InputDamage damage() const;
  /** MediaInputOptions::duration_s. */
  std::optional<double> duration_limit_s() const;
  /** What was subtracted from the container's timestamps. */
  std::int64_t time_shift_us() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace framelane
