// The weights of a one-dimensional resampling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framelane {

/** Kernels, with s = input size / output size, and c = (i + 1/2)·s − 1/2 the place of output sample i in the input:
 *  kNeighbor  the input sample at floor((i + 1/2)·s)
 *  kBilinear  triangle of radius 1
 *  kBicubic   Keys' cubic with a = −0.6 (swscale's default), radius 2
 *  kLanczos   sinc(x)·sinc(x/3), radius 3
 *  kArea      the mean over [i·s, (i+1)·s) as cv::INTER_AREA when shrinking; kBilinear when enlarging, as swscale
 *  All are centred at c and, but for kNeighbor, widened by s when shrinking. Positions outside the input count for
 *  the edge sample; weights add up to 1. */
enum class ResampleKernel : std::uint8_t { kNeighbor, kBilinear, kBicubic, kLanczos, kArea };

/** Input samples on each side of c when not shrinking. */
int resample_radius(ResampleKernel kernel);

/** output[i] = Σ_k weight(i, k) · input[first[i] + k], all indices inside the input; first[] never falls. */
struct ResampleTaps {
  int taps = 0;  ///< weights of each output sample
  std::vector<int> first;
  std::vector<float> weights;  ///< [i · taps + k]

  int output_size() const { return static_cast<int>(first.size()); }
  const float* of(int i) const { return weights.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(taps); }
};

/** Both sizes at least 1. Computed in double; equal sizes give one weight of exactly 1. */
ResampleTaps resample_taps(int input_size, int output_size, ResampleKernel kernel);

}  // namespace framelane
