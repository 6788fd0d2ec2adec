// [find] > demux, decode > ring > submit > encode > mux.
#include "pipeline/input_source.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "kernels/errors.h"
#include "pipeline/media_name.h"

extern "C" {
#include <libavdevice/avdevice.h>
#include <libavformat/avformat.h>
}

namespace framelane {
namespace {

constexpr std::string_view kGraphPrefix = "lavfi:";
constexpr std::string_view kCameraPattern = "/dev/video%d";

void register_devices_once() {
  static std::once_flag once;
  std::call_once(once, avdevice_register_all);
}

const AVInputFormat* demuxer_by_name(const std::string& format, const std::string& name) {
  if (format.empty()) return nullptr;
  const AVInputFormat* demuxer = av_find_input_format(format.c_str());
  if (demuxer == nullptr) {
    throw UsageError(fmt::format("{}: this FFmpeg has no input format '{}'", name, format));
  }
  return demuxer;
}

const AVInputFormat* device_demuxer(const char* format, const std::string& name) {
  const AVInputFormat* demuxer = av_find_input_format(format);
  if (demuxer == nullptr) throw InputError(fmt::format("{}: this FFmpeg is built without {}", name, format));
  return demuxer;
}

std::string first_camera() {
  const std::vector<std::int64_t> numbers = sequence_numbers(std::string(kCameraPattern));
  if (numbers.empty()) throw InputError("camera: no camera found (looked for /dev/video0 and on)");
  return fmt::format("/dev/video{}", numbers.front());
}

bool is_camera(const std::string& path) {
  return path.starts_with("/dev/video") && path.find_first_not_of("0123456789", 10) == std::string::npos;
}

void use_camera(InputSource& source, const std::string& path) {
  source.kind = SourceKind::kCamera;
  source.url = path;
  if (access(path.c_str(), R_OK | W_OK) != 0) throw InputError(fmt::format("{}: {}", path, std::strerror(errno)));
  source.demuxer = device_demuxer("v4l2", source.name);
}

/** `path` exists. */
void use_file(InputSource& source, const std::string& path, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) throw InputError(fmt::format("{}: is a directory", source.name));
  if (access(path.c_str(), R_OK) != 0) throw InputError(fmt::format("{}: {}", source.name, std::strerror(errno)));
  if (S_ISREG(status.st_mode) && status.st_size == 0) throw InputError(fmt::format("{}: is empty", source.name));
  source.url = path;
  source.kind = S_ISREG(status.st_mode) ? SourceKind::kFile : SourceKind::kPipe;
  source.demuxer_options.try_emplace("pattern_type", "none");  // an image's name is taken as it is
}

void use_sequence(InputSource& source, const std::string& pattern) {
  const std::vector<std::int64_t> numbers = sequence_numbers(pattern);
  if (numbers.empty()) throw InputError(fmt::format("{}: no file has such a name", source.name));
  const auto hole = std::ranges::adjacent_find(numbers, [](std::int64_t a, std::int64_t b) { return b != a + 1; });
  if (hole != numbers.end()) {
    spdlog::warn("{}: number {} is missing: the {} images after it are not read", source.name, *hole + 1,
                 std::distance(hole, numbers.end()) - 1);
  }
  source.kind = SourceKind::kSequence;
  source.url = pattern;
  if (source.demuxer == nullptr) source.demuxer = device_demuxer("image2", source.name);
  source.demuxer_options.try_emplace("start_number", std::to_string(numbers.front()));
}

void use_path_or_url(InputSource& source) {
  struct stat status {};
  if (stat(source.url.c_str(), &status) == 0) return use_file(source, std::string(source.url), status);
  const std::optional<std::string> path = local_path(source.url);
  if (!path) return;
  const int error = stat(path->c_str(), &status) == 0 ? 0 : errno;
  if (error == 0) return use_file(source, *path, status);
  if (is_sequence_pattern(*path)) return use_sequence(source, *path);
  throw InputError(fmt::format("{}: {}", source.name, error == ENOENT ? "no such file" : std::strerror(error)));
}

}  // namespace

InputSource find_source(const MediaInputOptions& options) {
  register_devices_once();
  InputSource source{SourceKind::kUrl, printable_name(options.url), options.url, nullptr, options.demuxer_options};
  source.demuxer = demuxer_by_name(options.format, source.name);
  if (options.url.empty()) throw InputError("the input has no name");
  if (options.url == "-") {
    if (isatty(STDIN_FILENO) != 0) throw InputError("-: standard input is a terminal: pipe a video into it");
    source.kind = SourceKind::kPipe;
  } else if (options.url == "camera") {
    use_camera(source, first_camera());
  } else if (options.url.starts_with(kGraphPrefix)) {
    source.kind = SourceKind::kGraph;
    source.url = options.url.substr(kGraphPrefix.size());
    source.demuxer = device_demuxer("lavfi", source.name);
  } else if (is_camera(options.url)) {
    use_camera(source, options.url);
  } else {
    use_path_or_url(source);
  }
  return source;
}

}  // namespace framelane
