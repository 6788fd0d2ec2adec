// Arrival conversions change no sample; FFmpeg's own component reader is the oracle.
#include "pipeline/component_copy.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "pipeline/av.h"
#include "pipeline/frame_converter.h"
#include "pipeline/pixel_format.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

namespace framelane::testing {
namespace {

AvFrame random_frame(AVPixelFormat format, int width, int height, std::uint32_t seed) {
  AvFrame frame = make_frame();
  frame->format = format;
  frame->width = width;
  frame->height = height;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  std::mt19937 random(seed);
  for (AVBufferRef* buffer : frame->buf) {
    if (buffer == nullptr) continue;
    for (std::size_t i = 0; i < buffer->size; ++i) buffer->data[i] = static_cast<std::uint8_t>(random());
  }
  return frame;
}

/** One component's samples; of a palette, of the colours it stands for. */
std::vector<std::uint16_t> component(const AVFrame& frame, int index) {
  const auto* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const bool palette = (descriptor->flags & AV_PIX_FMT_FLAG_PAL) != 0;
  const bool alpha = (descriptor->flags & AV_PIX_FMT_FLAG_ALPHA) != 0 && index == descriptor->nb_components - 1;
  const bool chroma =
      (index == 1 || index == 2) && !alpha && (descriptor->flags & AV_PIX_FMT_FLAG_RGB) == 0 && !palette;
  const int width = chroma ? AV_CEIL_RSHIFT(frame.width, descriptor->log2_chroma_w) : frame.width;
  const int height = chroma ? AV_CEIL_RSHIFT(frame.height, descriptor->log2_chroma_h) : frame.height;
  std::vector<std::uint16_t> samples(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    std::uint16_t* row = samples.data() + static_cast<std::ptrdiff_t>(y) * width;
    av_read_image_line(row, const_cast<const std::uint8_t**>(frame.data), frame.linesize, descriptor, 0, y,
                       palette ? 0 : index, width, 0);
    for (int x = 0; palette && x < width; ++x) row[x] = frame.data[1][4 * row[x] + index];
  }
  return samples;
}

class ArrivalConversion : public ::testing::TestWithParam<const char*> {};

TEST_P(ArrivalConversion, ChangesNoSample) {
  const AVPixelFormat from = av_get_pix_fmt(GetParam());
  const auto to = static_cast<AVPixelFormat>(arrival_format(from));
  const auto* source_format = av_pix_fmt_desc_get(from);
  const auto* target_format = av_pix_fmt_desc_get(to);
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(3, 5), std::pair(33, 18), std::pair(322, 61)}) {
    const std::uint32_t seed = static_cast<std::uint32_t>(width * height);
    const AvFrame source = random_frame(from, width, height, seed);
    const AvFrame target = random_frame(to, width, height, seed + 1);
    FrameConverter().convert(*target, *source);
    const bool alpha = (source_format->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
    const int colors = source_format->nb_components - (alpha ? 1 : 0);
    for (int i = 0; i < target_format->nb_components; ++i) {
      const bool is_alpha =
          (target_format->flags & AV_PIX_FMT_FLAG_ALPHA) != 0 && i == target_format->nb_components - 1;
      const bool palette = from == AV_PIX_FMT_PAL8;
      constexpr int kBytes[] = {2, 1, 0, 3};  // a palette's entry is B, G, R, A in memory
      const int source_component = palette    ? kBytes[i]
                                   : is_alpha ? source_format->nb_components - 1
                                              : std::min(i, colors - 1);
      EXPECT_TRUE(component(*target, i) == component(*source, source_component))
          << GetParam() << " " << width << "x" << height << " component " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ArrivalConversion,
                         ::testing::Values("nv12", "nv21", "nv16", "nv24", "p010le", "p016le", "p210le", "yuyv422",
                                           "uyvy422", "y210le", "rgb24", "bgr24", "rgba", "bgra", "argb", "abgr",
                                           "rgb0", "0bgr", "pal8", "rgb48be", "rgb48le", "bgr48le", "rgba64le",
                                           "rgba64be", "x2rgb10le", "gray16be", "gray10be", "ya8", "ya16be", "ya16le",
                                           "ayuv64le", "yuv420p10be", "yuva444p16be", "gbrp12be"));

TEST(ComponentCopy, MakesMissingAlphaOpaque) {
  const AvFrame source = random_frame(AV_PIX_FMT_GBRP10, 33, 5, 1);
  const AvFrame target = random_frame(AV_PIX_FMT_GBRAP10, 33, 5, 2);
  ASSERT_TRUE(copy_components(*target, *source));
  for (const std::uint16_t code : component(*target, 3)) EXPECT_EQ(code, 1023);
}

TEST(ComponentCopy, RefusesWhatNeedsArithmetic) {
  const std::pair<AVPixelFormat, AVPixelFormat> kPairs[] = {
      {AV_PIX_FMT_RGB565LE, AV_PIX_FMT_GBRP},     {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P},
      {AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV420P}, {AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV444P},
      {AV_PIX_FMT_MONOBLACK, AV_PIX_FMT_GRAY8},   {AV_PIX_FMT_RGBA, AV_PIX_FMT_GBRP},
      {AV_PIX_FMT_GBRP10, AV_PIX_FMT_X2RGB10LE},  {AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUYV422},
  };
  for (const auto& [from, to] : kPairs) {
    EXPECT_FALSE(copy_components(*random_frame(to, 16, 4, 1), *random_frame(from, 16, 4, 2)))
        << av_get_pix_fmt_name(from) << " " << av_get_pix_fmt_name(to);
  }
}

}  // namespace
}  // namespace framelane::testing
