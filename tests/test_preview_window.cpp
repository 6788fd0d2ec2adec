// The preview window on a display of its own (Xvfb): what can be seen on the screen, and keys typed by xdotool.
#include "app/preview_window.h"

#include <SDL.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/errors.h"
#include "pipeline/av.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

extern "C" {
#include <libavutil/frame.h>
}

namespace framelane {
namespace {

/** While it lives, LeakSanitizer overlooks what is allocated on this thread: OpenGL drivers and libdbus leak, and once
 *  SDL has unloaded them, their names cannot be told any more. */
class ForeignLeaks {
 public:
#if defined(__SANITIZE_ADDRESS__)
  ForeignLeaks() { __lsan_disable(); }
  ~ForeignLeaks() { __lsan_enable(); }
#else
  ForeignLeaks() = default;
#endif
  ForeignLeaks(const ForeignLeaks&) = delete;
  ForeignLeaks& operator=(const ForeignLeaks&) = delete;
};

constexpr int kScreenWidth = 640;
constexpr int kScreenHeight = 480;
constexpr const char* kTitle = "framelane preview test";

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = fread(part.data(), 1, part.size(), pipe)) > 0;) output.append(part.data(), n);
  pclose(pipe);
  return output;
}

/** An X server without hardware. Owns: the server's process. */
class Xvfb {
 public:
  Xvfb() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);  // also where the test is killed
      close(ends[0]);
      const int quiet = open("/dev/null", O_WRONLY);
      dup2(quiet, STDERR_FILENO);
      const std::string screen = std::to_string(kScreenWidth) + "x" + std::to_string(kScreenHeight) + "x24";
      // It picks a free display and writes its number once it takes connections.
      execlp("Xvfb", "Xvfb", "-displayfd", std::to_string(ends[1]).c_str(), "-screen", "0", screen.c_str(), "-nolisten",
             "tcp", static_cast<char*>(nullptr));
      _exit(127);
    }
    close(ends[1]);
    char digit = 0;
    while (read(ends[0], &digit, 1) == 1 && digit != '\n') display_ += digit;
    close(ends[0]);
  }
  ~Xvfb() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  Xvfb(const Xvfb&) = delete;
  Xvfb& operator=(const Xvfb&) = delete;

  bool runs() const { return !display_.empty(); }
  std::string display() const { return ":" + display_; }

 private:
  pid_t pid_ = -1;
  std::string display_;
};

struct Color {
  int r, g, b;
};

struct Screenshot {
  std::string rgb;
  Color at(int x, int y) const {
    const auto offset = 3 * (static_cast<std::size_t>(y) * kScreenWidth + static_cast<std::size_t>(x));
    if (offset + 2 >= rgb.size()) return {-1, -1, -1};
    const auto channel = [&](std::size_t i) { return static_cast<unsigned char>(rgb[offset + i]); };
    return {channel(0), channel(1), channel(2)};
  }
};

Screenshot take_screenshot() { return {output_of("import -silent -window root -depth 8 rgb:- 2>/dev/null")}; }

bool is_near(const Color& a, const Color& b) {
  return std::abs(a.r - b.r) <= 3 && std::abs(a.g - b.g) <= 3 && std::abs(a.b - b.b) <= 3;
}

constexpr Color kRed{255, 0, 0};
constexpr Color kGreen{0, 255, 0};
constexpr Color kBlue{0, 0, 255};
constexpr Color kWhite{255, 255, 255};
constexpr Color kBlack{0, 0, 0};

struct YuvCodes {
  int y, u, v;
};
/** BT.709, limited range. */
constexpr std::array<YuvCodes, 4> kQuadrants{YuvCodes{63, 102, 240}, {173, 42, 26}, {32, 240, 118}, {235, 128, 128}};

