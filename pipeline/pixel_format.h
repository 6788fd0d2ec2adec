// FFmpeg's pixel formats and colour tags in our terms.
#pragma once

#include <optional>

#include "kernels/frame.h"

struct AVFrame;

namespace framelane {

/** Ours for an AVPixelFormat that the kernels take as it lies in memory: planar little-endian YUV, gray and GBR, 8 to
 *  16 bits, with or without alpha. Nothing for others (packed, semi-planar, palette, big-endian, float). */
std::optional<PixelFormat> planar_format(int av_pixel_format);

/** The planar AVPixelFormat that a frame of `av_pixel_format` is converted to on arrival: itself where planar_format()
 *  knows it, yuv420p for nv12, yuv420p10 for p010, gbrp for rgb24, gbrap for rgba and pal8, … Nothing loses depth,
 *  chroma resolution or alpha where a planar format can hold it. */
int arrival_format(int av_pixel_format);

/** The AVPixelFormat of `format`, in the non-J form; -1 where FFmpeg has none (4:1:1 transposed). */
int av_pixel_format(const PixelFormat& format);

/** Size, format, matrix and range of a frame whose pixel format planar_format() knows. An unspecified matrix is
 *  guess_matrix()'s; an unspecified range is limited for YUV and gray, full for GBR and the yuvj formats. */
FrameFormat frame_format(const AVFrame& frame);

/** Views a frame's planes (in plane order Y,U,V,A or G,B,R,A); no copy, negative linesizes allowed. */
FrameView view_frame(const AVFrame& frame);

/** Writes the matrix and range that were used into an output frame's tags. */
void tag_frame(AVFrame& frame, const FrameFormat& format);

}  // namespace framelane
