#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels/spatial/separable_unrolled.cuh"
#include "kernels/spatial/unsharp.h"

namespace framelane {
namespace {

constexpr int kLargestRadius = 11;

/** v + floor(amount * (v - blurred)). Sums are floats where those are exact, 64-bit integers (with whole binomial
 *  coefficients as weights) elsewhere. */
template <typename Sample, typename Sum>
struct Sharpen {
  using Value = Sum;
  using UnrolledRadii = std::integer_sequence<int, 2, 4, 6, 8>;  // sums are exact in float up to radius 7
  PlaneSharpening planes[kMaxPlanes];
  int max_code;

  __device__ int rounded(Value sum, int plane) const {
    if constexpr (std::is_same_v<Value, float>) {
      // Rounded down: beside 2^23 a float has no room for a fraction.
      return __float_as_int(__fadd_rd(sum + 0.5F, 8388608.0F)) & 0x1FFFF;
    } else {
      const int bits = planes[plane].sum_bits();
      return static_cast<int>((sum + (Value{1} << bits >> 1)) >> bits);
    }
  }

  __device__ int combined(int code, int blurred, int plane) const {
    using Product = std::conditional_t<sizeof(Sample) == 1, int, long long>;
    const Product change = static_cast<Product>(code - blurred) * planes[plane].amount_q16 >> 16;
    return min(max(code + static_cast<int>(change), 0), max_code);
  }
};

template <typename Value>
std::vector<Value> blur_weights(int radius) {
  std::vector<Value> weights;
  for (const std::uint32_t coefficient : binomial_coefficients(radius)) {
    if constexpr (std::is_same_v<Value, float>) {
      weights.push_back(std::ldexp(static_cast<float>(coefficient), -2 * radius));
    } else {
      weights.push_back(coefficient);
    }
  }
  return weights;
}

/** Rows and columns of each plane in turn. */
template <typename Value>
std::vector<std::vector<Value>> blur_tables(const FrameSharpening& planes) {
  std::vector<std::vector<Value>> tables;
  for (const PlaneSharpening& plane : planes) {
    tables.push_back(blur_weights<Value>(plane.row_radius));
    tables.push_back(blur_weights<Value>(plane.column_radius));
  }
  return tables;
}

template <typename Sample, typename Sum>
class CudaUnsharp final : public CompiledFilter {
 public:
  CudaUnsharp(const FrameFormat& format, const FrameSharpening& planes) : weights_(blur_tables<Sum>(planes)) {
    static_assert(fused_shared_bytes<Sum, Sample>(kLargestRadius, kLargestRadius) <= 48 * 1024);
    operation_.max_code = format.pixel.max_code();
    for (int plane = 0; plane < kMaxPlanes; ++plane) {
      operation_.planes[plane] = planes[plane];
      row_[plane] = weights_[2 * plane];
      column_[plane] = weights_[2 * plane + 1];
    }
  }

  void run(const FilterArguments& arguments, CUstream_st* stream) const override {
    launch_separable<BorderRule::kReplicate, Sample>(arguments, row_, column_, operation_, stream);
  }

 private:
  WeightTables<Sum> weights_;
  AxisWeights<Sum> row_[kMaxPlanes];
  AxisWeights<Sum> column_[kMaxPlanes];
  Sharpen<Sample, Sum> operation_;
};

template <typename Sample>
std::unique_ptr<CompiledFilter> compile_unsharp(const FrameFormat& format, const FrameSharpening& planes) {
  for (const PlaneSharpening& plane : planes) {
    if (!plane.is_exact_in_float(format.pixel.depth_bits)) {
      return std::make_unique<CudaUnsharp<Sample, std::uint64_t>>(format, planes);
    }
  }
  return std::make_unique<CudaUnsharp<Sample, float>>(format, planes);
}

}  // namespace

std::unique_ptr<CompiledFilter> compile_unsharp_cuda(const FrameFormat& format, const FrameSharpening& planes) {
  FrameSharpening active = planes;
  for (PlaneSharpening& plane : active) {
    if (plane.amount_q16 == 0) plane = {};  // blurred by nothing, so copied
  }
  if (format.pixel.bytes_per_sample() == 1) return compile_unsharp<std::uint8_t>(format, active);
  return compile_unsharp<std::uint16_t>(format, active);
}

}  // namespace framelane
