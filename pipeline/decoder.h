// demux > [decode] > ring > submit > encode > mux.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "pipeline/av.h"
#include "pipeline/host_pool.h"

struct AVCodec;
struct AVCodecContext;
struct AVStream;

namespace framelane {

enum class DecoderDelay : std::uint8_t {
  kAny,  ///< frame and slice threads: the most frames a second
  kLow,  ///< slice threads only: each frame comes out as soon as the codec allows
};

/** The decoder that reads `stream` best, or null: FFmpeg's choice, but libvpx for WebM with transparency, which
 *  FFmpeg's own VP8 and VP9 decoders drop. */
const AVCodec* find_decoder(const AVStream& stream);

/** Threads of a decoder where the user asks for no number: one a core, up to where libavcodec itself advises against
 *  more; each frame thread delays by one frame. */
int default_decoder_threads();

/** Decodes one video stream, into one block of pool memory a frame where codec and format allow it: kernels and
 *  copies then read frames from where they were decoded.
 *  Thread: one at a time; errors() from any. libavcodec's threads call into the pool. Owns: the codec. */
class VideoDecoder {
 public:
  /** `name`: the input's, for messages. `threads`: 0 for one a core. Throws InputError where nothing decodes this
   * codec, or it does not open. */
  VideoDecoder(const AVStream& stream, const std::string& name, std::shared_ptr<HostPool> pool, int threads,
               DecoderDelay delay);
  ~VideoDecoder();
  VideoDecoder(const VideoDecoder&) = delete;
  VideoDecoder& operator=(const VideoDecoder&) = delete;

  /** The next packet, after receive() returned null; null at the end of the stream. A damaged one is counted. */
  void send(const AVPacket* packet);
  /** The next frame in presentation order; null when a packet is needed first, or at the end. Its time is
   *  best_effort_timestamp. Throws DeviceError when the pool is out of memory. */
  AvFrame receive();
  /** True once receive() has given the last frame. */
  bool ended() const { return ended_; }
  /** Packets that did not decode, and frames that the codec marked as damaged. */
  std::int64_t errors() const { return errors_; }

 private:
  void count_error(int status);
  void correct_tags(AVFrame& frame) const;
  static int allocate(AVCodecContext* context, AVFrame* frame, int flags);

  std::shared_ptr<HostPool> pool_;
  AVCodecContext* context_ = nullptr;
  bool still_images_ = false;
  bool ended_ = false;
  std::atomic<std::int64_t> errors_{0};
  std::mutex mutex_;
  std::exception_ptr out_of_memory_;  ///< thrown in a callback from C, to be rethrown by receive()
};

}  // namespace framelane
