// demux > [hold back] > mux, beside the frame's way.  Thread: decoder.
#include "pipeline/side_packets.h"

#include <algorithm>

namespace framelane {

void SidePackets::set_sink(SidePacketSink sink) {
  sink_ = std::move(sink);
  release_before(released_until_s_);
}

void SidePackets::release_before(double until_s) {
  released_until_s_ = std::max(released_until_s_, until_s);
  if (!sink_) return;
  while (!held_.empty() && held_.begin()->first < released_until_s_) {
    Held next = std::move(held_.begin()->second);
    held_.erase(held_.begin());
    sink_(std::move(next.packet), next.stream);
  }
}

}  // namespace framelane
