// Which of FFmpeg's pixel formats are ours, and what the others are converted into.
#include "pipeline/pixel_format.h"

#include <gtest/gtest.h>

#include <string>

#include "pipeline/av.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

namespace framelane::testing {
namespace {

AVPixelFormat by_name(const std::string& name) {
  const AVPixelFormat format = av_get_pix_fmt(name.c_str());
  EXPECT_NE(format, AV_PIX_FMT_NONE) << name;
  return format;
}

std::string name_of(int format) {
  const char* name = av_get_pix_fmt_name(static_cast<AVPixelFormat>(format));
  return name == nullptr ? "none" : name;
}

TEST(PixelFormat, DescribesPlanarFormats) {
  EXPECT_EQ(planar_format(by_name("yuv420p")), (PixelFormat{ColorModel::kYuv, 8, 1, 1, false}));
  EXPECT_EQ(planar_format(by_name("yuvj422p")), (PixelFormat{ColorModel::kYuv, 8, 1, 0, false}));
  EXPECT_EQ(planar_format(by_name("yuv410p")), (PixelFormat{ColorModel::kYuv, 8, 2, 2, false}));
  EXPECT_EQ(planar_format(by_name("yuv411p")), (PixelFormat{ColorModel::kYuv, 8, 2, 0, false}));
  EXPECT_EQ(planar_format(by_name("yuv440p12le")), (PixelFormat{ColorModel::kYuv, 12, 0, 1, false}));
  EXPECT_EQ(planar_format(by_name("yuva444p16le")), (PixelFormat{ColorModel::kYuv, 16, 0, 0, true}));
  EXPECT_EQ(planar_format(by_name("gray")), (PixelFormat{ColorModel::kGray, 8, 0, 0, false}));
  EXPECT_EQ(planar_format(by_name("gray14le")), (PixelFormat{ColorModel::kGray, 14, 0, 0, false}));
  EXPECT_EQ(planar_format(by_name("gbrp9le")), (PixelFormat{ColorModel::kGbr, 9, 0, 0, false}));
  EXPECT_EQ(planar_format(by_name("gbrap12le")), (PixelFormat{ColorModel::kGbr, 12, 0, 0, true}));
}

TEST(PixelFormat, LeavesOutWhatKernelsCannotRead) {
  for (const char* name : {"nv12", "nv24", "p010le", "yuyv422", "rgb24", "rgba", "pal8", "monob", "ya8", "gray16be",
                           "yuv420p10be", "grayf32le", "gbrpf32le", "bayer_rggb8", "vaapi", "xyz12le", "rgb565le"}) {
    EXPECT_FALSE(planar_format(by_name(name))) << name;
  }
  EXPECT_FALSE(planar_format(AV_PIX_FMT_NONE));
}

/** Every format that planar_format() knows has its planes and words where FFmpeg's own descriptor puts them, and is
 *  found again from our description. */
TEST(PixelFormat, AgreesWithFfmpegsDescriptorsAndBack) {
  int known = 0;
  const AVPixFmtDescriptor* descriptor = nullptr;
  while ((descriptor = av_pix_fmt_desc_next(descriptor)) != nullptr) {
    const AVPixelFormat format = av_pix_fmt_desc_get_id(descriptor);
    const auto pixel = planar_format(format);
    if (!pixel) continue;
    ++known;
    EXPECT_EQ(av_pix_fmt_count_planes(format), pixel->plane_count()) << descriptor->name;
    const int again = av_pixel_format(*pixel);
    EXPECT_EQ(planar_format(again), pixel) << descriptor->name;
    if (std::string(descriptor->name).find("yuvj") == std::string::npos) {
      EXPECT_EQ(again, format) << descriptor->name;
    }
    EXPECT_EQ(arrival_format(format), format) << descriptor->name;
  }
  EXPECT_GT(known, 50);
}

TEST(PixelFormat, ConvertsOthersOnArrivalWithoutLoss) {
  const std::pair<const char*, const char*> kCases[] = {
      {"nv12", "yuv420p"},
      {"nv21", "yuv420p"},
      {"nv16", "yuv422p"},
      {"nv24", "yuv444p"},
      {"p010le", "yuv420p10le"},
      {"p016le", "yuv420p16le"},
      {"yuyv422", "yuv422p"},
      {"uyvy422", "yuv422p"},
      {"uyyvyy411", "yuv411p"},
      {"y210le", "yuv422p10le"},
      {"rgb24", "gbrp"},
      {"bgr0", "gbrp"},
      {"rgba", "gbrap"},
      {"pal8", "gbrap"},
      {"rgb48be", "gbrp16le"},
      {"rgba64le", "gbrap16le"},
      {"rgb565le", "gbrp"},
      {"x2rgb10le", "gbrp10le"},
      {"monob", "gray"},
      {"monow", "gray"},
      {"gray16be", "gray16le"},
      {"ya8", "gbrap"},
      {"ya16be", "gbrap16le"},
      {"grayf32le", "gray16le"},
      {"gbrpf32le", "gbrp16le"},
      {"xyz12le", "gbrp12le"},
      {"bayer_rggb8", "gbrp"},
      {"bayer_rggb16le", "gbrp16le"},
      {"yuv420p10be", "yuv420p10le"},
      {"ayuv64le", "yuva444p16le"},
  };
  for (const auto& [from, to] : kCases) EXPECT_EQ(name_of(arrival_format(by_name(from))), to) << from;
}

/** Every software format that FFmpeg decodes to has a planar twin with at least its depth, chroma and alpha. */
TEST(PixelFormat, EveryFormatHasAnArrivalFormat) {
  const AVPixFmtDescriptor* descriptor = nullptr;
  while ((descriptor = av_pix_fmt_desc_next(descriptor)) != nullptr) {
    if ((descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0) continue;
    const auto pixel = planar_format(arrival_format(av_pix_fmt_desc_get_id(descriptor)));
    ASSERT_TRUE(pixel) << descriptor->name;
    const bool counted = (descriptor->flags & (AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER)) == 0;
    if (counted) {
      EXPECT_GE(pixel->depth_bits, std::min(16, descriptor->comp[0].depth)) << descriptor->name;
    }
    EXPECT_LE(pixel->chroma_shift_x, descriptor->log2_chroma_w) << descriptor->name;
    EXPECT_LE(pixel->chroma_shift_y, descriptor->log2_chroma_h) << descriptor->name;
    if ((descriptor->flags & AV_PIX_FMT_FLAG_ALPHA) != 0) {
      EXPECT_TRUE(pixel->alpha) << descriptor->name;
    }
  }
}

AvFrame frame_of(const char* format, int width, int height) {
  AvFrame frame = make_frame();
  frame->format = by_name(format);
  frame->width = width;
  frame->height = height;
  return frame;
}

TEST(FrameFormat, GuessesWhatTagsLeaveOut) {
  EXPECT_EQ(frame_format(*frame_of("yuv420p", 1280, 720)).matrix, ColorMatrix::kBt709);
  EXPECT_EQ(frame_format(*frame_of("yuv420p", 720, 576)).matrix, ColorMatrix::kBt601);
  EXPECT_EQ(frame_format(*frame_of("yuv420p", 720, 576)).range, ColorRange::kLimited);
  EXPECT_EQ(frame_format(*frame_of("yuvj420p", 720, 576)).range, ColorRange::kFull);
  EXPECT_EQ(frame_format(*frame_of("gbrp10le", 720, 576)).range, ColorRange::kFull);
}

TEST(FrameFormat, FollowsTags) {
  AvFrame frame = frame_of("yuv420p10le", 320, 240);
  frame->colorspace = AVCOL_SPC_BT2020_NCL;
  frame->color_range = AVCOL_RANGE_JPEG;
  frame->sample_aspect_ratio = {64, 45};
  const FrameFormat format = frame_format(*frame);
  EXPECT_EQ(format.matrix, ColorMatrix::kBt2020);
  EXPECT_EQ(format.range, ColorRange::kFull);
  EXPECT_EQ(format.sample_aspect, (AspectRatio{64, 45}));
}

TEST(FrameFormat, TagsSayWhatWasUsed) {
  AvFrame frame = frame_of("yuv420p", 1920, 1080);
  tag_frame(*frame, frame_format(*frame));
  EXPECT_EQ(frame->colorspace, AVCOL_SPC_BT709);
  EXPECT_EQ(frame->color_range, AVCOL_RANGE_MPEG);

  AvFrame pal = frame_of("yuv420p", 720, 576);
  pal->colorspace = AVCOL_SPC_BT470BG;  // the same matrix as SMPTE 170M, under its European name
  tag_frame(*pal, frame_format(*pal));
  EXPECT_EQ(pal->colorspace, AVCOL_SPC_BT470BG);

  AvFrame rgb = frame_of("gbrp", 720, 576);
  tag_frame(*rgb, frame_format(*rgb));
  EXPECT_EQ(rgb->colorspace, AVCOL_SPC_RGB);
  EXPECT_EQ(rgb->color_range, AVCOL_RANGE_JPEG);
}

TEST(FrameView, SeesOddSizesAndBottomUpFrames) {
  AvFrame frame = frame_of("yuv420p", 321, 241);
  ASSERT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  frame->data[0] += frame->linesize[0] * 240;
  frame->linesize[0] = -frame->linesize[0];
  const FrameView view = view_frame(*frame);
  EXPECT_EQ(view.planes[1].width, 161);
  EXPECT_EQ(view.planes[2].height, 121);
  EXPECT_LT(view.planes[0].pitch_bytes, 0);
  EXPECT_EQ(reinterpret_cast<std::uint8_t*>(view.planes[0].data), frame->data[0]);
}

}  // namespace
}  // namespace framelane::testing
