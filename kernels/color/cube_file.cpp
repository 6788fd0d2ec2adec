#include "kernels/color/cube_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kernels/errors.h"

namespace framelane {
namespace {

constexpr int kMinSize = 2;
constexpr int kMaxSize = 256;
constexpr std::string_view kBlanks = " \t\r\v\f";

/** The next word of a line, taken off it; empty at its end. */
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

/** A word in capitals, such as LUT_3D_SIZE; numbers never are one. */
bool is_keyword(std::string_view word) {
  return word[0] >= 'A' && word[0] <= 'Z' &&
         std::ranges::all_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

class CubeParser {
 public:
  explicit CubeParser(const std::string& name) : name_(name) {}

  CubeLut parse(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (!text.empty()) {
      ++line_number_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      parse_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (lut_.size == 0) throw UsageError(fmt::format("\"{}\" is no .cube file: it has no LUT_3D_SIZE", name_));
    if (lut_.entries.size() < entry_count()) {
      throw UsageError(fmt::format("\"{}\" ends after {} of {} entries (LUT_3D_SIZE {} means {}^3)", name_,
                                   lut_.entries.size(), entry_count(), lut_.size, lut_.size));
    }
    check_domain();
    return std::move(lut_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("\"{}\", line {}: {}", name_, line_number_, what));
  }

  std::size_t entry_count() const {
    const auto size = static_cast<std::size_t>(lut_.size);
    return size * size * size;
  }

  void parse_line(std::string_view line) {
    std::string_view rest = line;
    const std::string_view word = take_word(rest);
    if (word.empty() || word[0] == '#') return;
    if (is_keyword(word)) {
      parse_keyword(word, rest);
    } else {
      parse_entry(line);
    }
  }

  void parse_keyword(std::string_view keyword, std::string_view rest) {
    if (keyword == "LUT_3D_SIZE") {
      parse_size(rest);
    } else if (keyword == "DOMAIN_MIN") {
      lut_.domain_min = numbers<3>(rest, keyword);
    } else if (keyword == "DOMAIN_MAX") {
      lut_.domain_max = numbers<3>(rest, keyword);
    } else if (keyword == "LUT_3D_INPUT_RANGE") {
      const auto range = numbers<2>(rest, keyword);
      lut_.domain_min.fill(range[0]);
      lut_.domain_max.fill(range[1]);
    } else if (keyword == "LUT_1D_SIZE") {
      fail("LUT_1D_SIZE: this is a 1D table; a 3D one (LUT_3D_SIZE) is needed");
    } else if (keyword.ends_with("_VIDEO_RANGE")) {
      fail(fmt::format("{} is not supported: tables take full range", keyword));
    }
  }

  void parse_size(std::string_view rest) {
    if (lut_.size != 0) fail("a second LUT_3D_SIZE");
    const std::string_view word = take_word(rest);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), lut_.size);
    const bool whole = error == std::errc{} && end == word.data() + word.size() && take_word(rest).empty();
    if (!whole || lut_.size < kMinSize || lut_.size > kMaxSize) {
      fail(fmt::format("LUT_3D_SIZE takes a whole number from {} to {}", kMinSize, kMaxSize));
    }
    lut_.entries.reserve(entry_count());
  }

  void parse_entry(std::string_view line) {
    const auto rgb = numbers<3>(line, "an entry");
    if (lut_.size == 0) fail("an entry before LUT_3D_SIZE");
    if (lut_.entries.size() == entry_count()) {
      fail(fmt::format("more than the {} entries of LUT_3D_SIZE {}", entry_count(), lut_.size));
    }
    lut_.entries.push_back({rgb[0], rgb[1], rgb[2], 0});
  }

  template <int kCount>
  std::array<float, kCount> numbers(std::string_view rest, std::string_view what) const {
    std::array<float, kCount> values{};
    for (float& value : values) value = number(take_word(rest), what, kCount);
    if (!take_word(rest).empty()) fail(fmt::format("{} has {} numbers, not more", what, kCount));
    return values;
  }

  float number(std::string_view word, std::string_view what, int count) const {
    if (word.empty()) fail(fmt::format("{} has {} numbers, not fewer", what, count));
    const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
    float value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range && end == digits.data() + digits.size()) {
      const double wide = std::strtod(std::string(digits).c_str(), nullptr);
      if (std::abs(wide) < 1) return 0;  // too small for a float
    }
    if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value)) {
      fail(fmt::format("'{}' is not a number", word.substr(0, 40)));
    }
    return value;
  }

  void check_domain() const {
    for (int axis = 0; axis < 3; ++axis) {
      if (lut_.domain_min[axis] < lut_.domain_max[axis]) continue;
      throw UsageError(fmt::format("\"{}\": its domain is empty: DOMAIN_MIN {} is not below DOMAIN_MAX {}", name_,
                                   lut_.domain_min[axis], lut_.domain_max[axis]));
    }
  }

  const std::string& name_;
  int line_number_ = 0;
  CubeLut lut_;
};

}  // namespace

CubeLut parse_cube(std::string_view text, const std::string& name) { return CubeParser(name).parse(text); }

CubeLut read_cube_file(const std::string& path) {
  const auto cannot_read = [&](const char* why) {
    return UsageError(fmt::format("cannot read \"{}\": {}", path, why));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw cannot_read(std::strerror(EISDIR));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw cannot_read(std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_cube(text.view(), path);
}

}  // namespace framelane
