#include "kernels/frame.h"

#include <fmt/format.h>

namespace framelane {
namespace {

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
}

}  // namespace

std::string describe(const PixelFormat& pixel) {
  const char* alpha = pixel.alpha ? "a" : "";
  std::string name;
  switch (pixel.model) {
    case ColorModel::kGray:
      name = fmt::format("{}gray", pixel.alpha ? "y" : "");
      break;
    case ColorModel::kGbr:
      name = fmt::format("gbr{}p", alpha);
      break;
    case ColorModel::kYuv: {
      const char* sampling = pixel.chroma_shift_x == 0   ? (pixel.chroma_shift_y == 0 ? "444" : "440")
                             : pixel.chroma_shift_x == 2 ? (pixel.chroma_shift_y == 0 ? "411" : "410")
                             : pixel.chroma_shift_y == 0 ? "422"
                                                         : "420";
      name = fmt::format("yuv{}{}p", alpha, sampling);
      break;
    }
  }
  return pixel.depth_bits == 8 ? name : fmt::format("{}{}", name, pixel.depth_bits);
}

FrameLayout frame_layout(const FrameFormat& format) {
  FrameLayout layout;
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    const std::size_t pitch = aligned(format.row_bytes(plane));
    layout.offset[plane] = layout.bytes;
    layout.pitch_bytes[plane] = static_cast<std::ptrdiff_t>(pitch);
    layout.bytes += pitch * static_cast<std::size_t>(format.plane_height(plane));
  }
  return layout;
}

FrameView view_frame(const FrameFormat& format, std::byte* base) {
  const FrameLayout layout = frame_layout(format);
  FrameView view{format, {}};
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    view.planes[plane] = {base + layout.offset[plane], layout.pitch_bytes[plane], format.plane_width(plane),
                          format.plane_height(plane)};
  }
  return view;
}

LumaWeights luma_weights(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBt601:
      return {0.299, 0.114};
    case ColorMatrix::kBt709:
      return {0.2126, 0.0722};
    case ColorMatrix::kBt2020:
      return {0.2627, 0.0593};
    case ColorMatrix::kSmpte240m:
      return {0.212, 0.087};
    case ColorMatrix::kFcc:
      return {0.30, 0.11};
  }
  return {0.2126, 0.0722};
}

ColorMatrix guess_matrix(int width, int height) {
  return width >= 1280 || height > 576 ? ColorMatrix::kBt709 : ColorMatrix::kBt601;
}

std::string describe(const FrameFormat& format) {
  return fmt::format("{}x{} {}", format.width, format.height, describe(format.pixel));
}

}  // namespace framelane
