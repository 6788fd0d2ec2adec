// Conversions between pixel formats that only lay the same samples out differently.
#pragma once

struct AVFrame;

namespace framelane {

/** Copies `src` to `dst` (same size, buffers set) sample by sample where `dst` can hold every sample of `src` as it is:
 *  packed and planar RGB, YUV of one subsampling, either byte order, p010 and yuv420p10; gray becomes equal R, G and B,
 *  palettes GBR with alpha; alpha that `src` lacks is opaque. Returns false, and writes nothing, for any other pair.
 * libswscale takes several of these ways through YUV and back, which changes samples. Runs on all cores. The caller
 * sees to it that both sides mean the same matrix and range. */
bool copy_components(AVFrame& dst, const AVFrame& src);

}  // namespace framelane
