#include "kernels/geometry/resample_taps.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace framelane {
namespace {

/** The weights of one output sample, before they all get the same number of taps. */
struct Window {
  int first = 0;
  std::vector<double> weights;
};

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(angle) / angle;
}

/** Keys, "Cubic convolution interpolation for digital image processing" (1981), with his a as below. */
double cubic(double x) {
  constexpr double kA = -0.6;
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA : 0;
}

double kernel_value(ResampleKernel kernel, double distance) {
  const double x = std::abs(distance);
  switch (kernel) {
    case ResampleKernel::kBicubic:
      return cubic(x);
    case ResampleKernel::kLanczos:
      return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    default:
      return std::max(0.0, 1 - x);
  }
}

Window neighbor_window(std::int64_t in, std::int64_t out, std::int64_t i) {
  return {static_cast<int>((2 * i + 1) * in / (2 * out)), {1.0}};
}

/** In units of 1/out: output i covers [i·in, (i+1)·in), input j covers [j·out, (j+1)·out). */
Window area_window(std::int64_t in, std::int64_t out, std::int64_t i) {
  const std::int64_t begin = i * in;
  const std::int64_t end = begin + in;
  Window window{static_cast<int>(begin / out), {}};
  for (std::int64_t j = begin / out; j * out < end; ++j) {
    window.weights.push_back(static_cast<double>(std::min(end, (j + 1) * out) - std::max(begin, j * out)));
  }
  return window;
}

Window kernel_window(int in, int out, int i, ResampleKernel kernel) {
  const double scale = static_cast<double>(in) / out;
  const double widening = std::max(scale, 1.0);
  const double center = (i + 0.5) * scale - 0.5;
  const double reach = resample_radius(kernel) * widening;
  // The kernel is zero at its very ends: strictly inside is enough.
  const int begin = static_cast<int>(std::floor(center - reach)) + 1;
  const int end = static_cast<int>(std::ceil(center + reach));
  Window window{std::clamp(begin, 0, in - 1), {}};
  window.weights.resize(static_cast<std::size_t>(std::clamp(end - 1, 0, in - 1) - window.first + 1));
  for (int j = begin; j < end; ++j) {
    const int inside = std::clamp(j, 0, in - 1);  // the edge sample stands for what lies beyond
    window.weights[static_cast<std::size_t>(inside - window.first)] += kernel_value(kernel, (j - center) / widening);
  }
  return window;
}

Window window_of(int in, int out, int i, ResampleKernel kernel) {
  if (in == out || kernel == ResampleKernel::kNeighbor) return neighbor_window(in, out, i);
  if (kernel == ResampleKernel::kArea && in > out) return area_window(in, out, i);
  return kernel_window(in, out, i, kernel);
}

}  // namespace

int resample_radius(ResampleKernel kernel) {
  switch (kernel) {
    case ResampleKernel::kNeighbor:
      return 0;
    case ResampleKernel::kBicubic:
      return 2;
    case ResampleKernel::kLanczos:
      return 3;
    default:
      return 1;
  }
}

ResampleTaps resample_taps(int input_size, int output_size, ResampleKernel kernel) {
  std::vector<Window> windows;
  windows.reserve(static_cast<std::size_t>(output_size));
  std::size_t taps = 0;
  for (int i = 0; i < output_size; ++i) {
    windows.push_back(window_of(input_size, output_size, i, kernel));
    taps = std::max(taps, windows.back().weights.size());
  }
  ResampleTaps result{static_cast<int>(taps), {}, std::vector<float>(windows.size() * taps)};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    const int first = std::min(window.first, input_size - result.taps);
    result.first.push_back(first);
    const double sum = std::accumulate(window.weights.begin(), window.weights.end(), 0.0);
    std::ranges::transform(window.weights,
                           result.weights.begin() + static_cast<std::ptrdiff_t>(i * taps) + (window.first - first),
                           [&](double weight) { return static_cast<float>(weight / sum); });
  }
  return result;
}

}  // namespace framelane
