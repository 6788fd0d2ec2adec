// demux > [hold back] > mux, beside the frame's way: packets of the streams that are copied.
#pragma once

#include <limits>
#include <map>

#include "pipeline/media_input.h"

namespace framelane {

/** Holds packets back until the video has come as far. Demuxing runs ahead of decoding by the decoder's delay; without
 *  the wait, a run that ends early would end with more sound than picture.
 *  Thread: one at a time. Owns: the packets. */
class SidePackets {
 public:
  /** Everything released so far, and from now on, goes to `sink`. */
  void set_sink(SidePacketSink sink);
  void add(AvPacket packet, int stream, double time_s) { held_.emplace(time_s, Held{std::move(packet), stream}); }
  /** Hands on what begins before `until_s`, in order of time. */
  void release_before(double until_s);
  void release_all() { release_before(std::numeric_limits<double>::infinity()); }

 private:
  struct Held {
    AvPacket packet;
    int stream;
  };
  std::multimap<double, Held> held_;
  double released_until_s_ = -std::numeric_limits<double>::infinity();
  SidePacketSink sink_;
};

}  // namespace framelane
