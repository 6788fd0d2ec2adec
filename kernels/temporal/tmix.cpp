#include "kernels/temporal/tmix.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/errors.h"
#include "kernels/parallel_rows.h"
#include "kernels/plane_mask.h"

namespace framelane {

TmixRing tmix_ring(const FrameFormat& format, int planes) {
  TmixRing ring;
  ring.pitch_bytes = frame_layout(format).pitch_bytes;
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    ring.offset[plane] = ring.slot_bytes;
    if (!mask_selects(planes, format.pixel, plane)) continue;
    ring.slot_bytes +=
        static_cast<std::size_t>(ring.pitch_bytes[plane]) * static_cast<std::size_t>(format.plane_height(plane));
  }
  return ring;
}

TmixWindow::TmixWindow(std::int64_t frame_index, int frames)
    : newest_slot(static_cast<int>(frame_index % frames)),
      oldest_slot(static_cast<int>(std::max<std::int64_t>(0, frame_index - frames + 1) % frames)),
      repeats(static_cast<int>(std::max<std::int64_t>(0, frames - 1 - frame_index))) {}

namespace {

/** To the nearest integer, halves to even, for 0 <= value < 2^22: adding this leaves no bits for a fraction. Unlike
 *  lrintf a loop of these is vectorised. */
int rounded(float value) {
  constexpr float kNoFraction = 12582912.0F;  // 1.5 * 2^23
  return static_cast<int>(value + kNoFraction - kNoFraction);
}

template <typename Sample>
void add_weighted(float* sums, const Sample* samples, int count, float weight) {
  for (int i = 0; i < count; ++i) sums[i] += static_cast<float>(samples[i]) * weight;
}

class CpuTmix final : public CompiledFilter {
 public:
  CpuTmix(TmixWeights weights, const FrameFormat& format)
      : weights_(std::move(weights)), format_(format), ring_(tmix_ring(format, weights_.planes)) {}

  std::size_t state_bytes() const override { return ring_.slot_bytes * weights_.weights.size(); }
  bool has_ordered_pass() const override { return ring_.slot_bytes != 0; }

  void run(const FilterArguments& arguments, CUstream_st* /*stream*/) const override {
    for (int plane = 0; plane < format_.pixel.plane_count(); ++plane) {
      if (mask_selects(weights_.planes, format_.pixel, plane)) continue;
      copy_rows(arguments.dst.planes[plane], arguments.src.planes[plane], format_.row_bytes(plane));
    }
  }

  void run_ordered(const FilterArguments& arguments, CUstream_st* /*stream*/) const override {
    for (int plane = 0; plane < format_.pixel.plane_count(); ++plane) {
      if (!mask_selects(weights_.planes, format_.pixel, plane)) continue;
      parallel_rows(format_.plane_height(plane), [&](int first, int last) {
        for (int y = first; y < last; ++y) {
          format_.pixel.bytes_per_sample() == 1 ? mix_row<std::uint8_t>(arguments, plane, y)
                                                : mix_row<std::uint16_t>(arguments, plane, y);
        }
      });
    }
  }

 private:
  template <typename Sample>
  void mix_row(const FilterArguments& arguments, int plane, int y) const {
    constexpr int kChunk = 1024;  // sums that stay in the first-level cache
    const TmixWindow window(arguments.frame_index, static_cast<int>(weights_.weights.size()));
    const auto ring_row = [&](int slot) {
      return reinterpret_cast<Sample*>(arguments.state + static_cast<std::size_t>(slot) * ring_.slot_bytes +
                                       ring_.offset[plane] + y * ring_.pitch_bytes[plane]);
    };
    const Sample* src = arguments.src.planes[plane].row<Sample>(y);
    Sample* dst = arguments.dst.planes[plane].row<Sample>(y);
    std::memcpy(ring_row(window.newest_slot), src, format_.row_bytes(plane));
    for (int x = 0; x < format_.plane_width(plane); x += kChunk) {
      const int count = std::min(kChunk, format_.plane_width(plane) - x);
      std::array<float, kChunk> sums{};
      int slot = window.oldest_slot;
      for (int k = 0; k < static_cast<int>(weights_.weights.size()); ++k) {
        add_weighted(sums.data(), ring_row(slot) + x, count, weights_.weights[static_cast<std::size_t>(k)]);
        if (k >= window.repeats) slot = (slot + 1) % static_cast<int>(weights_.weights.size());
      }
      const auto max_code = static_cast<float>(format_.pixel.max_code());
      for (int i = 0; i < count; ++i) {
        // In this order NaN, from weights without bounds, becomes 0.
        dst[x + i] = static_cast<Sample>(rounded(std::min(std::max(0.0F, sums[i] * weights_.scale), max_code)));
      }
    }
  }

