// submit > [convert] > encode: frames in the shape that an encoder takes.
#pragma once

#include <string>

#include "pipeline/av.h"
#include "pipeline/encoder_choice.h"
#include "pipeline/frame_converter.h"

namespace framelane {

/** Makes filtered frames into what the encoder takes. Nothing is copied where they are that already. Otherwise
 *  libswscale converts pixel format and range, transparency that the encoder cannot hold is put on black, and for
 *  encoders that refuse odd sizes the last row or column is repeated once: each is told in the log when it begins.
 *  Thread: one at a time. */
class EncoderInput {
 public:
  /** For frames like `first`, of a format that planar_format() knows. `name`: the output's, for messages. */
  EncoderInput(const AVFrame& first, const AVCodec& encoder, AVPixelFormat format, const std::string& name);

  int width() const { return width_; }
  int height() const { return height_; }
  /** Matrix and range that the encoder's stream is tagged with. */
  AVColorSpace colorspace() const { return colorspace_; }
  AVColorRange range() const { return range_; }

  /** A reference to `frame`, or what it was converted into, with its properties. */
  AvFrame prepare(const AVFrame& frame);

 private:
  AvFrame converted(const AVFrame& frame);
  AvFrame extended(const AVFrame& frame);
  AvFrame empty_frame(const AVFrame& like, int width, int height);

  AVPixelFormat format_;
  int width_;
  int height_;
  AVColorSpace colorspace_;
  AVColorRange range_;
  bool converts_ = false;
  bool loses_alpha_ = false;
  FrameConverter converter_;
};

}  // namespace framelane
