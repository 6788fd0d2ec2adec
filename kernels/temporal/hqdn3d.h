// hqdn3d: a recursive low-pass along rows, then down columns, then through time.
//
// Samples are widened to 16 bits (the middle of their code's range). Each step moves the current value towards the one
// before it, by an amount that a table gives for their difference: large differences are edges and stay. With L(p, c)
// that step, s a widened sample and row 0 the top row:
//   across:  H(0, y) = s(0, y), but H(0, 0) = L(s, s);   H(x, y) = L(H(x-1, y), s(x, y))
//   down:    V(x, 0) = H(x, 0);                          V(x, y) = L(V(x, y-1), H(x, y))
//   in time: T(n) = L(T(n-1), V(n)), where s(0) stands for T(-1); its high bits are the output.
// That is ffmpeg's filter (libavfilter/vf_hqdn3d.c), bit for bit, but for what looks like accidents there: above 8 bits
// its tables have no entries for differences of nearly the whole range, and its accumulator can leave 16 bits next to
// black or white (seen at 12 and 14 bits) and comes out at the other end. Ours does not smooth the former, and is
// clipped.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/filter.h"

#ifdef __CUDACC__
#define FRAMELANE_HQDN3D_INLINE __host__ __device__ inline
#else
#define FRAMELANE_HQDN3D_INLINE inline
#endif

namespace framelane {

/** Differences of two 16-bit values share a table entry with their neighbours, except at 16 bits a sample. */
FRAMELANE_HQDN3D_INLINE int hqdn3d_bin_shift(int depth_bits) { return depth_bits == 16 ? 0 : 4; }

FRAMELANE_HQDN3D_INLINE int hqdn3d_widen(int code, int depth_bits) {
  const int shift = 16 - depth_bits;
  return (code << shift) + (((1 << shift) - 1) >> 1);
}

/** L(previous, current); `centre` is the table's entry for no difference. */
FRAMELANE_HQDN3D_INLINE int hqdn3d_step(int previous, int current, const std::int16_t* centre, int bin_shift) {
  const int moved = current + centre[(previous - current) >> bin_shift];
  return moved < 0 ? 0 : moved > 65535 ? 65535 : moved;
}

/** One strength's steps: entry [i + centre] for differences of i << bin_shift and on. */
struct Hqdn3dTable {
  std::vector<std::int16_t> steps;
  int centre = 0;
};
/** `strength` (0, 252]: the difference of 8-bit codes at which a step is a quarter of the difference. */
Hqdn3dTable hqdn3d_table(double strength, int depth_bits);

/** The tables that planes are filtered by (alpha is copied). Chroma's are for U and V alone: G, B and R are filtered as
 *  luma. */
struct Hqdn3dTables {
  Hqdn3dTable luma_spatial;
  Hqdn3dTable chroma_spatial;
  Hqdn3dTable luma_temporal;
  Hqdn3dTable chroma_temporal;

  const Hqdn3dTable& spatial(bool chroma) const { return chroma ? chroma_spatial : luma_spatial; }
  const Hqdn3dTable& temporal(bool chroma) const { return chroma ? chroma_temporal : luma_temporal; }
};

/** The 16-bit planes that the passes hand on (scratch: V) or keep (state: T): view_frame() of this format. */
FrameFormat hqdn3d_wide_format(const FrameFormat& format);

/** The CUDA half, in hqdn3d.cu. */
std::unique_ptr<CompiledFilter> compile_hqdn3d_cuda(const Hqdn3dTables& tables, const FrameFormat& format);

}  // namespace framelane
