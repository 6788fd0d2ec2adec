// Which encoder an output gets, with which pixel format and settings.
#pragma once

#include <map>
#include <string>

#include "pipeline/media_output.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

struct AVOutputFormat;

namespace framelane {

/** The encoder that `options` names, or libx264 where the container takes H.264, or the container's own. Throws
 *  UsageError (no such encoder, or the container does not take it), OutputError (no video in such a container, or
 *  this FFmpeg has no encoder for it). */
const AVCodec& choose_encoder(const MediaOutputOptions& options, const AVOutputFormat& muxer);

/** What `encoder` is given for frames like `frame`: their own format where it takes that, else the nearest. The yuvj
 *  formats only for JPEG, which knows no others. */
AVPixelFormat choose_pixel_format(const AVCodec& encoder, const AVOutputFormat& muxer, const AVFrame& frame);

/** True for still-picture formats whose samples are full range by definition. */
bool is_full_range_only(AVCodecID codec);

/** Options for avcodec_open2() (the user's, and our defaults where the user says nothing), and `context`'s rate
 *  control. Throws UsageError for a crf, preset or bit rate that the encoder does not have or that is out of range. */
std::map<std::string, std::string> encoder_settings(AVCodecContext& context, const MediaOutputOptions& options);

/** True for containers that count frames instead of giving them times (AVI, YUV4MPEG2, …). libavformat's own flag for
 *  this calls MP4 one of them. */
bool has_constant_rate(const AVOutputFormat& muxer);

/** The unit of the encoder's timestamps: the input's, but for containers and codecs that hold only constant or coarse
 *  rates. */
AVRational encoder_time_base(const AVCodec& encoder, const AVOutputFormat& muxer, AVRational input, AVRational rate);

}  // namespace framelane
