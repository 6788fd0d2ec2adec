// decode > [preprocess] > ring > submit > encode.  Thread: decoder.
#pragma once

#include <memory>

#include "kernels/frame.h"
#include "pipeline/av.h"
#include "pipeline/device.h"
#include "pipeline/frame_converter.h"
#include "pipeline/host_pool.h"

namespace framelane {

/** A frame of `format` in one block of `pool` by frame_layout(); properties unset but size, format and tags. */
AvFrame allocate_frame(HostPool& pool, const FrameFormat& format);
/** With the properties of `source` (times, side data), and `format`'s tags. */
AvFrame allocate_frame(HostPool& pool, const FrameFormat& format, const AVFrame& source);
/** What filters make of `source`: with `format`'s aspect ratio as well. */
AvFrame allocate_result(HostPool& pool, const FrameFormat& format, const AVFrame& source);

/** Makes a decoded frame into what the submitter takes: planar, of the stream's first format and size, and on a
 *  device with memory of its own in one block of host memory that the mode's copies can use. Most frames are that
 *  already, and go through untouched.
 *  Thread: the decoder's. */
class Preprocess {
 public:
  /** `device` and `pool` outlive this. */
  Preprocess(const Device& device, HostPool& pool) : device_(device), pool_(pool) {}

  /** The format that all frames of a stream will have, from its first. */
  static FrameFormat stream_format(const AVFrame& first);

  /** `needs_pinned`: the frame will be copied asynchronously. Warns once when a stream changes its format. */
  AvFrame run(AvFrame frame, const FrameFormat& format, bool needs_pinned);

 private:
  bool is_usable(const AVFrame& frame, bool needs_pinned) const;

  const Device& device_;
  HostPool& pool_;
  FrameConverter converter_;
  bool warned_ = false;
};

}  // namespace framelane
