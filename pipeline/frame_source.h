// [source] > decode > ring > submit > encode > [sink]: what a FramePath takes frames from and gives them to. A file or
// a camera is a source (MediaInput), an encoder and its container a sink (MediaOutput); measurements use kept frames
// and throw results away (transport.h).
#pragma once

#include <chrono>
#include <utility>

#include "pipeline/av.h"

namespace framelane {

/** Thread: interrupt() any; the rest from one thread at a time. */
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /** The next frame, null at the end; pts in time_base(), never missing. May block. Throws InputError. */
  virtual AvFrame read_frame() = 0;
  /** How long the latest read_frame() held its frame back to play at its own speed: that is not decoding. */
  virtual std::chrono::steady_clock::duration held_back() const { return {}; }
  /** After the last read_frame(): hands on what goes along with the frames before `until_s`. */
  virtual void drain_side_packets(double /*until_s*/) {}
  /** Makes a blocking read return soon, and read_frame() null. */
  virtual void interrupt() = 0;
  /** Numerator and denominator of the unit of frames' pts, in seconds. */
  virtual std::pair<int, int> time_base() const = 0;
  /** Average frames a second; 0 when unknown. */
  virtual double frame_rate() const = 0;
};

/** Thread: the encoder's. */
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /** May keep references. Throws OutputError. */
  virtual void encode(const AVFrame& frame) = 0;
};

}  // namespace framelane
