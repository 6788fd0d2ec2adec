#include "pipeline/av.h"

#include <array>
#include <new>

extern "C" {
#include <libavcodec/packet.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>
}

namespace framelane {

void AvFrameDeleter::operator()(AVFrame* frame) const { av_frame_free(&frame); }
void AvPacketDeleter::operator()(AVPacket* packet) const { av_packet_free(&packet); }

AvFrame make_frame() {
  AvFrame frame(av_frame_alloc());
  if (!frame) throw std::bad_alloc();
  return frame;
}

AvPacket make_packet() {
  AvPacket packet(av_packet_alloc());
  if (!packet) throw std::bad_alloc();
  return packet;
}

AvFrame reference(const AVFrame& frame) {
  AvFrame copy = make_frame();
  if (av_frame_ref(copy.get(), &frame) < 0) throw std::bad_alloc();
  return copy;
}

std::string av_error_text(int status) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(status, text.data(), text.size());
  return text.data();
}

}  // namespace framelane
