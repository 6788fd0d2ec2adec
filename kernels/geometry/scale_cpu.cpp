#include <algorithm>
#include <vector>

#include "kernels/geometry/scale.h"
#include "kernels/parallel_rows.h"

namespace framelane {
namespace {

// Horizontal sums are made four taps at a time; rows and weights are padded for that.
constexpr int kTapGroup = 4;

constexpr int padded(int taps) { return (taps + kTapGroup - 1) / kTapGroup * kTapGroup; }

/** Rows of float samples with room behind for taps of weight 0 to read. */
class FloatRows {
 public:
  FloatRows(int rows, int width)
      : stride_(static_cast<std::size_t>(width) + kTapGroup), samples_(stride_ * static_cast<std::size_t>(rows)) {}
  float* row(int y) { return samples_.data() + static_cast<std::size_t>(y) * stride_; }

 private:
  std::size_t stride_;
  std::vector<float> samples_;
};

/** The taps with each output's weights padded by zeros to whole groups. */
ResampleTaps padded_taps(const ResampleTaps& taps) {
  if (taps.taps == 1) return taps;  // one tap has a loop of its own
  ResampleTaps result{padded(taps.taps), taps.first, {}};
  result.weights.resize(taps.first.size() * static_cast<std::size_t>(result.taps));
  for (int i = 0; i < taps.output_size(); ++i) {
    std::copy_n(taps.of(i), taps.taps, result.weights.begin() + std::ptrdiff_t{i} * result.taps);
  }
  return result;
}

/** dst[x] (+)= Σ over N rows of weight · row[x]: inner loops that compilers make vector code of. */
template <int N, bool kStart, typename Source>
void add_rows(float* __restrict dst, const Source* const* rows, const float* weights, int width) {
  const Source* const first = rows[0];
  const Source* const second = rows[N > 1 ? 1 : 0];
  const Source* const third = rows[N > 2 ? 2 : 0];
  const Source* const fourth = rows[N > 2 ? 3 : 0];
  for (int x = 0; x < width; ++x) {
    float sum = weights[0] * static_cast<float>(first[x]);
    if constexpr (N > 1) sum += weights[1] * static_cast<float>(second[x]);
    if constexpr (N > 2) sum += weights[2] * static_cast<float>(third[x]) + weights[3] * static_cast<float>(fourth[x]);
    dst[x] = kStart ? sum : dst[x] + sum;
  }
}

template <int N, typename Source>
void add_rows(float* dst, const Source* const* rows, const float* weights, int width, bool start) {
  start ? add_rows<N, true>(dst, rows, weights, width) : add_rows<N, false>(dst, rows, weights, width);
}

template <typename Source>
void vertical_sums(float* dst, const Source* const* rows, const float* weights, int taps, int width) {
  int k = 0;
  for (; k + 4 <= taps; k += 4) add_rows<4>(dst, rows + k, weights + k, width, k == 0);
  for (; k + 2 <= taps; k += 2) add_rows<2>(dst, rows + k, weights + k, width, k == 0);
  if (k < taps) add_rows<1>(dst, rows + k, weights + k, width, k == 0);
}

void horizontal_sums(float* __restrict dst, const float* __restrict src, const ResampleTaps& taps) {
  const int width = taps.output_size();
  if (taps.taps == 1) {
    for (int x = 0; x < width; ++x) dst[x] = src[taps.first[static_cast<std::size_t>(x)]];
    return;
  }
  for (int x = 0; x < width; ++x) {
    const float* samples = src + taps.first[static_cast<std::size_t>(x)];
    const float* weights = taps.of(x);
    float sums[kTapGroup] = {};
    for (int k = 0; k < taps.taps; k += kTapGroup) {
      for (int j = 0; j < kTapGroup; ++j) sums[j] += samples[k + j] * weights[k + j];
    }
    dst[x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

template <typename Sample>
void store_row(Sample* __restrict dst, const float* __restrict src, int width, const CodeMap& codes, int max_code) {
  const auto max = static_cast<float>(max_code);
  for (int x = 0; x < width; ++x) {
    const float code = codes.gain * src[x] + codes.offset;
    dst[x] = static_cast<Sample>(static_cast<int>(std::min(std::max(code, 0.0F), max) + 0.5F));
  }
}

/** One plane's work, and what it is done with. */
struct PlaneScaler {
  const PlaneView& dst;
  const PlaneView& src;
  const ResampleTaps& horizontal;  // padded
  const ResampleTaps& vertical;
  const CodeMap& codes;
  int max_code;
};

/** Vertical sums first: fewer rows go through the slower horizontal pass when the plane shrinks vertically. */
template <typename Sample>
void scale_rows_vertical_first(const PlaneScaler& job, int first_row, int last_row) {
  FloatRows column_sums(1, job.src.width);
  FloatRows sums(1, job.dst.width);
  std::vector<const Sample*> rows(static_cast<std::size_t>(job.vertical.taps));
  for (int y = first_row; y < last_row; ++y) {
    for (int k = 0; k < job.vertical.taps; ++k) {
      rows[static_cast<std::size_t>(k)] =
          job.src.row<const Sample>(job.vertical.first[static_cast<std::size_t>(y)] + k);
    }
    vertical_sums(column_sums.row(0), rows.data(), job.vertical.of(y), job.vertical.taps, job.src.width);
    horizontal_sums(sums.row(0), column_sums.row(0), job.horizontal);
    store_row(job.dst.row<Sample>(y), sums.row(0), job.dst.width, job.codes, job.max_code);
  }
}

/** Horizontal sums first, of each source row once, kept in a ring as long as output rows need them. */
template <typename Sample>
void scale_rows_horizontal_first(const PlaneScaler& job, int first_row, int last_row) {
  const int taps = job.vertical.taps;
  FloatRows source(1, job.src.width);
  FloatRows ring(taps, job.dst.width);
  FloatRows sums(1, job.dst.width);
  std::vector<const float*> rows(static_cast<std::size_t>(taps));
  int next = 0;  // the first source row that is not in the ring yet
  for (int y = first_row; y < last_row; ++y) {
    const int top = job.vertical.first[static_cast<std::size_t>(y)];
    for (next = std::max(next, top); next < top + taps; ++next) {
      const Sample* samples = job.src.row<const Sample>(next);
      std::copy_n(samples, job.src.width, source.row(0));
      horizontal_sums(ring.row(next % taps), source.row(0), job.horizontal);
    }
    for (int k = 0; k < taps; ++k) rows[static_cast<std::size_t>(k)] = ring.row((top + k) % taps);
    vertical_sums(sums.row(0), rows.data(), job.vertical.of(y), taps, job.dst.width);
    store_row(job.dst.row<Sample>(y), sums.row(0), job.dst.width, job.codes, job.max_code);
  }
}

template <typename Sample>
void scale_plane(const PlaneScaler& job) {
  const auto scale_rows =
      job.dst.height < job.src.height ? scale_rows_vertical_first<Sample> : scale_rows_horizontal_first<Sample>;
  parallel_rows(job.dst.height, [&](int first, int last) { scale_rows(job, first, last); });
}

class CpuScale final : public CompiledFilter {
 public:
  explicit CpuScale(ScalePlan plan) : plan_(std::move(plan)) {
    for (ResampleTaps& taps : plan_.horizontal) taps = padded_taps(taps);
  }

  void run(const FilterArguments& arguments, CUstream_st* /*stream*/) const override {
    const PixelFormat& pixel = plan_.output.pixel;
    for (int plane = 0; plane < pixel.plane_count(); ++plane) {
      const int axis = pixel.is_chroma(plane) ? 1 : 0;
      const PlaneScaler job{arguments.dst.planes[plane], arguments.src.planes[plane], plan_.horizontal[axis],
                            plan_.vertical[axis],        plan_.codes[plane],          pixel.max_code()};
      const auto scale = pixel.bytes_per_sample() == 1 ? scale_plane<std::uint8_t> : scale_plane<std::uint16_t>;
      scale(job);
    }
  }

 private:
  ScalePlan plan_;
};

}  // namespace

std::unique_ptr<CompiledFilter> compile_scale_cpu(ScalePlan plan) {
  return std::make_unique<CpuScale>(std::move(plan));
}

}  // namespace framelane