  TmixWeights weights_;
  FrameFormat format_;
  TmixRing ring_;
};

/** As many weights as frames: what is missing is the last one again. */
std::vector<float> parse_weights(const std::string& text, int frames) {
  std::vector<float> weights;
  const char* next = text.data();
  const char* end = next + text.size();
  while (static_cast<int>(weights.size()) < frames) {
    next = std::find_if(next, end, [](char c) { return c != ' ' && c != '|'; });
    if (next == end) break;
    float weight = 0;
    const auto parsed = std::from_chars(next, end, weight);
    const bool ends_here = parsed.ptr == end || *parsed.ptr == ' ' || *parsed.ptr == '|';
    if (parsed.ec != std::errc{} || !ends_here || !std::isfinite(weight)) {
      throw UsageError(fmt::format("filter 'tmix': weights '{}' are not numbers with spaces or | between them", text));
    }
    weights.push_back(weight);
    next = parsed.ptr;
  }
  if (weights.empty()) throw UsageError("filter 'tmix': parameter 'weights' needs at least one number");
  weights.resize(static_cast<std::size_t>(frames), weights.back());
  return weights;
}

class Tmix final : public Filter {
 public:
  explicit Tmix(const ParameterValues& values)
      : weights_{parse_weights(values.text("weights"), values.integer("frames")),
                 static_cast<float>(values.number("scale")), values.integer("planes")} {
    if (weights_.scale != 0) return;
    const float sum = std::accumulate(weights_.weights.begin(), weights_.weights.end(), 0.0F);
    if (sum == 0) {
      throw UsageError(
          fmt::format("filter 'tmix': weights '{}' add up to 0: give 'scale' too", values.text("weights")));
    }
    weights_.scale = 1.0F / sum;
  }

  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    TmixWeights weights = weights_;
    // One frame is passed on whatever its weight (as in ffmpeg): no plane is mixed, every plane is copied.
    if (weights.weights.size() == 1) weights.planes = 0;
    if constexpr (kHasCuda) {
      if (backend == Backend::kCuda) return compile_tmix_cuda(weights, input);
    }
    return std::make_unique<CpuTmix>(weights, input);
  }

 private:
  TmixWeights weights_;
};

}  // namespace

const FilterDescriptor& tmix_filter() {
  static const FilterDescriptor descriptor{
      .name = "tmix",
      .aliases = {},
      .help = "Mix each frame with the frames before it.",
      .kind = FilterKind::kTemporal,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kNone,
      .parameters = {{.name = "frames",
                      .help = "how many frames to mix, the newest included; before the start the first one is repeated",
                      .type = ParameterType::kInteger,
                      .default_value = "3",
                      .min = 1,
                      .max = 1024},
                     {.name = "weights",
                      .help =
                          "weight of each frame, oldest first, with spaces or | between them; the last one is repeated",
                      .type = ParameterType::kText,
                      .default_value = "1 1 1"},
                     {.name = "scale",
                      .help = "the weighted sum is multiplied by this; 0: by 1 over the sum of the weights",
                      .type = ParameterType::kNumber,
                      .default_value = "0",
                      .min = 0,
                      .max = 32767},
                     {.name = "planes",
                      .help =
                          "planes to filter, a bit each: 1 Y or G, 2 U or B, 4 V or R, 8 alpha; the others are copied",
                      .type = ParameterType::kInteger,
                      .default_value = "15",
                      .min = 0,
                      .max = 15}},
      .oracle = "ffmpeg tmix",
      .tolerance = "exact; planes that are not mixed are the newest frame's (in ffmpeg the oldest's)",
      .conformance_settings = {"", "frames=2:weights=1 3", "frames=5:weights=-1 2.5 0.3:planes=1",
                               "frames=3:weights=1:scale=0.4:planes=10", "frames=1"},
      .create = [](const ParameterValues& values) -> std::unique_ptr<Filter> { return std::make_unique<Tmix>(values); },
      .spatial_radius = [](const ParameterValues&) { return 0; },
      .temporal_reach = [](const ParameterValues& values) { return values.integer("frames") - 1; },
      .cost =
          [](const ParameterValues& values) {
            const double frames = values.integer("frames");
            return FilterCost{.bytes = frames + 2, .operations = 2 * frames};
          }};
  return descriptor;
}

}  // namespace framelane