/** Red, green over blue, white. */
AvFrame four_colors(int width, int height, AVRational sample_aspect = {1, 1}) {
  AvFrame frame = make_frame();
  frame->format = AV_PIX_FMT_YUV444P;
  frame->width = width;
  frame->height = height;
  frame->colorspace = AVCOL_SPC_BT709;
  frame->color_range = AVCOL_RANGE_MPEG;
  frame->sample_aspect_ratio = sample_aspect;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const YuvCodes& codes = kQuadrants[(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)];
      frame->data[0][y * frame->linesize[0] + x] = static_cast<std::uint8_t>(codes.y);
      frame->data[1][y * frame->linesize[1] + x] = static_cast<std::uint8_t>(codes.u);
      frame->data[2][y * frame->linesize[2] + x] = static_cast<std::uint8_t>(codes.v);
    }
  }
  return frame;
}

/** The parameter is SDL's renderer: empty for its choice (OpenGL, where Mesa is installed), or "software". */
class PreviewWindowTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const char* program : {"Xvfb", "xdotool", "import"}) {
      if (!has_program(program)) GTEST_SKIP() << program << " is not installed (apt install xvfb xdotool imagemagick)";
    }
    server_.emplace();
    if (!server_->runs()) GTEST_SKIP() << "Xvfb did not start";
    setenv("DISPLAY", server_->display().c_str(), 1);
    unsetenv("WAYLAND_DISPLAY");
    setenv("SDL_RENDER_DRIVER", GetParam(), 1);
    window_.emplace(kTitle);
  }
  void TearDown() override {
    window_.reset();
    SDL_Quit();
    unsetenv("DISPLAY");
    unsetenv("SDL_RENDER_DRIVER");
  }

  std::string xdotool(const std::string& command) { return output_of("xdotool " + command + " 2>&1"); }
  std::string window_id() {
    const std::string id = xdotool("search --name '" + std::string(kTitle) + "'");
    return id.substr(0, id.find('\n'));
  }
  /** Pumps until `done` holds or five seconds have passed; keys typed meanwhile are kept. */
  bool pump_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (std::chrono::steady_clock::now() < deadline) {
      for (const char key : window_->pump()) keys_ += key;
      if (done()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  /** Waits for a picture of `width` by `height` in the middle of the screen. */
  bool shows_four_colors(int width, int height) {
    return pump_until([&] {
      shot_ = take_screenshot();
      const int x = kScreenWidth / 2;
      const int y = kScreenHeight / 2;
      return is_near(shot_.at(x - width / 4, y - height / 4), kRed) &&
             is_near(shot_.at(x + width / 4, y - height / 4), kGreen) &&
             is_near(shot_.at(x - width / 4, y + height / 4), kBlue) &&
             is_near(shot_.at(x + width / 4, y + height / 4), kWhite);
    });
  }

  ForeignLeaks foreign_leaks_;
  std::optional<Xvfb> server_;
  std::optional<PreviewWindow> window_;
  std::string keys_;
  Screenshot shot_;
};

TEST_P(PreviewWindowTest, OpensInTheFramesSizeAndColors) {
  window_->show(*four_colors(320, 240));
  ASSERT_TRUE(shows_four_colors(320, 240));
  EXPECT_TRUE(is_near(shot_.at(162, 122), kRed));  // corners of the picture
  EXPECT_TRUE(is_near(shot_.at(477, 122), kGreen));
  EXPECT_TRUE(is_near(shot_.at(162, 357), kBlue));
  EXPECT_TRUE(is_near(shot_.at(477, 357), kWhite));
  EXPECT_NE(xdotool("getwindowgeometry " + window_id()).find("320x240"), std::string::npos);
}

TEST_P(PreviewWindowTest, StretchesBySampleAspectRatioAndLetterboxes) {
  window_->show(*four_colors(160, 200, {2, 1}));
  ASSERT_TRUE(shows_four_colors(320, 200));
  const std::string id = window_id();
  EXPECT_NE(xdotool("getwindowgeometry " + id).find("320x200"), std::string::npos);
  // 400x400: the picture is 400x250, with 75 rows of black above and below.
  xdotool("windowsize " + id + " 400 400");
  xdotool("windowmove " + id + " 120 40");
  ASSERT_TRUE(pump_until([&] {
    shot_ = take_screenshot();
    return is_near(shot_.at(122, 42 + 75), kRed);
  }));
  for (const int y : {42, 40 + 72, 40 + 328, 438}) EXPECT_TRUE(is_near(shot_.at(320, y), kBlack)) << "row " << y;
  EXPECT_TRUE(is_near(shot_.at(517, 40 + 78), kGreen));
  EXPECT_TRUE(is_near(shot_.at(122, 40 + 322), kBlue));
  EXPECT_TRUE(is_near(shot_.at(517, 40 + 322), kWhite));
}

TEST_P(PreviewWindowTest, AFrameLargerThanTheDesktopIsShrunk) {
  window_->show(*four_colors(1920, 1080));
  ASSERT_TRUE(shows_four_colors(kScreenWidth, kScreenWidth * 9 / 16));
  EXPECT_NE(xdotool("getwindowgeometry " + window_id()).find("640x360"), std::string::npos);
}

TEST_P(PreviewWindowTest, ShowsTheNewestOfManyFramesFromAnotherThread) {
  const AvFrame black = [] {
    AvFrame frame = four_colors(320, 240);
    for (int plane = 0; plane < 3; ++plane) {
      std::memset(frame->data[plane], plane == 0 ? 16 : 128, static_cast<std::size_t>(frame->linesize[plane]) * 240);
    }
    return frame;
  }();
  const std::jthread encoder([&] {
    for (int i = 0; i < 1000; ++i) window_->show(*black);
    window_->show(*four_colors(320, 240));
  });
  EXPECT_TRUE(shows_four_colors(320, 240));
}

TEST_P(PreviewWindowTest, ReturnsTheKeysTypedIntoIt) {
  window_->show(*four_colors(320, 240));
  ASSERT_TRUE(shows_four_colors(320, 240));
  xdotool("windowfocus --sync " + window_id());
  xdotool("key s a m h space 1 9 question period c");
  EXPECT_TRUE(pump_until([&] { return keys_.size() >= 10; }));
  EXPECT_EQ(keys_, "samh 19?.c");
}

TEST_P(PreviewWindowTest, EscapeLeavesFullScreen) {
  window_->show(*four_colors(320, 240));
  ASSERT_TRUE(shows_four_colors(320, 240));
  // This server has no window manager that would enlarge the window: only the state can be seen.
  window_->toggle_fullscreen();
  xdotool("windowfocus --sync " + window_id());
  xdotool("key Escape");
  EXPECT_TRUE(pump_until([&] { return keys_ == "f"; }));
  window_->toggle_fullscreen();
  xdotool("key Escape");
  EXPECT_TRUE(pump_until([&] { return keys_ == "fq"; }));
}

TEST_P(PreviewWindowTest, EscapeAndTheCloseButtonAskToFinish) {
  window_->show(*four_colors(320, 240));
  ASSERT_TRUE(shows_four_colors(320, 240));
  xdotool("windowfocus --sync " + window_id());
  xdotool("key Escape");
  EXPECT_TRUE(pump_until([&] { return keys_ == "q"; }));
  // There is no window manager on this server whose button could be pressed: the event that SDL makes of it.
  SDL_Event event{};
  event.type = SDL_WINDOWEVENT;
  event.window.event = SDL_WINDOWEVENT_CLOSE;
  SDL_PushEvent(&event);
  EXPECT_TRUE(pump_until([&] { return keys_ == "qq"; }));
}

TEST_P(PreviewWindowTest, LeavesCtrlCToTheProgram) {
  struct sigaction action {};
  ASSERT_EQ(sigaction(SIGINT, nullptr, &action), 0);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

INSTANTIATE_TEST_SUITE_P(Renderers, PreviewWindowTest, ::testing::Values("", "software"),
                         [](const auto& renderer) { return *renderer.param == '\0' ? "default" : renderer.param; });

TEST(PreviewWindow, WithoutADisplayIsADeviceError) {
  [[maybe_unused]] const ForeignLeaks foreign_leaks;
  unsetenv("DISPLAY");
  unsetenv("WAYLAND_DISPLAY");
  unsetenv("SDL_VIDEODRIVER");
  try {
    const PreviewWindow window(kTitle);
    GTEST_SKIP() << "SDL found a display without DISPLAY (a console with KMS)";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("no display for --preview"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace framelane
