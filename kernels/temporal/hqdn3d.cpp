#include "kernels/temporal/hqdn3d.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/parallel_rows.h"

namespace framelane {

Hqdn3dTable hqdn3d_table(double strength, int depth_bits) {
  const int shift = hqdn3d_bin_shift(depth_bits);
  const int bins_a_code = 256 >> shift;  // of an 8-bit code
  Hqdn3dTable table{{}, 256 * bins_a_code};
  table.steps.resize(std::size_t{2} * 256 * static_cast<std::size_t>(bins_a_code));
  // ffmpeg keeps a similarity of 0 out of the logarithm by these two constants.
  const double gamma = std::log(0.25) / std::log(1.0 - std::min(strength, 252.0) / 255.0 - 0.00001);
  const double bin_width = 1.0 / bins_a_code;
  const double to_middle = ((1 << shift) - 1) / 512.0;  // of the differences that fall into one bin
  for (int bin = -255 * bins_a_code; bin <= 255 * bins_a_code; ++bin) {
    const double difference = bin * bin_width + to_middle;
    const double similarity = std::max(0.0, 1.0 - std::abs(difference) / 255.0);
    const double step = std::pow(similarity, gamma) * difference;
    table.steps.data()[table.centre + bin] = static_cast<std::int16_t>(std::lrint(256.0 * step));
  }
  return table;
}

FrameFormat hqdn3d_wide_format(const FrameFormat& format) {
  FrameFormat wide = format;
  wide.pixel.depth_bits = 16;
  wide.pixel.alpha = false;
  return wide;
}

namespace {

/** H of rows [y, y + kRows), from codes. Several rows at once, because a row alone waits for each table look-up before
 *  it can begin the next. */
template <int kRows, typename Sample>
void filter_across(const PlaneView& dst, const PlaneView& src, int y, const std::int16_t* centre, int depth_bits) {
  const int shift = hqdn3d_bin_shift(depth_bits);
  std::array<std::uint16_t*, kRows> to{};
  std::array<const Sample*, kRows> from{};
  std::array<int, kRows> value{};
  for (int r = 0; r < kRows; ++r) {
    to[r] = dst.row<std::uint16_t>(y + r);
    from[r] = src.row<Sample>(y + r);
    const int first = hqdn3d_widen(from[r][0], depth_bits);
    value[r] = y + r == 0 ? hqdn3d_step(first, first, centre, shift) : first;
    to[r][0] = static_cast<std::uint16_t>(value[r]);
  }
  for (int x = 1; x < dst.width; ++x) {
    for (int r = 0; r < kRows; ++r) {
      value[r] = hqdn3d_step(value[r], hqdn3d_widen(from[r][x], depth_bits), centre, shift);
      to[r][x] = static_cast<std::uint16_t>(value[r]);
    }
  }
}

/** H becomes V in columns [first, last). */
void filter_down(const PlaneView& plane, int first, int last, const std::int16_t* centre, int shift) {
  for (int y = 1; y < plane.height; ++y) {
    const std::uint16_t* above = plane.row<std::uint16_t>(y - 1);
    std::uint16_t* row = plane.row<std::uint16_t>(y);
    for (int x = first; x < last; ++x) {
      row[x] = static_cast<std::uint16_t>(hqdn3d_step(above[x], row[x], centre, shift));
    }
  }
}

/** T in `past`, and the output's codes. */
template <typename Sample>
void filter_in_time(Sample* dst, std::uint16_t* past, const std::uint16_t* now, int width, const std::int16_t* centre,
                    int depth_bits) {
  const int shift = hqdn3d_bin_shift(depth_bits);
  for (int x = 0; x < width; ++x) {
    past[x] = static_cast<std::uint16_t>(hqdn3d_step(past[x], now[x], centre, shift));
    dst[x] = static_cast<Sample>(past[x] >> (16 - depth_bits));
  }
}

template <typename Sample>
void widen_row(std::uint16_t* dst, const Sample* src, int width, int depth_bits) {
  for (int x = 0; x < width; ++x) dst[x] = static_cast<std::uint16_t>(hqdn3d_widen(src[x], depth_bits));
}

template <typename Sample>
class CpuHqdn3d final : public CompiledFilter {
 public:
  CpuHqdn3d(Hqdn3dTables tables, const FrameFormat& format)
      : tables_(std::move(tables)), format_(format), wide_(hqdn3d_wide_format(format)) {}

  std::size_t scratch_bytes() const override { return frame_layout(wide_).bytes; }
  std::size_t state_bytes() const override { return frame_layout(wide_).bytes; }
  bool has_ordered_pass() const override { return true; }

  void run(const FilterArguments& arguments, CUstream_st* /*stream*/) const override {
    const FrameView spatial = view_frame(wide_, arguments.scratch);
    for (int plane = 0; plane < wide_.pixel.plane_count(); ++plane) {
      filter_in_space(spatial.planes[plane], arguments.src.planes[plane], plane);
    }
    if (format_.pixel.alpha) {
      const int alpha = format_.pixel.color_planes();
      copy_rows(arguments.dst.planes[alpha], arguments.src.planes[alpha], format_.row_bytes(alpha));
    }
  }

