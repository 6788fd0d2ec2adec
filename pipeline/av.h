// Owners of FFmpeg's objects, and its errors as ours. FFmpeg's headers stay out of here.
#pragma once

#include <memory>
#include <string>

struct AVFrame;
struct AVPacket;
struct AVDictionary;

namespace framelane {

struct AvFrameDeleter {
  void operator()(AVFrame* frame) const;
};
struct AvPacketDeleter {
  void operator()(AVPacket* packet) const;
};
using AvFrame = std::unique_ptr<AVFrame, AvFrameDeleter>;
using AvPacket = std::unique_ptr<AVPacket, AvPacketDeleter>;

/** Empty ones; throw std::bad_alloc. */
AvFrame make_frame();
AvPacket make_packet();
/** A new reference to the same buffers. */
AvFrame reference(const AVFrame& frame);

/** FFmpeg's text for a negative return value. */
std::string av_error_text(int status);

}  // namespace framelane
