// The 3D table look-up of lut3d, one source for CPU and CUDA.
#pragma once

#include "kernels/color/color_math.h"

namespace framelane {

/** A grid point's output. 16 bytes, so that a GPU thread fetches it with one load. */
struct alignas(16) LutEntry {
  float r;
  float g;
  float b;
  float unused;
};

enum class LutInterpolation : std::uint8_t { kNearest, kTrilinear, kTetrahedral };

/** In rgb. `table` has size^3 entries, red varying fastest, in the memory of the device that runs it. */
struct Lut3dOp {
  const LutEntry* table;
  int size;
  LutInterpolation interpolation;
  float domain_min[3];
  float domain_max[3];
  float scale[3];  ///< (size - 1) / (domain_max - domain_min)
};

FRAMELANE_HOST_DEVICE inline LutEntry fetch_entry(const LutEntry* table, int index) {
#ifdef __CUDA_ARCH__
  const float4 entry = __ldg(reinterpret_cast<const float4*>(table) + index);
  return {entry.x, entry.y, entry.z, entry.w};
#else
  return table[index];
#endif
}

FRAMELANE_HOST_DEVICE inline LutEntry weighted(const LutEntry& a, float weight) {
  return {a.r * weight, a.g * weight, a.b * weight, a.unused * weight};
}

FRAMELANE_HOST_DEVICE inline LutEntry plus_weighted(const LutEntry& sum, const LutEntry& a, float weight) {
  return {sum.r + a.r * weight, sum.g + a.g * weight, sum.b + a.b * weight, sum.unused + a.unused * weight};
}

/** Where a colour lies in the grid: the cell's first corner, and 0..1 from it along each axis. */
struct LutPosition {
  int base;
  float fraction[3];
};

FRAMELANE_HOST_DEVICE inline LutPosition locate(const Lut3dOp& op, const float (&rgb)[3]) {
  LutPosition position{0, {}};
  int step = 1;
  FRAMELANE_UNROLL
  for (int axis = 0; axis < 3; ++axis) {
    const float low = op.domain_min[axis];
    const float x = (clamped(rgb[axis], low, op.domain_max[axis]) - low) * op.scale[axis];
    const int whole = static_cast<int>(x);
    const int cell = whole < op.size - 2 ? whole : op.size - 2;
    position.base += cell * step;
    position.fraction[axis] = x - static_cast<float>(cell);
    step *= op.size;
  }
  return position;
}

FRAMELANE_HOST_DEVICE inline LutEntry nearest(const Lut3dOp& op, const LutPosition& at) {
  const int r = at.fraction[0] >= 0.5F ? 1 : 0;
  const int g = at.fraction[1] >= 0.5F ? op.size : 0;
  const int b = at.fraction[2] >= 0.5F ? op.size * op.size : 0;
  return fetch_entry(op.table, at.base + r + g + b);
}

FRAMELANE_HOST_DEVICE inline LutEntry trilinear(const Lut3dOp& op, const LutPosition& at) {
  LutEntry sum{};
  FRAMELANE_UNROLL
  for (int corner = 0; corner < 8; ++corner) {
    const int r = corner & 1;
    const int g = corner >> 1 & 1;
    const int b = corner >> 2;
    const float weight = (r != 0 ? at.fraction[0] : 1 - at.fraction[0]) *
                         (g != 0 ? at.fraction[1] : 1 - at.fraction[1]) *
                         (b != 0 ? at.fraction[2] : 1 - at.fraction[2]);
    sum = plus_weighted(sum, fetch_entry(op.table, at.base + r + (g + b * op.size) * op.size), weight);
  }
  return sum;
}

/** Of the six tetrahedra around the cell's gray diagonal the one whose path from the first corner to the last goes
 *  along the axes in the order of their fractions, largest first. */
FRAMELANE_HOST_DEVICE inline LutEntry tetrahedral(const Lut3dOp& op, const LutPosition& at) {
  const float r = at.fraction[0];
  const float g = at.fraction[1];
  const float b = at.fraction[2];
  const int step_g = op.size;
  const int step_b = op.size * op.size;
  const bool r_over_g = r >= g;
  const bool g_over_b = g >= b;
  const bool r_over_b = r >= b;
  const int first = r_over_g && r_over_b ? 1 : (!r_over_g && g_over_b ? step_g : step_b);
  const int last = r_over_b && g_over_b ? step_b : (r_over_g && !g_over_b ? step_g : 1);
  const float rg_high = r_over_g ? r : g;
  const float rg_low = r_over_g ? g : r;
  const float high = rg_high > b ? rg_high : b;
  const float low = rg_low < b ? rg_low : b;
  const float middle = clamped(b, rg_low, rg_high);
  const int end = at.base + 1 + step_g + step_b;
  LutEntry sum = weighted(fetch_entry(op.table, at.base), 1 - high);
  sum = plus_weighted(sum, fetch_entry(op.table, at.base + first), high - middle);
  sum = plus_weighted(sum, fetch_entry(op.table, end - last), middle - low);
  return plus_weighted(sum, fetch_entry(op.table, end), low);
}

template <LutInterpolation kInterpolation>
FRAMELANE_HOST_DEVICE LutEntry look_up(const Lut3dOp& op, const float (&rgb)[3]) {
  const LutPosition at = locate(op, rgb);
  if constexpr (kInterpolation == LutInterpolation::kNearest) return nearest(op, at);
  if constexpr (kInterpolation == LutInterpolation::kTrilinear) return trilinear(op, at);
  if constexpr (kInterpolation == LutInterpolation::kTetrahedral) return tetrahedral(op, at);
}

/** One colour. Inside 0..1 it is cut to the table's domain, as in ffmpeg. What YUV codes can hold outside 0..1
 *  (whiter than white, out of gamut) goes on from the gamut's surface along the table's own slope, measured over
 *  half the excess inwards: an identity table changes nothing, a black-and-white one leaves no colour, and
 *  highlights keep their detail. */
template <LutInterpolation kInterpolation>
FRAMELANE_HOST_DEVICE LutEntry look_up_extended(const Lut3dOp& op, const float (&rgb)[3]) {
  float surface[3];
  bool outside = false;
  FRAMELANE_UNROLL
  for (int axis = 0; axis < 3; ++axis) {
    surface[axis] = clamped(rgb[axis], op.domain_min[axis] < 0 ? op.domain_min[axis] : 0.0F,
                            op.domain_max[axis] > 1 ? op.domain_max[axis] : 1.0F);
    outside = outside || surface[axis] != rgb[axis];
  }
  const LutEntry here = look_up<kInterpolation>(op, surface);
  if (!outside) return here;
  constexpr float kPart = 0.5F;  // the largest excess of any code is 1.2: half of it stays inside the domain
  float inside[3];
  FRAMELANE_UNROLL
  for (int axis = 0; axis < 3; ++axis) inside[axis] = surface[axis] - kPart * (rgb[axis] - surface[axis]);
  const LutEntry behind = look_up<kInterpolation>(op, inside);
  return plus_weighted(weighted(here, 1 + 1 / kPart), behind, -1 / kPart);
}

template <LutInterpolation kInterpolation, int kPixels>
FRAMELANE_HOST_DEVICE void look_up_pixels(const Lut3dOp& op_in_memory, Pixels<kPixels>& pixels) {
  const Lut3dOp op = op_in_memory;  // nvcc would fetch its members again for every grid point
  FRAMELANE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const float rgb[3] = {pixels.component[0][i], pixels.component[1][i], pixels.component[2][i]};
    const LutEntry out = look_up_extended<kInterpolation>(op, rgb);
    pixels.component[0][i] = out.r;
    pixels.component[1][i] = out.g;
    pixels.component[2][i] = out.b;
  }
}

template <int kPixels>
FRAMELANE_HOST_DEVICE void apply_to_pixels(const Lut3dOp& op, Pixels<kPixels>& pixels) {
  switch (op.interpolation) {
    case LutInterpolation::kNearest:
      look_up_pixels<LutInterpolation::kNearest>(op, pixels);
      break;
    case LutInterpolation::kTrilinear:
      look_up_pixels<LutInterpolation::kTrilinear>(op, pixels);
      break;
    case LutInterpolation::kTetrahedral:
      look_up_pixels<LutInterpolation::kTetrahedral>(op, pixels);
      break;
  }
}

}  // namespace framelane
