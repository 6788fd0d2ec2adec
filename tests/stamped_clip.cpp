#include "tests/stamped_clip.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

namespace framelane::testing {
namespace {

constexpr int kBars = 16;
constexpr int kBlack = 16;
constexpr int kWhite = 235;

std::string one_frame(int number, int width, int height) {
  std::string row(static_cast<std::size_t>(width), '\0');
  for (int x = 0; x < width; ++x) {
    const int bit = x * kBars / width;
    row[static_cast<std::size_t>(x)] = static_cast<char>((number >> bit & 1) != 0 ? kWhite : kBlack);
  }
  std::string frame;
  for (int y = 0; y < height; ++y) frame += row;
  frame.append(static_cast<std::size_t>((width + 1) / 2) * static_cast<std::size_t>((height + 1) / 2) * 2, '\x80');
  return frame;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "framelane-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string run_command(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), [](FILE*) { return 0; });
  std::string output;
  std::array<char, 65536> block{};
  while (const std::size_t bytes = fread(block.data(), 1, block.size(), pipe.get())) output.append(block.data(), bytes);
  EXPECT_EQ(pclose(pipe.get()), 0) << command;
  return output;
}

void make_stamped_clip(const std::string& path, int frames, int width, int height, const std::string& encoder_options) {
  const std::string command =
      fmt::format("ffmpeg -v error -nostdin -y -f rawvideo -pix_fmt yuv420p -s {}x{} -r 25 -i pipe:0 {} '{}'", width,
                  height, encoder_options, path);
  FILE* pipe = popen(command.c_str(), "w");
  for (int number = 0; number < frames; ++number) {
    const std::string frame = one_frame(number, width, height);
    fwrite(frame.data(), 1, frame.size(), pipe);
  }
  ASSERT_EQ(pclose(pipe), 0) << command;
}

std::vector<Stamp> read_stamps(const std::string& path) {
  const std::string pixels =
      run_command(fmt::format("ffmpeg -v error -nostdin -i '{}' -map 0:V:0 -vsync passthrough -vf "
                              "scale={}:1:flags=area,format=gray -f rawvideo -",
                              path, kBars));
  std::istringstream times(run_command(
      fmt::format("ffprobe -v error -select_streams V:0 -show_entries packet=pts_time -of csv=p=0 '{}'", path)));
  std::vector<double> seconds;
  for (std::string line; std::getline(times, line);) seconds.push_back(std::atof(line.c_str()));
  std::ranges::sort(seconds);
  EXPECT_EQ(pixels.size(), seconds.size() * kBars) << path;

  std::vector<Stamp> stamps(std::min(seconds.size(), pixels.size() / kBars));
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    stamps[i].pts_s = seconds[i];
    for (int bit = 0; bit < kBars; ++bit) {
      if (static_cast<unsigned char>(pixels[i * kBars + static_cast<std::size_t>(bit)]) > 128) {
        stamps[i].number |= 1 << bit;
      }
    }
  }
  return stamps;
}

}  // namespace framelane::testing
