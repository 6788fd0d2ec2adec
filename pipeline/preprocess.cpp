// decode > [preprocess] > ring > submit > encode.  Thread: decoder.
#include "pipeline/preprocess.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <new>

#include "kernels/errors.h"
#include "pipeline/pixel_format.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {

AvFrame allocate_frame(HostPool& pool, const FrameFormat& format) {
  AvFrame frame = make_frame();
  frame->format = av_pixel_format(format.pixel);
  frame->width = format.width;
  frame->height = format.height;
  tag_frame(*frame, format);
  const FrameLayout layout = frame_layout(format);
  frame->buf[0] = pool.get(layout.bytes);
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    frame->data[plane] = frame->buf[0]->data + layout.offset[plane];
    frame->linesize[plane] = static_cast<int>(layout.pitch_bytes[plane]);
  }
  return frame;
}

AvFrame allocate_frame(HostPool& pool, const FrameFormat& format, const AVFrame& source) {
  AvFrame frame = allocate_frame(pool, format);
  if (av_frame_copy_props(frame.get(), &source) < 0) throw std::bad_alloc();
  tag_frame(*frame, format);
  return frame;
}

AvFrame allocate_result(HostPool& pool, const FrameFormat& format, const AVFrame& source) {
  AvFrame frame = allocate_frame(pool, format, source);
  frame->sample_aspect_ratio = {format.sample_aspect.num, format.sample_aspect.den};
  return frame;
}

FrameFormat Preprocess::stream_format(const AVFrame& first) {
  if (planar_format(first.format)) return frame_format(first);
  AvFrame arrival = reference(first);
  arrival->format = arrival_format(first.format);
  return frame_format(*arrival);
}

bool Preprocess::is_usable(const AVFrame& frame, bool needs_pinned) const {
  if (std::ranges::any_of(frame.linesize, [](int linesize) { return linesize < 0; })) return false;  // bottom-up
  if (device_.shares_host_memory()) return true;
  if (frame.buf[0] == nullptr || frame.buf[1] != nullptr) return false;
  return needs_pinned ? HostPool::is_pinned(*frame.buf[0]) : HostPool::is_pooled(*frame.buf[0]);
}

AvFrame Preprocess::run(AvFrame frame, const FrameFormat& format, bool needs_pinned) {
  const bool same_size = frame->width == format.width && frame->height == format.height;
  const bool same_planes = planar_format(frame->format) == format.pixel;
  if (same_size && same_planes && is_usable(*frame, needs_pinned)) return frame;

  AvFrame usable = allocate_frame(pool_, format, *frame);
  if (same_size && same_planes) {
    av_image_copy(usable->data, usable->linesize, const_cast<const std::uint8_t**>(frame->data), frame->linesize,
                  static_cast<AVPixelFormat>(frame->format), frame->width, frame->height);
  } else {
    const auto arrival = static_cast<AVPixelFormat>(arrival_format(frame->format));
    const bool changed = !same_size || planar_format(arrival) != format.pixel;
    if (changed && !warned_) {
      spdlog::warn("the input changes to {}x{} {}: these frames are converted to {}", frame->width, frame->height,
                   av_get_pix_fmt_name(static_cast<AVPixelFormat>(frame->format)), describe(format));
      warned_ = true;
    }
    converter_.convert(*usable, *frame);
  }
  return usable;
}

}  // namespace framelane
