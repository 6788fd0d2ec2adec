// The `planes` parameter of filters that treat each plane alone.
#pragma once

#include "kernels/filter.h"

namespace framelane {

/** Whether the mask `planes` selects `plane`. Bit 3 is alpha in every format, as in ffmpeg, also where alpha is stored
 *  as plane 1 (gray). */
constexpr bool mask_selects(int planes, const PixelFormat& pixel, int plane) {
  return plane_selected(planes, pixel.is_alpha(plane) ? kMaxPlanes - 1 : plane);
}

}  // namespace framelane
