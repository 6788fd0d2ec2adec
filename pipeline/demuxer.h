// [demux] > decode > ring > submit > encode > mux.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "pipeline/av.h"
#include "pipeline/input_source.h"
#include "pipeline/polled_io.h"

struct AVFormatContext;
struct AVIOContext;

namespace framelane {

class AvLogCapture;

/** An opened and probed container, read packet by packet.
 *  Thread: one at a time; interrupt() from any. Owns: the format context and its I/O. */
class Demuxer {
 public:
  /** Throws InputError: one line with the name and FFmpeg's reason. UsageError for an option it does not have. */
  Demuxer(InputSource source, const MediaInputOptions& options);
  ~Demuxer();
  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;

  /** The next packet of any stream; null at the end, and after interrupt(). A file that breaks off ends there
   *  (cut_short() tells); a device or network source that breaks throws InputError. */
  AvPacket read();
  /** Makes read() return soon, and null from then on. */
  void interrupt() { stop_ = true; }
  bool interrupted() const { return stop_; }
  bool cut_short() const { return cut_short_; }
  /** Goes to the last key frame at or before the time; false where the input cannot be sought in. */
  bool seek(std::int64_t timestamp_us);

  AVFormatContext& context() { return *context_; }
  const AVFormatContext& context() const { return *context_; }
  const InputSource& source() const { return source_; }

 private:
  void open(const MediaInputOptions& options);
  std::string reason(AvLogCapture& log, const std::string& otherwise) const;
  void open_file();
  void open_pipe();
  int open_context(const MediaInputOptions& options);
  void probe_streams();
  AvPacket end_of_input(int status);
  void close();

  InputSource source_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> cut_short_{false};
  std::unique_ptr<PolledIo> pipe_;
  AVIOContext* file_ = nullptr;
  AVFormatContext* context_ = nullptr;
};

}  // namespace framelane
