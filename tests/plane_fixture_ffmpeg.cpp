// The ffmpeg program as an oracle: raw frames in a file, through one filter, into another file.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/plane_fixture.h"

extern char** environ;

namespace framelane::testing {
namespace {

namespace fs = std::filesystem;

/** A new folder that goes with its owner. */
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = fs::temp_directory_path() / "framelane-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make the folder " + name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string read_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/** Runs `arguments` with no shell, stdout and stderr into `log`. Exit status, or -1 where the program cannot start. */
int run_program(std::vector<std::string> arguments, const fs::path& log) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failure != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

void write_frame(std::ostream& file, const HostFrame& frame) {
  const FrameView view = frame.view();
  for (int plane = 0; plane < frame.format().pixel.plane_count(); ++plane) {
    for (int y = 0; y < view.planes[plane].height; ++y) {
      file.write(view.planes[plane].row<char>(y), static_cast<std::streamsize>(frame.format().row_bytes(plane)));
    }
  }
}

HostFrame read_frame(std::istream& file, const FrameFormat& format) {
  HostFrame frame(format);
  const FrameView view = frame.view();
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    for (int y = 0; y < view.planes[plane].height; ++y) {
      file.read(view.planes[plane].row<char>(y), static_cast<std::streamsize>(format.row_bytes(plane)));
    }
  }
  return frame;
}

std::uintmax_t raw_bytes(const FrameFormat& format) {
  std::uintmax_t bytes = 0;
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    bytes += format.row_bytes(plane) * static_cast<std::size_t>(format.plane_height(plane));
  }
  return bytes;
}

}  // namespace

bool ffmpeg_has_filter(const std::string& name) {
  static std::map<std::string, bool> known;
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  const TemporaryFolder folder;
  const bool has = run_program({"ffmpeg", "-hide_banner", "-h", "filter=" + name}, folder / "log") == 0 &&
                   read_text(folder / "log").find("Filter " + name) != std::string::npos;
  return known[name] = has;
}

std::vector<HostFrame> run_ffmpeg(const std::string& filter, const std::vector<HostFrame>& frames,
                                  const std::string& pix_fmt, const FrameFormat& output) {
  const TemporaryFolder folder;
  const FrameFormat& input = frames.at(0).format();
  {
    std::ofstream file(folder / "in.raw", std::ios::binary);
    for (const HostFrame& frame : frames) write_frame(file, frame);
  }
  const std::string size = std::to_string(input.width) + "x" + std::to_string(input.height);
  const int status =
      run_program({"ffmpeg",          "-hide_banner", "-nostdin", "-v",        "verbose",     "-f", "rawvideo",
                   "-pix_fmt",        pix_fmt,        "-s",       size,        "-r",          "25", "-i",
                   folder / "in.raw", "-vf",          filter,     "-fps_mode", "passthrough", "-f", "rawvideo",
                   folder / "out.raw"},
                  folder / "log");
  const std::string log = read_text(folder / "log");
  if (status != 0) throw std::runtime_error("ffmpeg -vf " + filter + " failed:\n" + log);
  if (log.find("auto-inserting filter") != std::string::npos || log.find("auto_scale_") != std::string::npos) {
    throw std::runtime_error("ffmpeg -vf " + filter + " converted " + pix_fmt + " on its own:\n" + log);
  }
  const std::uintmax_t bytes = fs::file_size(folder / "out.raw");
  if (bytes % raw_bytes(output) != 0 || bytes == 0) {
    throw std::runtime_error("ffmpeg -vf " + filter + " wrote " + std::to_string(bytes) + " bytes, no multiple of a " +
                             describe(output) + " frame:\n" + log);
  }
  std::ifstream file(folder / "out.raw", std::ios::binary);
  std::vector<HostFrame> results;
  for (std::uintmax_t n = 0; n < bytes / raw_bytes(output); ++n) results.push_back(read_frame(file, output));
  return results;
}

}  // namespace framelane::testing
