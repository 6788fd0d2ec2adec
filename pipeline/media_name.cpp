#include "pipeline/media_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <system_error>

extern "C" {
#include <libavformat/avformat.h>
}

namespace framelane {
namespace {

constexpr std::string_view kFileProtocol = "file:";

/** "rtsp://user:secret@host/" becomes "rtsp://user:***@host/". */
std::string without_password(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const std::size_t begin = scheme + 3;
  const std::string_view authority = url.substr(begin, url.find('/', begin) - begin);
  const std::size_t at = authority.rfind('@');
  const std::size_t colon = authority.find(':');
  if (at == std::string_view::npos || colon >= at) return std::string(url);
  return fmt::format("{}***{}", url.substr(0, begin + colon + 1), url.substr(begin + at));
}

/** The digits at `text`'s begin that are one whole number, and nothing else. */
std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::string name_of_number(const std::string& pattern, std::int64_t number) {
  std::array<char, 4096> name{};
  if (av_get_frame_filename(name.data(), static_cast<int>(name.size()), pattern.c_str(), static_cast<int>(number)) <
      0) {
    return {};
  }
  return name.data();
}

}  // namespace

std::string printable_name(std::string_view url) {
  std::string printable;
  for (const char character : without_password(url)) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '\n') {
      printable += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      printable += fmt::format("\\x{:02x}", code);
    } else {
      printable += character;
    }
  }
  return printable;
}

std::optional<std::string> local_path(const std::string& url) {
  if (url.starts_with(kFileProtocol)) return url.substr(kFileProtocol.size());
  const char* protocol = avio_find_protocol_name(url.c_str());
  if (protocol == nullptr) return url.find("://") == std::string::npos ? std::optional(url) : std::nullopt;
  if (std::string_view(protocol) == "file") return url;
  return std::nullopt;
}

bool is_sequence_pattern(const std::string& path) {
  const std::size_t percent = path.find('%');
  const std::size_t slash = path.rfind('/');
  if (percent == std::string::npos || (slash != std::string::npos && percent < slash)) return false;
  const bool in_a_word = path.compare(percent, 2, "%d") == 0 && percent + 2 < path.size() &&
                         std::isalpha(static_cast<unsigned char>(path[percent + 2])) != 0;
  return !in_a_word && av_filename_number_test(path.c_str()) != 0;
}

std::vector<std::int64_t> sequence_numbers(const std::string& pattern) {
  const std::filesystem::path path(pattern);
  const std::string file = path.filename().string();
  const std::size_t percent = file.find('%');
  const std::size_t letter = file.find('d', percent);
  const std::string_view prefix = std::string_view(file).substr(0, percent);
  const std::string_view suffix = std::string_view(file).substr(letter + 1);

  std::vector<std::int64_t> numbers;
  std::error_code status;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (std::filesystem::directory_iterator entry(folder, status), end; !status && entry != end;
       entry.increment(status)) {
    const std::string name = entry->path().filename().string();
    if (name.size() <= prefix.size() + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix)) continue;
    const std::string_view digits =
        std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    const std::optional<std::int64_t> number = whole_number(digits);
    if (number && name_of_number(file, *number) == name) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace framelane
