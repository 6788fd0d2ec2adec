// Pixel format and size conversion by libswscale, where kernels or encoders do not take a frame as it is.
#pragma once

#include <cstdint>

struct AVFrame;
struct SwsContext;

namespace framelane {

enum class ConversionQuality : std::uint8_t {
  kAccurate,  ///< bicubic, every chroma sample interpolated: what is filtered and encoded
  kQuick      ///< bilinear, a fifth of the time: what is only looked at
};

/** Converts frames; keeps libswscale's context as long as the formats stay the same.
 *  Thread: one at a time. Owns: the context. */
class FrameConverter {
 public:
  explicit FrameConverter(ConversionQuality quality = ConversionQuality::kAccurate) : quality_(quality) {}
  ~FrameConverter();
  FrameConverter(const FrameConverter&) = delete;
  FrameConverter& operator=(const FrameConverter&) = delete;

  /** Fills `dst`, whose format, size and writable planes are set, from `src`: sample by sample where the formats only
   *  lay them out differently, else by libswscale, scaled where sizes differ, with
   *  accurate rounding, each side read by its own matrix and range tags (an untagged matrix is guess_matrix()'s).
   *  Copies no properties. Throws std::runtime_error where libswscale cannot convert between the formats. */
  void convert(AVFrame& dst, const AVFrame& src);

 private:
  const ConversionQuality quality_;
  SwsContext* context_ = nullptr;
};

}  // namespace framelane