  void run_ordered(const FilterArguments& arguments, CUstream_st* /*stream*/) const override {
    const FrameView spatial = view_frame(wide_, arguments.scratch);
    const FrameView past = view_frame(wide_, arguments.state);
    for (int plane = 0; plane < wide_.pixel.plane_count(); ++plane) {
      const Hqdn3dTable& table = tables_.temporal(format_.pixel.is_chroma(plane));
      const std::int16_t* centre = table.steps.data() + table.centre;
      parallel_rows(wide_.plane_height(plane), [&](int first, int last) {
        for (int y = first; y < last; ++y) {
          std::uint16_t* kept = past.planes[plane].row<std::uint16_t>(y);
          if (arguments.frame_index == 0) {
            widen_row(kept, arguments.src.planes[plane].row<Sample>(y), wide_.plane_width(plane), depth_bits());
          }
          filter_in_time(arguments.dst.planes[plane].row<Sample>(y), kept, spatial.planes[plane].row<std::uint16_t>(y),
                         wide_.plane_width(plane), centre, depth_bits());
        }
      });
    }
  }

 private:
  int depth_bits() const { return format_.pixel.depth_bits; }

  void filter_in_space(const PlaneView& dst, const PlaneView& src, int plane) const {
    const Hqdn3dTable& table = tables_.spatial(format_.pixel.is_chroma(plane));
    const std::int16_t* centre = table.steps.data() + table.centre;
    parallel_rows(dst.height, [&](int first, int last) {
      int y = first;
      for (; y + 4 <= last; y += 4) filter_across<4, Sample>(dst, src, y, centre, depth_bits());
      for (; y < last; ++y) filter_across<1, Sample>(dst, src, y, centre, depth_bits());
    });
    constexpr int kStrip = 64;  // columns: 128 bytes of each row, so that threads do not share cache lines
    parallel_rows((dst.width + kStrip - 1) / kStrip, [&](int first, int last) {
      filter_down(dst, first * kStrip, std::min(last * kStrip, dst.width), centre, hqdn3d_bin_shift(depth_bits()));
    });
  }

  Hqdn3dTables tables_;
  FrameFormat format_;
  FrameFormat wide_;
};

/** What the user gave, and what follows from it where he gave nothing (or 0), in ffmpeg's proportions. */
struct Strengths {
  double luma_spatial;
  double chroma_spatial;
  double luma_temporal;
  double chroma_temporal;

  explicit Strengths(const ParameterValues& values) {
    const auto given_or = [&](std::string_view name, double otherwise) {
      const double given = values.number(name);
      return given != 0 ? given : otherwise;
    };
    luma_spatial = given_or("luma_spatial", 4.0);
    chroma_spatial = given_or("chroma_spatial", 3.0 * luma_spatial / 4.0);
    luma_temporal = given_or("luma_tmp", 6.0 * luma_spatial / 4.0);
    chroma_temporal = given_or("chroma_tmp", luma_temporal * chroma_spatial / luma_spatial);
  }
};

class Hqdn3d final : public Filter {
 public:
  explicit Hqdn3d(const ParameterValues& values) : strengths_(values) {}

  std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const override {
    const int depth = input.pixel.depth_bits;
    Hqdn3dTables tables{hqdn3d_table(strengths_.luma_spatial, depth), hqdn3d_table(strengths_.chroma_spatial, depth),
                        hqdn3d_table(strengths_.luma_temporal, depth), hqdn3d_table(strengths_.chroma_temporal, depth)};
    if constexpr (kHasCuda) {
      if (backend == Backend::kCuda) return compile_hqdn3d_cuda(tables, input);
    }
    if (depth == 8) return std::make_unique<CpuHqdn3d<std::uint8_t>>(std::move(tables), input);
    return std::make_unique<CpuHqdn3d<std::uint16_t>>(std::move(tables), input);
  }

 private:
  Strengths strengths_;
};

Parameter strength_parameter(std::string_view name, std::string_view help) {
  return {.name = name,
          .help = help,
          .type = ParameterType::kNumber,
          .default_value = "0",
          .min = 0,
          .max = std::numeric_limits<double>::max()};
}

}  // namespace

const FilterDescriptor& hqdn3d_filter() {
  static const FilterDescriptor descriptor{
      .name = "hqdn3d",
      .aliases = {},
      .help = "Denoise in space and time, keeping edges.",
      .kind = FilterKind::kTemporal,
      .space = WorkingSpace::kCodes,
      .border = BorderRule::kNone,
      .parameters = {strength_parameter("luma_spatial", "strength within the frame (8-bit codes), luma; 0: 4"),
                     strength_parameter("chroma_spatial", "the same for chroma; 0: 3/4 of luma_spatial"),
                     strength_parameter("luma_tmp", "strength from frame to frame, luma; 0: 3/2 of luma_spatial"),
                     strength_parameter("chroma_tmp",
                                        "the same for chroma; 0: luma_tmp * chroma_spatial / luma_spatial")},
      .oracle = "ffmpeg hqdn3d",
      .tolerance =
          "exact, except above 8 bits next to black and white, where ffmpeg overflows or reads beyond its tables",
      .conformance_settings = {"", "8", "luma_spatial=2:chroma_spatial=10:luma_tmp=1:chroma_tmp=30", "255:0.01:300:1"},
      .create = [](const ParameterValues& values) -> std::unique_ptr<Filter> {
        return std::make_unique<Hqdn3d>(values);
      },
      .spatial_radius = [](const ParameterValues&) { return -1; },
      .temporal_reach = [](const ParameterValues&) { return -1; },
      .cost = [](const ParameterValues&) { return FilterCost{.bytes = 14, .operations = 18}; }};
  return descriptor;
}

}  // namespace framelane
