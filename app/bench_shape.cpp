#include "app/bench_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/bench_runs.h"
#include "pipeline/device_simulated.h"

namespace framelane {
namespace {

/** For a first guess of a link's speed: large enough for its full speed, and small. */
constexpr std::size_t kProbeBytes = std::size_t{64} << 20;
/** Heights that differ by less than this are as good as equal. */
constexpr double kSameHeight = 0.005;
/** In rows of 64 bytes without padding, so that both copies move the same bytes; small, so that the host's memcpy takes
 *  no time beside the engine's. */
constexpr int kSimulatedWidth = 256;
constexpr int kSimulatedHeight = 144;

double ms(std::chrono::microseconds duration) { return milliseconds(duration); }

/** One plane of bytes, about square: with large sides, a row more or less is a small part. */
FrameFormat plane_of(std::size_t bytes) {
  const double side = std::sqrt(static_cast<double>(bytes));
  const int width =
      std::max(1, static_cast<int>(std::lround(side / kPitchAlignment))) * static_cast<int>(kPitchAlignment);
  const int height = std::max(1, static_cast<int>(std::lround(static_cast<double>(bytes) / width)));
  return {.pixel = {.model = ColorModel::kGray, .chroma_shift_x = 0, .chroma_shift_y = 0},
          .width = width,
          .height = height,
          .matrix = guess_matrix(width, height),
          .range = ColorRange::kFull};
}

/** A chain that makes frames of `bytes` out of `format`'s, as wide as those. */
std::vector<FilterUse> resized_to(std::size_t bytes, const FrameFormat& format) {
  const int height = std::max(1, static_cast<int>(std::lround(static_cast<double>(bytes) / format.width)));
  if (std::abs(height - format.height) < kSameHeight * format.height) return {};
  return parse_filter_chain(fmt::format("{}={}:{}", height < format.height ? "crop" : "scale", format.width, height));
}

std::size_t scaled(std::size_t bytes, double wanted_ms, double measured_ms) {
  return static_cast<std::size_t>(std::max(1.0, std::round(static_cast<double>(bytes) * wanted_ms / measured_ms)));
}

CopyTimes measure(Device& device, const CopyBytes& bytes) {
  constexpr int kRounds = 3;
  CopyMeter meter(device, bytes);
  for (int round = 0; round < kRounds; ++round) meter.add_round();
  return meter.result();
}

/** Bytes whose copies take the shape's times, given what those of `bytes` take. */
CopyBytes corrected(const CopyBytes& bytes, const BenchShape& shape, const CopyTimes& times) {
  return {scaled(bytes.up, ms(shape.h2d), times.up.median_ms), scaled(bytes.down, ms(shape.d2h), times.down.median_ms)};
}

void check_memory(const BenchShape& shape, const CopyBytes& bytes, int slots) {
  constexpr int kKept = 4;   // two frames, pinned and pageable
  constexpr int kMeter = 2;  // blocks each way, gone before the frames come
  const double frames = std::max(kMeter * static_cast<double>(bytes.up + bytes.down),
                                 kKept * static_cast<double>(bytes.up) + (slots + 1) * static_cast<double>(bytes.down));
  check_host_memory(
      fmt::format("--shape: copies of {} and {} ms move {:.2f} and {:.2f} GB a frame here, which", ms(shape.h2d),
                  ms(shape.d2h), static_cast<double>(bytes.up) / 1e9, static_cast<double>(bytes.down) / 1e9),
      frames);
}

ShapeWorkload simulated_workload(const BenchShape& shape) {
  ShapeWorkload workload;
  workload.format.width = kSimulatedWidth;
  workload.format.height = kSimulatedHeight;
  const std::size_t bytes = frame_layout(workload.format).bytes;
  workload.bytes = {bytes, bytes};
  const double h2d = simulated_bytes_per_s(bytes, shape.h2d);
  const double d2h = simulated_bytes_per_s(bytes, shape.d2h);
  workload.device = create_simulated_device({.h2d = h2d, .d2h = d2h, .pageable_h2d = h2d, .pageable_d2h = d2h});
  return workload;
}

ShapeWorkload measured_workload(const BenchShape& shape, const std::shared_ptr<Device>& device, int slots) {
  device->use_in_this_thread();
  const CopyBytes probe{kProbeBytes, kProbeBytes};
  const CopyBytes guess = corrected(probe, shape, measure(*device, probe));
  check_memory(shape, guess, slots);
  const CopyBytes wanted = corrected(guess, shape, measure(*device, guess));
  ShapeWorkload workload;
  workload.device = device;
  workload.format = plane_of(wanted.up);
  workload.filters = resized_to(wanted.down, workload.format);
  const FilterChain chain(workload.filters, workload.format, device->backend());
  workload.bytes = {frame_layout(workload.format).bytes, frame_layout(chain.output_format()).bytes};
  workload.copies = measure(*device, workload.bytes);
  return workload;
}

}  // namespace

ShapeFigures shape_figures(const BenchShape& shape) {
  const double preprocess = ms(shape.preprocess);
  const double h2d = ms(shape.h2d);
  const double kernels = ms(shape.kernels);
  const double d2h = ms(shape.d2h);
  return {.serial_ms = preprocess + h2d + kernels + d2h,
          .one_stream_ms = std::max(preprocess, h2d + kernels + d2h),
          .textbook_overlap_ms = std::max({preprocess, h2d + kernels, d2h}),
          .limit_ms = std::max({preprocess, h2d, kernels, d2h})};
}

double expected_ms(const ShapeFigures& figures, Mode mode) {
  switch (mode) {
    case Mode::kSync:
      return figures.serial_ms;
    case Mode::kAsync:
      return figures.one_stream_ms;
    case Mode::kMultistream:
      return figures.limit_ms;
  }
  return 0;
}

ShapeWorkload shape_workload(const BenchShape& shape, const std::shared_ptr<Device>& device, int slots) {
  return device->shares_host_memory() ? simulated_workload(shape) : measured_workload(shape, device, slots);
}

}  // namespace framelane
