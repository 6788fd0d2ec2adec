// Clips whose frames carry their own number as a bit pattern, so that a lost, doubled or reordered frame shows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace framelane::testing {

/** A folder of the test's own, removed at the end. */
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Stamp {
  int number = 0;
  double pts_s = 0;
};

/** Writes an H.264 clip with B-frames by the ffmpeg program: `frames` frames of `width`x`height` at 25 fps, frame n
 *  showing n in binary as 16 vertical bars (bit 0 at the left). */
void make_stamped_clip(const std::string& path, int frames, int width = 320, int height = 240,
                       const std::string& encoder_options = "-c:v libx264 -preset ultrafast -bf 2");

/** The numbers that a clip's frames show, in presentation order, with their times; read by ffmpeg and ffprobe. */
std::vector<Stamp> read_stamps(const std::string& path);

/** Runs a shell command; fails the test when it does not exit with 0. Returns what it wrote to stdout. */
std::string run_command(const std::string& command);

}  // namespace framelane::testing
