#include "kernels/geometry/scale_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/errors.h"

namespace framelane {
namespace {

struct NamedSize {
  std::string_view name;
  int width;
  int height;
};

// The names of libavutil's parseutils that people type.
constexpr NamedSize kNamedSizes[] = {
    {"ntsc", 720, 480},     {"pal", 720, 576},       {"qcif", 176, 144},     {"cif", 352, 288},
    {"4cif", 704, 576},     {"qqvga", 160, 120},     {"qvga", 320, 240},     {"vga", 640, 480},
    {"svga", 800, 600},     {"xga", 1024, 768},      {"sxga", 1280, 1024},   {"uxga", 1600, 1200},
    {"wvga", 852, 480},     {"wxga", 1366, 768},     {"wuxga", 1920, 1200},  {"nhd", 640, 360},
    {"qhd", 960, 540},      {"hd480", 852, 480},     {"hd720", 1280, 720},   {"hd1080", 1920, 1080},
    {"2k", 2048, 1080},     {"2kflat", 1998, 1080},  {"2kscope", 2048, 858}, {"4k", 4096, 2160},
    {"4kflat", 3996, 2160}, {"uhd2160", 3840, 2160}, {"uhd4320", 7680, 4320}};

/** "hd720" or "1280x720". */
std::optional<std::pair<int, int>> parse_size(std::string_view text) {
  const auto* named = std::ranges::find(kNamedSizes, text, &NamedSize::name);
  if (named != std::end(kNamedSizes)) return std::pair{named->width, named->height};
  std::pair<int, int> size;
  const char* end = text.data() + text.size();
  const auto [cross, width_error] = std::from_chars(text.data(), end, size.first);
  if (width_error != std::errc() || cross == end || *cross != 'x') return {};
  const auto [rest, height_error] = std::from_chars(cross + 1, end, size.second);
  if (height_error != std::errc() || rest != end) return {};
  return size;
}

/** value · num / den to the nearest integer, halves away from zero; all positive. */
std::int64_t rescale(std::int64_t value, std::int64_t num, std::int64_t den) { return (value * num + den / 2) / den; }

struct WantedSize {
  std::int64_t width;
  std::int64_t height;
};

/** Resolves -1 (keep the aspect) and -n (keep it, divisible by n). */
WantedSize resolve_negative(WantedSize wanted, const FrameFormat& input) {
  const std::int64_t width_divisor = std::max<std::int64_t>(1, -wanted.width);
  const std::int64_t height_divisor = std::max<std::int64_t>(1, -wanted.height);
  if (wanted.width < 0 && wanted.height < 0) wanted = {input.width, input.height};
  if (wanted.width < 0) {
    wanted.width = rescale(wanted.height, input.width, input.height * width_divisor) * width_divisor;
  }
  if (wanted.height < 0) {
    wanted.height = rescale(wanted.width, input.height, input.width * height_divisor) * height_divisor;
  }
  return wanted;
}

/** One side of the output; beyond int it is wrong anyway. */
std::int64_t whole_size(double value) { return static_cast<std::int64_t>(std::clamp(value, -1e9, 1e9)); }

}  // namespace

ScaleSize::Texts ScaleSize::texts(const ParameterValues& values) {
  const bool has_width = values.is_set("w");
  const bool has_height = values.is_set("h");
  if (values.is_set("size")) {
    if (has_width || has_height) throw UsageError("filter 'scale': 'size' and 'w' or 'h' exclude each other");
    const auto size = parse_size(values.text("size"));
    if (!size) {
      throw UsageError(
          fmt::format("filter 'scale': parameter 'size': '{}' is no size like 1280x720 or hd720", values.text("size")));
    }
    return {std::to_string(size->first), std::to_string(size->second)};
  }
  // As in ffmpeg, "scale=hd720" is a size, though w is the first parameter.
  if (const auto size = has_width && !has_height ? parse_size(values.text("w")) : std::nullopt) {
    return {std::to_string(size->first), std::to_string(size->second)};
  }
  return {values.text("w"), values.text("h")};
}

ScaleSize::ScaleSize(const ParameterValues& values) : ScaleSize(texts(values), values) {}

ScaleSize::ScaleSize(const Texts& texts, const ParameterValues& values)
    : width_("scale", "w", texts.width),
      height_("scale", "h", texts.height),
      fit_(values.text("force_original_aspect_ratio") == "decrease"   ? Fit::kDecrease
           : values.text("force_original_aspect_ratio") == "increase" ? Fit::kIncrease
                                                                      : Fit::kDisable),
      divisor_(values.integer("force_divisible_by")) {}

ScaleSize::Size ScaleSize::of(const FrameFormat& input) const {
  GeometryState state;
  const auto settle = [&](const GeometryExpression& expression, double& value, int input_size) {
    const double result = expression.evaluate(input, state);
    if (!std::isnan(result)) value = whole_size(result) == 0 ? input_size : std::trunc(result);
    return !std::isnan(result);
  };
  // w may use oh and h may use ow: whichever can be settled first gives the other.
  settle(width_, state.out_w, input.width);
  const bool height_known = settle(height_, state.out_h, input.height);
  if (!settle(width_, state.out_w, input.width) || !height_known) {
    throw UsageError(fmt::format("filter 'scale': w={} and h={} give no number for a frame of {}", width_.text(),
                                 height_.text(), describe(input)));
  }
  WantedSize wanted = resolve_negative({whole_size(state.out_w), whole_size(state.out_h)}, input);
  if (fit_ != Fit::kDisable) {
    const WantedSize same_shape{rescale(wanted.height, input.width, input.height),
                                rescale(wanted.width, input.height, input.width)};
    const bool smaller = fit_ == Fit::kDecrease;
    wanted.width = smaller ? std::min(wanted.width, same_shape.width) : std::max(wanted.width, same_shape.width);
    wanted.height = smaller ? std::min(wanted.height, same_shape.height) : std::max(wanted.height, same_shape.height);
    const std::int64_t up = smaller ? 0 : divisor_ - 1;
    wanted.width = (wanted.width + up) / divisor_ * divisor_;
    wanted.height = (wanted.height + up) / divisor_ * divisor_;
  }
  if (std::min(wanted.width, wanted.height) < 1 || std::max(wanted.width, wanted.height) > kMaxSize) {
    throw UsageError(
        fmt::format("filter 'scale': w={} and h={} make {}x{} of a frame of {}: sizes out of range [1 - {}]",
                    width_.text(), height_.text(), wanted.width, wanted.height, describe(input), kMaxSize));
  }
  return {static_cast<int>(wanted.width), static_cast<int>(wanted.height)};
}

}  // namespace framelane
