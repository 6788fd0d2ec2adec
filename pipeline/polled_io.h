// [read] > demux: standard input and named pipes.
#pragma once

#include <atomic>
#include <cstdint>

struct AVIOContext;

namespace framelane {

/** Feeds libavformat from a file descriptor. libavformat's own pipe protocol blocks in read(2) and cannot be told to
 *  stop; this one waits with poll(2). Seekable where the descriptor is (`< file.mp4`).
 *  Thread: one at a time; `stop` may be set from any. Owns: the AVIOContext, and the descriptor when told so. */
class PolledIo {
 public:
  enum class Closing : std::uint8_t { kKeepOpen, kClose };

  /** `stop` outlives this: once true, a read that waits fails with AVERROR_EXIT within 50 ms. */
  PolledIo(int descriptor, Closing closing, const std::atomic<bool>& stop);
  ~PolledIo();
  PolledIo(const PolledIo&) = delete;
  PolledIo& operator=(const PolledIo&) = delete;

  AVIOContext* context() { return context_; }

 private:
  static int read(void* self, std::uint8_t* buffer, int bytes);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);

  int descriptor_;
  Closing closing_;
  const std::atomic<bool>& stop_;
  AVIOContext* context_ = nullptr;
};

}  // namespace framelane
