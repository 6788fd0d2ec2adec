// demux, decode > ring > submit > encode > [target].
#include "pipeline/output_target.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "kernels/errors.h"
#include "pipeline/media_name.h"

extern "C" {
#include <libavformat/avformat.h>
}

namespace framelane {
namespace {

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

const AVOutputFormat* find_muxer(const MediaOutputOptions& options, const std::string& name) {
  const bool by_name = options.format.empty();
  const AVOutputFormat* muxer = by_name ? av_guess_format(nullptr, options.url.c_str(), nullptr)
                                        : av_guess_format(options.format.c_str(), nullptr, nullptr);
  if (muxer != nullptr) return muxer;
  if (by_name) {
    throw UsageError(
        fmt::format("{}: no container goes by that name; end it in .mp4, .mkv, .webm, .png, … or give --format", name));
  }
  throw UsageError(fmt::format("{}: this FFmpeg has no output format '{}'", name, options.format));
}

bool is_same_file(const struct stat& a, const std::string& input_url) {
  const std::optional<std::string> path = local_path(input_url);
  const std::optional<struct stat> b = path ? status_of(*path) : std::nullopt;
  return b && S_ISREG(a.st_mode) && a.st_dev == b->st_dev && a.st_ino == b->st_ino;
}

void check_folder(const std::string& path, const std::string& name) {
  const std::string folder = folder_of(path);
  const std::optional<struct stat> status = status_of(folder);
  if (!status)
    throw OutputError(fmt::format("{}: its folder {}: {}", name, printable_name(folder), std::strerror(errno)));
  if (!S_ISDIR(status->st_mode)) {
    throw OutputError(fmt::format("{}: {} is not a folder", name, printable_name(folder)));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw OutputError(
        fmt::format("{}: its folder {} cannot be written: {}", name, printable_name(folder), std::strerror(errno)));
  }
}

/** "/video/out.mp4" is written as "/video/.out.framelane-1234.mp4" until it is whole. */
std::string name_while_writing(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = fmt::format(".{}.framelane-{}{}", file.stem().string(), getpid(), file.extension().string());
  return (file.parent_path() / name).string();
}

void use_existing_file(OutputTarget& target, Overwrite overwrite) {
  if (overwrite == Overwrite::kRefuse)
    throw OutputError(fmt::format("{}: exists already; -y replaces it", target.name));
  if (access(target.path.c_str(), W_OK) != 0) {
    throw OutputError(fmt::format("{}: cannot be written: {}", target.name, std::strerror(errno)));
  }
  const bool many_files = (target.muxer->flags & AVFMT_NOFILE) != 0 && std::string_view(target.muxer->name) != "image2";
  if (many_files) return;                                          // playlists name their segments after themselves
  target.path = std::filesystem::canonical(target.path).string();  // a link stays one: its file is replaced
  target.url = "file:" + name_while_writing(target.path);
}

void use_path(OutputTarget& target, const std::string& path, Overwrite overwrite, const std::string& input_url) {
  target.kind = TargetKind::kFile;
  target.path = path;
  target.url = "file:" + path;
  const std::optional<struct stat> status = status_of(path);
  if (!status) return check_folder(path, target.name);
  if (is_same_file(*status, input_url)) {
    throw OutputError(fmt::format("{}: is the input; write to another file", target.name));
  }
  if (!S_ISREG(status->st_mode)) {
    target.kind = TargetKind::kSpecial;
    return;
  }
  check_folder(path, target.name);
  use_existing_file(target, overwrite);
}

void use_sequence(OutputTarget& target, const std::string& pattern, Overwrite overwrite, const std::string& input_url) {
  target.kind = TargetKind::kSequence;
  target.url = pattern;
  check_folder(pattern, target.name);
  if (local_path(input_url) == pattern) {
    throw OutputError(fmt::format("{}: are the input's images; write to another folder", target.name));
  }
  const std::vector<std::int64_t> numbers = sequence_numbers(pattern);
  if (!numbers.empty() && overwrite == Overwrite::kRefuse) {
    throw OutputError(fmt::format("{}: {} such files exist already, from number {}; -y replaces them", target.name,
                                  numbers.size(), numbers.front()));
  }
}

void use_standard_output(OutputTarget& target, const MediaOutputOptions& options) {
  if (options.format.empty()) {
    throw UsageError("-: standard output needs --format, such as matroska, nut, yuv4mpegpipe or rawvideo");
  }
  if (isatty(STDOUT_FILENO) != 0)
    throw UsageError("-: standard output is a terminal; pipe it into a program or a file");
  target.kind = TargetKind::kPipe;
  target.url = "pipe:1";
}

}  // namespace

OutputTarget find_target(const MediaOutputOptions& options, const std::string& input_url) {
  OutputTarget target{TargetKind::kUrl, printable_name(options.url), options.url, {}, nullptr};
  if (options.url.empty()) throw UsageError("the output has no name");
  if (options.url == "null" || options.format == "null") {
    target.kind = TargetKind::kNull;
    return target;
  }
  if (options.url == "-") {
    use_standard_output(target, options);
    target.muxer = find_muxer(options, target.name);
    return target;
  }
  const std::optional<std::string> path = local_path(options.url);
  if (path && std::filesystem::is_directory(*path)) throw OutputError(fmt::format("{}: is a directory", target.name));
  target.muxer = find_muxer(options, target.name);
  if (!path) return target;
  // "file:a%03d.png" is one file of that name, as ffmpeg's own protocol prefix suggests.
  const bool may_be_pattern = *path == options.url && (target.muxer->flags & AVFMT_NOFILE) != 0;
  if (may_be_pattern && is_sequence_pattern(*path)) {
    use_sequence(target, *path, options.overwrite, input_url);
  } else {
    use_path(target, *path, options.overwrite, input_url);
  }
  return target;
}

void check_output_target(const MediaOutputOptions& options, const std::string& input_url) {
  find_target(options, input_url);
}

void replace_older_file(const OutputTarget& target) {
  const std::string written = target.url.substr(std::strlen("file:"));
  if (const std::optional<struct stat> older = status_of(target.path)) chmod(written.c_str(), older->st_mode & 07777);
  if (std::rename(written.c_str(), target.path.c_str()) != 0) {
    throw OutputError(fmt::format("{}: cannot be replaced: {}", target.name, std::strerror(errno)));
  }
}

void remove_written_file(const OutputTarget& target) noexcept {
  if (target.kind == TargetKind::kFile) std::remove(target.url.c_str() + std::strlen("file:"));
}

}  // namespace framelane
