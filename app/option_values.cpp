#include "app/option_values.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

extern "C" {
#include <libavutil/eval.h>
#include <libavutil/parseutils.h>
}

#include "kernels/errors.h"

namespace framelane {

double parse_seconds(const std::string& text) {
  std::int64_t microseconds = 0;
  if (av_parse_time(&microseconds, text.c_str(), 1) < 0) {
    throw UsageError(fmt::format("'{}' is not a time: write seconds (90, 1.5, 500ms) or [HH:]MM:SS[.m]", text));
  }
  if (microseconds < 0) throw UsageError(fmt::format("'{}' is negative", text));
  return static_cast<double>(microseconds) / 1e6;
}

double parse_duration(const std::string& text) {
  const double seconds = parse_seconds(text);
  if (seconds <= 0) throw UsageError(fmt::format("'{}' leaves nothing: give more than 0 s", text));
  return seconds;
}

double parse_number(const std::string& text, double min, double max) {
  char* tail = nullptr;
  const double value = av_strtod(text.c_str(), &tail);
  if (text.empty() || *tail != '\0' || std::isnan(value)) {
    throw UsageError(fmt::format("'{}' is not a number", text));
  }
  if (value < min || value > max)
    throw UsageError(fmt::format("{} is out of range [{:.17g} - {:.17g}]", text, min, max));
  return value;
}

std::int64_t parse_integer(const std::string& text, std::int64_t min, std::int64_t max) {
  const double value = parse_number(text, static_cast<double>(min), static_cast<double>(max));
  if (value != std::floor(value)) throw UsageError(fmt::format("{} is not a whole number", text));
  return static_cast<std::int64_t>(value);
}

std::int64_t parse_bitrate(const std::string& text) {
  return parse_integer(text, 1, std::numeric_limits<std::int32_t>::max());
}

std::pair<std::string, std::string> parse_key_value(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw UsageError(fmt::format("'{}' is not key=value", text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::pair<std::int64_t, Mode> parse_switch(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw UsageError(fmt::format("'{}' is not N:mode, such as 100:sync", text));
  return {parse_integer(text.substr(0, colon), 0, std::int64_t{1} << 53), parse_mode(text.substr(colon + 1))};
}

OnFull parse_on_full(const std::string& text) {
  if (text == "block") return OnFull::kBlock;
  if (text == "drop-oldest") return OnFull::kDropOldest;
  if (text == "drop-newest") return OnFull::kDropNewest;
  throw UsageError(fmt::format("unknown policy '{}': use block, drop-oldest or drop-newest", text));
}

ColorChoice parse_color(const std::string& text) {
  if (text == "auto") return ColorChoice::kAuto;
  if (text == "always") return ColorChoice::kAlways;
  if (text == "never") return ColorChoice::kNever;
  throw UsageError(fmt::format("unknown choice '{}': use auto, always or never", text));
}

}  // namespace framelane
