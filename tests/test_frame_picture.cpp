// Frames as display pictures: colours against the standards' equations in double precision.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/av.h"
#include "pipeline/frame_picture.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {
namespace {

constexpr int kWidth = 24;
constexpr int kHeight = 10;

struct Codes {
  int y, u, v;
};

/** A frame of one colour; `codes` at the format's own depth. */
AvFrame flat_frame(AVPixelFormat format, const Codes& codes, AVColorSpace matrix, AVColorRange range) {
  AvFrame frame = make_frame();
  frame->format = format;
  frame->width = kWidth;
  frame->height = kHeight;
  frame->colorspace = matrix;
  frame->color_range = range;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format);
  const std::array values{codes.y, codes.u, codes.v};
  for (int component = 0; component < descriptor->nb_components; ++component) {
    const int plane = descriptor->comp[component].plane;
    const bool chroma = plane == 1 || plane == 2;
    const int rows = chroma ? AV_CEIL_RSHIFT(kHeight, descriptor->log2_chroma_h) : kHeight;
    for (int y = 0; y < rows; ++y) {
      std::uint8_t* row = frame->data[plane] + y * frame->linesize[plane];
      const int samples = frame->linesize[plane] / descriptor->comp[component].step;
      for (int x = 0; x < samples; ++x) {
        if (descriptor->comp[component].depth > 8) {
          reinterpret_cast<std::uint16_t*>(row)[x] = static_cast<std::uint16_t>(values[component]);
        } else {
          row[x] = static_cast<std::uint8_t>(values[component]);
        }
      }
    }
  }
  return frame;
}

std::vector<std::uint8_t> painted(const AVFrame& frame, PictureSize size) {
  const std::size_t pitch = static_cast<std::size_t>(size.width) * 4 + 64;
  std::vector<std::uint8_t> pixels(pitch * static_cast<std::size_t>(size.height), 0xA5);
  PicturePainter painter;
  painter.paint(reinterpret_cast<std::byte*>(pixels.data()), static_cast<std::ptrdiff_t>(pitch), size, frame);
  for (int y = 0; y < size.height; ++y) {
    for (std::size_t x = static_cast<std::size_t>(size.width) * 4 + 32; x < pitch; ++x) {
      EXPECT_EQ(pixels[static_cast<std::size_t>(y) * pitch + x], 0xA5) << "padding written at row " << y;
    }
  }
  return pixels;
}

/** R, G, B in 0 to 255 by the equations of BT.601 / BT.709 / BT.2020. */
std::array<double, 3> reference(const Codes& codes, int depth_bits, double kr, double kb, bool full) {
  const double unit = std::ldexp(1.0, depth_bits - 8);
  const double max_code = std::ldexp(1.0, depth_bits) - 1;
  const double center = std::ldexp(1.0, depth_bits - 1);
  const double y = full ? codes.y / max_code : (codes.y / unit - 16) / 219;
  const double cb = full ? (codes.u - center) / max_code : (codes.u - center) / unit / 224;
  const double cr = full ? (codes.v - center) / max_code : (codes.v - center) / unit / 224;
  const double r = y + 2 * (1 - kr) * cr;
  const double b = y + 2 * (1 - kb) * cb;
  const double g = (y - kr * r - kb * b) / (1 - kr - kb);
  const auto code = [](double level) { return 255 * std::min(std::max(level, 0.0), 1.0); };
  return {code(r), code(g), code(b)};
}

void expect_color(const std::vector<std::uint8_t>& pixels, const std::array<double, 3>& rgb) {
  // libswscale's quick way adds up table entries of 8 bits, each cut off; 2 codes cannot be seen.
  EXPECT_NEAR(pixels[2], std::lround(rgb[0]), 2) << "red";
  EXPECT_NEAR(pixels[1], std::lround(rgb[1]), 2) << "green";
  EXPECT_NEAR(pixels[0], std::lround(rgb[2]), 2) << "blue";
  EXPECT_EQ(pixels[3], 255) << "alpha";
}

TEST(PicturePainter, ColorsFollowMatrixAndRange) {
  struct Matrix {
    AVColorSpace space;
    double kr, kb;
  };
  for (const Matrix& matrix : {Matrix{AVCOL_SPC_SMPTE170M, 0.299, 0.114}, Matrix{AVCOL_SPC_BT709, 0.2126, 0.0722},
                               Matrix{AVCOL_SPC_BT2020_NCL, 0.2627, 0.0593}}) {
    for (const bool full : {false, true}) {
      for (const Codes& codes : {Codes{16, 128, 128}, Codes{235, 128, 128}, Codes{81, 90, 240}, Codes{145, 54, 34},
                                 Codes{41, 240, 110}, Codes{120, 100, 160}}) {
        SCOPED_TRACE(std::string(av_color_space_name(matrix.space)) + (full ? " full " : " limited ") +
                     std::to_string(codes.y) + "," + std::to_string(codes.u) + "," + std::to_string(codes.v));
        const AvFrame frame =
            flat_frame(AV_PIX_FMT_YUV420P, codes, matrix.space, full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG);
        expect_color(painted(*frame, {kWidth, kHeight}), reference(codes, 8, matrix.kr, matrix.kb, full));
      }
    }
  }
}

TEST(PicturePainter, TakesDeepGrayAndGbrFrames) {
  const Codes deep{600, 400, 700};
  const AvFrame yuv = flat_frame(AV_PIX_FMT_YUV422P10, deep, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG);
  expect_color(painted(*yuv, {kWidth, kHeight}), reference(deep, 10, 0.2126, 0.0722, false));
  const AvFrame gray = flat_frame(AV_PIX_FMT_GRAY8, {200, 0, 0}, AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_JPEG);
  expect_color(painted(*gray, {kWidth, kHeight}), {200, 200, 200});
  // Components of GBR formats are R, G, B in this order.
  const AvFrame gbr = flat_frame(AV_PIX_FMT_GBRP, {200, 100, 50}, AVCOL_SPC_RGB, AVCOL_RANGE_JPEG);
  expect_color(painted(*gbr, {kWidth, kHeight}), {200, 100, 50});
}

TEST(PicturePainter, AnUntaggedSmallFrameIsBt601) {
  const Codes red{81, 90, 240};
  const AvFrame frame = flat_frame(AV_PIX_FMT_YUV420P, red, AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_UNSPECIFIED);
  expect_color(painted(*frame, {kWidth, kHeight}), reference(red, 8, 0.299, 0.114, false));
}

TEST(PicturePainter, ScalesToAnySizeWithoutWritingBeyondIt) {
  const Codes codes{145, 54, 34};
  const AvFrame frame = flat_frame(AV_PIX_FMT_YUV420P, codes, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG);
  for (const PictureSize& size : {PictureSize{7, 3}, PictureSize{24, 10}, PictureSize{131, 67}}) {
    expect_color(painted(*frame, size), reference(codes, 8, 0.2126, 0.0722, false));
  }
}

TEST(DisplaySize, StretchesByTheSampleAspectRatio) {
  AvFrame frame = make_frame();
  frame->width = 720;
  frame->height = 576;
  EXPECT_EQ(display_size(*frame), (PictureSize{720, 576}));
  frame->sample_aspect_ratio = {64, 45};
  EXPECT_EQ(display_size(*frame), (PictureSize{1024, 576}));
  frame->sample_aspect_ratio = {0, 1};
  EXPECT_EQ(display_size(*frame), (PictureSize{720, 576}));
}

}  // namespace
}  // namespace framelane
