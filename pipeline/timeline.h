// demux > [timestamps] > decode.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

struct AVPacket;
struct AVStream;

namespace framelane {

enum class TimeJumps : std::uint8_t { kKeep, kClose };

/** Puts an input's timestamps on a line of their own, the same for all its streams, so that their relation stays.
 *
 *  Everything is shifted by one constant. In formats that may start anew in the middle (MPEG-TS and its like,
 *  TimeJumps::kClose), a step back of more than 0.1 s or ahead of more than 10 s is closed: the stream goes on where
 *  it was, and the other streams, which meet the jump a little earlier or later, by the same amount. Elsewhere jumps
 *  are what the file says, and stay. The 33-bit wrap of MPEG-TS is undone by libavformat before.
 *  Thread: one at a time. */
class Timeline {
 public:
  Timeline(std::int64_t shift_us, TimeJumps jumps) : offset_us_(shift_us), jumps_(jumps) {}

  /** Corrects pts and dts of a packet of `stream`; packets in the order in which they are read. */
  void correct(AVPacket& packet, const AVStream& stream);

 private:
  struct StreamLine {
    std::optional<std::int64_t> offset_us;
    std::optional<std::int64_t> next_us;  ///< dts expected next, corrected
  };
  void close_jump(StreamLine& line, std::int64_t dts_us);

  std::int64_t offset_us_;
  TimeJumps jumps_;
  std::vector<StreamLine> streams_;
};

}  // namespace framelane
