// The built program, from outside: exit codes, one-line errors, signals, keys, pipes, reports.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace framelane {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

/** Longer than anything here takes under a sanitizer. */
constexpr seconds kHang{90};

constexpr const char* kEndless = "lavfi:testsrc2=size=320x240:rate=25";

struct Result {
  int status = -1;  ///< exit status, or 128 + signal; 999 when it hung and was killed
  std::string out;
  std::string err;
};

/** A running framelane. */
class Program {
 public:
  /** `input`: file for standard input. `out_file`: standard output goes there, else it is kept. */
  explicit Program(std::vector<std::string> arguments, const std::string& input = "/dev/null",
                   const std::string& out_file = "") {
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      const int in = open(input.c_str(), O_RDONLY);
      const int target = out_file.empty() ? out[1] : open(out_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
      dup2(in, STDIN_FILENO);
      dup2(target, STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      std::vector<char*> argv{const_cast<char*>(FRAMELANE_PROGRAM)};
      for (std::string& argument : arguments) argv.push_back(argument.data());
      argv.push_back(nullptr);
      execv(FRAMELANE_PROGRAM, argv.data());
      _exit(126);
    }
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Program() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close_out();
    if (err_ >= 0) close(err_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int pid() const { return pid_; }
  void signal(int number) const { kill(pid_, number); }
  /** Reads up to `bytes` of its standard output. */
  std::string read_out(std::size_t bytes) {
    std::string text(bytes, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(read(out_, text.data(), bytes), 0)));
    return text;
  }
  void close_out() {
    if (out_ >= 0) close(out_);
    out_ = -1;
  }

  Result wait(milliseconds limit = kHang) {
    Result result;
    const auto end = Clock::now() + limit;
    while (drain(result, milliseconds(50))) {
      if (Clock::now() > end) {
        kill(pid_, SIGKILL);
        waitpid(std::exchange(pid_, -1), nullptr, 0);
        result.status = 999;
        return result;
      }
    }
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
  }

 private:
  /** Takes what has come; false once both streams are at their ends. */
  bool drain(Result& result, milliseconds timeout) {
    std::array<pollfd, 2> ends{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
    poll(ends.data(), ends.size(), static_cast<int>(timeout.count()));
    const bool out_open = take(ends[0], out_, result.out);
    const bool err_open = take(ends[1], err_, result.err);
    return out_open || err_open;
  }
  static bool take(const pollfd& end, int& file, std::string& text) {
    if (file < 0) return false;
    if (end.revents == 0) return true;
    std::array<char, 65536> buffer{};
    const ssize_t size = read(file, buffer.data(), buffer.size());
    if (size > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
      return true;
    }
    close(file);
    file = -1;
    return false;
  }

  int pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

Result framelane(std::vector<std::string> arguments, const std::string& input = "/dev/null") {
  return Program(std::move(arguments), input).wait();
}

std::string shell(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), size);
  pclose(pipe);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

long count_lines(const std::string& text) { return std::ranges::count(text, '\n'); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/** Frames that ffprobe decodes, -1 for a file that cannot be played. */
int decoded_frames(const fs::path& path) {
  const std::string text = shell(
      "ffprobe -v error -count_frames -select_streams V:0 -show_entries "
      "stream=nb_read_frames -of default=nk=1:nw=1 '" +
      path.string() + "' 2>&1");
  return text.find_first_not_of("0123456789") == std::string::npos && !text.empty() ? std::stoi(text) : -1;
}

/** "57" of "… 57 frames in …": what the program says it wrote. */
int reported_frames(const std::string& err) {
  const std::size_t end = err.rfind(" frames in ");
  if (end == std::string::npos) return -1;
  const std::size_t begin = err.find_last_not_of("0123456789", end - 1) + 1;
  return std::atoi(err.substr(begin, end - begin).c_str());
}

/** A folder of its own with the inputs that the tests share. */
class Cli : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (std::system("command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null") != 0) return;
    folder() = fs::temp_directory_path() / fmt::format("framelane-cli-{}", getpid());
    fs::create_directories(*folder());
    const std::string make = "cd " + folder()->string() +
                             " && F='ffmpeg -hide_banner -nostdin -v error -y' && "
                             "$F -f lavfi -i testsrc2=s=160x120:r=25:d=2 -f lavfi -i sine=d=2 -c:v libx264 -preset "
                             "ultrafast -pix_fmt yuv420p"
                             " -c:a aac clip.mp4 && "
                             "$F -i clip.mp4 -c copy clip.mkv && "
                             "$F -f lavfi -i sine=d=1 -c:a aac audio.m4a && "
                             "head -c 5000 clip.mp4 > truncated.mp4 && : > empty.mp4 && mkdir -p dir.mp4 locked && "
                             "printf 'This is a text file, not a video.\\nIt has lines.\\n' > text.mp4";
    if (std::system(make.c_str()) != 0) folder().reset();
  }
  static void TearDownTestSuite() {
    if (folder()) fs::remove_all(*folder());
  }
  void SetUp() override {
    if (!folder()) GTEST_SKIP() << "no ffmpeg and ffprobe programs with libx264 here to make the inputs";
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ranges::replace(name, '/', '-');
    out_ = path("out-" + name);
  }
  static std::optional<fs::path>& folder() {
    static std::optional<fs::path> value;
    return value;
  }
  static std::string path(const std::string& name) { return (*folder() / name).string(); }
  /** An output's name of this test's own. */
  std::string out(const std::string& extension = ".mp4") const { return out_ + extension; }

 private:
  std::string out_;
};

// ---- errors

struct BadCase {
  const char* name;
  std::vector<std::string> arguments;  ///< "@x" stands for the shared file x, "%out" for the output
  int status;
  std::string told;  ///< part of the message

  friend std::ostream& operator<<(std::ostream& stream, const BadCase& bad) { return stream << bad.name; }
};

class CliErrors : public Cli, public ::testing::WithParamInterface<BadCase> {};

TEST_P(CliErrors, OneLineTheRightStatusAndTheOldFileStays) {
  const BadCase& bad = GetParam();
  std::vector<std::string> arguments{"run"};
  const std::string output = path(fmt::format("old-{}.mp4", bad.name));
  for (const std::string& argument : bad.arguments) {
    arguments.push_back(argument == "%out" ? output : argument.front() == '@' ? path(argument.substr(1)) : argument);
  }
  for (const bool older_file : {false, true}) {
    fs::remove(output);
    if (older_file) write_file(output, "older");
    const Result result = framelane(arguments);
    EXPECT_EQ(result.status, bad.status) << result.err;
    EXPECT_EQ(count_lines(result.err), 1) << result.err;
    EXPECT_TRUE(result.err.starts_with("framelane: ")) << result.err;
    EXPECT_TRUE(contains(result.err, bad.told)) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(read_file(output), older_file ? "older" : "");
    EXPECT_EQ(fs::exists(output), older_file);
  }
  for (const auto& entry : fs::directory_iterator(*folder())) {  // nor a temporary file beside it
    const std::string name = entry.path().filename();
    EXPECT_TRUE(!contains(name, fmt::format("old-{}", bad.name)) || name == fs::path(output).filename()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, CliErrors,
    ::testing::Values(
        BadCase{"missing_file", {"@missing.mp4", "-y", "-o", "%out"}, 3, "missing.mp4"},
        BadCase{"directory", {"@dir.mp4", "-y", "-o", "%out"}, 3, "dir.mp4"},
        BadCase{"empty", {"@empty.mp4", "-y", "-o", "%out"}, 3, "empty.mp4"},
        BadCase{"text", {"@text.mp4", "-y", "-o", "%out"}, 3, "text.mp4"},
        BadCase{"audio_only", {"@audio.m4a", "-y", "-o", "%out"}, 3, "no video"},
        BadCase{"truncated_mp4", {"@truncated.mp4", "-y", "-o", "%out"}, 3, "truncated.mp4"},
        BadCase{"unknown_filter", {"@clip.mp4", "-y", "-o", "%out", "--vf", "gblurr"}, 2, "gblur"},
        BadCase{"unknown_parameter", {"@clip.mp4", "-y", "-o", "%out", "--vf", "gblur=sigme=2"}, 2, "sigma"},
        BadCase{"bad_value", {"@clip.mp4", "-y", "-o", "%out", "--vf", "gblur=sigma=-1"}, 2, "out of range [0 - 1024]"},
        BadCase{"size_that_does_not_fit", {"@clip.mp4", "-y", "-o", "%out", "--vf", "crop=w=4000"}, 2, "crop"},
        BadCase{"unknown_option", {"@clip.mp4", "-y", "-o", "%out", "--crff", "20"}, 2, "--crf"},
        BadCase{"unknown_device", {"@clip.mp4", "-y", "-o", "%out", "--device", "tpu"}, 2, "tpu"},
        BadCase{"missing_folder", {"@clip.mp4", "-y", "-o", "@nowhere/out.mp4"}, 4, "nowhere"},
        BadCase{"output_below_a_file", {"@clip.mkv", "-y", "-o", "@clip.mp4/out.mp4"}, 4, "clip.mp4/out.mp4"},
        BadCase{"output_is_a_folder", {"@clip.mkv", "-y", "-o", "@dir.mp4"}, 4, "dir.mp4"},
        BadCase{"unknown_encoder", {"@clip.mp4", "-y", "-o", "%out", "--video-codec", "h265000"}, 2, "h265000"},
        BadCase{"unknown_container", {"@clip.mp4", "-y", "-o", "@out.nosuch"}, 2, "out.nosuch"},
        BadCase{"output_without_format", {"@clip.mp4", "-o", "-"}, 2, "--format"},
        BadCase{"stats_into_a_missing_folder",
                {"@clip.mp4", "-y", "-o", "%out", "--stats", "@nowhere/s.json"},
                4,
                "nowhere"},
        BadCase{"stats_over_the_input", {"@clip.mp4", "-y", "-o", "%out", "--stats", "@clip.mp4"}, 2, "--stats"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Cli, AnExistingOutputIsKeptWithoutY) {
  write_file(out(), "older");
  const Result result = framelane({"run", path("clip.mp4"), "-o", out()});
  EXPECT_EQ(result.status, 4) << result.err;
  EXPECT_EQ(count_lines(result.err), 1) << result.err;
  EXPECT_TRUE(contains(result.err, "-y")) << result.err;
  EXPECT_EQ(read_file(out()), "older");
}

TEST_F(Cli, TheInputIsNeverTheOutput) {
  const std::string before = read_file(path("clip.mp4"));
  const std::string link = path("link.mp4");
  fs::create_symlink(path("clip.mp4"), link);
  for (const std::string& output : {path("clip.mp4"), path("./clip.mp4"), link}) {
    const Result result = framelane({"run", path("clip.mp4"), "-y", "-o", output});
    EXPECT_EQ(result.status, 4) << result.err;
    EXPECT_EQ(count_lines(result.err), 1) << result.err;
    EXPECT_EQ(read_file(path("clip.mp4")), before);
  }
  fs::remove(link);
}

TEST_F(Cli, AnUnwritableFolderIsToldBeforeWork) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(path("locked"), fs::perms::owner_read | fs::perms::owner_exec);
  const Result result = framelane({"run", path("clip.mp4"), "-o", path("locked/out.mp4")});
  fs::permissions(path("locked"), fs::perms::owner_all);
  EXPECT_EQ(result.status, 4) << result.err;
  EXPECT_EQ(count_lines(result.err), 1) << result.err;
}

TEST_F(Cli, AFullDiskIsAnError) {
  const Result result = framelane({"run", path("clip.mp4"), "-y", "--quiet", "-o", "/dev/full", "--format", "nut"});
  EXPECT_EQ(result.status, 4) << result.err;
  EXPECT_EQ(count_lines(result.err), 1) << result.err;
  const Program help({"--help"}, "/dev/null", "/dev/full");
  EXPECT_EQ(const_cast<Program&>(help).wait().status, 4);
}

TEST_F(Cli, ANameWithControlCharactersDoesNotBreakTheMessage) {
  const Result result = framelane({"run", "no\nsuch\x1b[2J.mp4", "-o", out()});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(count_lines(result.err), 1) << result.err;
  EXPECT_FALSE(contains(result.err, "\x1b"));
}

TEST_F(Cli, LogLevelQuietSaysNothingAtAll) {
  const Result result = framelane({"run", path("missing.mp4"), "-o", out(), "-v", "quiet"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.err, "");
}

// ---- a run

TEST_F(Cli, ARunTellsDeviceChainAndFrames) {
  const Result result = framelane({"run", path("clip.mp4"), "-o", out(), "--vf", "gblur=sigma=2"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "gblur=sigma=2")) << result.err;
  EXPECT_TRUE(contains(result.err, "(auto: ")) << result.err;
  EXPECT_EQ(reported_frames(result.err), 50) << result.err;
  EXPECT_EQ(decoded_frames(out()), 50);
  EXPECT_EQ(result.out, "");
}

TEST_F(Cli, QuietIsQuiet) {
  const Result result = framelane({"run", path("clip.mp4"), "-o", out(), "--quiet"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err + result.out, "");
}

TEST_F(Cli, FramesStartAndDurationCut) {
  EXPECT_EQ(framelane({"run", path("clip.mp4"), "-o", out("-a.mp4"), "--frames", "7"}).status, 0);
  EXPECT_EQ(decoded_frames(out("-a.mp4")), 7);
  EXPECT_EQ(framelane({"run", path("clip.mp4"), "-o", out("-b.mp4"), "--start", "0:00:00.8"}).status, 0);
  EXPECT_EQ(decoded_frames(out("-b.mp4")), 30);
  EXPECT_EQ(framelane({"run", path("clip.mp4"), "-o", out("-c.mp4"), "-ss", "0.4", "-t", "0.8"}).status, 0);
  EXPECT_EQ(decoded_frames(out("-c.mp4")), 20);
}

TEST_F(Cli, StatsAreJson) {
  const Result to_file = framelane({"run", path("clip.mp4"), "-o", "null", "--stats", out(".json"), "--mode", "async"});
  EXPECT_EQ(to_file.status, 0) << to_file.err;
  const auto file = nlohmann::json::parse(read_file(out(".json")));
  EXPECT_TRUE(file.is_object() && !file.empty());
  const Result to_stdout = framelane({"run", path("clip.mp4"), "-o", "null", "--stats", "-"});
  EXPECT_EQ(nlohmann::json::parse(to_stdout.out).size(), file.size());
}

TEST_F(Cli, ReportsAndVideoDoNotShareStandardOutput) {
  for (const char* report : {"--stats", "--progress"}) {
    const Result result = framelane({"run", path("clip.mp4"), "-o", "-", "--format", "nut", report, "-"});
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    // Standard input is another matter.
    EXPECT_EQ(framelane({"run", "-", "-o", "null", report, "-"}, path("clip.mkv")).status, 0);
  }
}

TEST_F(Cli, TwoOutputsDoNotShareANewFile) {
  const std::string other_name = path("./") + fs::path(out()).filename().string();
  const auto refused = [&](const std::vector<std::string>& outputs, const std::string& told) {
    std::vector<std::string> arguments{"run", path("clip.mp4")};
    arguments.insert(arguments.end(), outputs.begin(), outputs.end());
    const Result result = framelane(arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(count_lines(result.err), 1) << result.err;
    EXPECT_TRUE(contains(result.err, told)) << result.err;
    EXPECT_FALSE(fs::exists(out()));
  };
  refused({"-o", out(), "--stats", other_name}, "where the video goes");
  refused({"-o", "file:" + out(), "--trace", other_name}, "where the video goes");
  refused({"-o", "null", "--trace", out(), "--stats", other_name}, "where --stats goes");
  refused({"-o", "null", "--progress", out(), "--trace", other_name}, "where --trace goes");
}

TEST_F(Cli, GraphsThatTheDeviceLacksAreAWarning) {
  const Result result =
      framelane({"run", path("clip.mp4"), "-o", "null", "--device", "cpu", "--cuda-graphs", "on", "--frames", "2"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "--cuda-graphs on: CPU")) << result.err;
}

TEST_F(Cli, BenchWritesJsonOfANameThatIsNotUtf8) {
  write_file(path("\xff.cube"), "LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n");
  const Result result = framelane({"bench", "--device", "cpu", "--size", "64x64", "--rounds", "1", "--frames", "10",
                                   "--modes", "sync", "--vf", "lut3d=" + path("\xff.cube"), "--json", "-"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(nlohmann::json::accept(result.out)) << result.out;
}

TEST_F(Cli, ProgressKeysReachFilesAndStdout) {
  const Result result = framelane({"run", kEndless, "--frames", "40", "--realtime", "-o", "null", "--progress", "-"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "progress=continue\n")) << result.out;
  EXPECT_TRUE(result.out.ends_with("progress=end\n")) << result.out;
  const std::string last = result.out.substr(result.out.rfind("frame="));
  EXPECT_TRUE(last.starts_with("frame=40\n")) << last;
  EXPECT_TRUE(contains(last, "mode=multistream\n")) << last;
  EXPECT_EQ(framelane({"run", path("clip.mp4"), "-o", "null", "--progress", out(".txt")}).status, 0);
  EXPECT_TRUE(read_file(out(".txt")).ends_with("progress=end\n"));
}

TEST_F(Cli, HelpVersionFiltersAndDevicesGoToStandardOutput) {
  for (const char* command : {"run", "filters", "devices", "demo"}) {
    const Result help = framelane({command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_TRUE(contains(help.out, "Examples:"));
    EXPECT_EQ(help.err, "");
  }
  const Result version = framelane({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_TRUE(contains(version.out, "FFmpeg") && contains(version.out, "OpenCV") && contains(version.out, "CUDA"));
  EXPECT_TRUE(contains(version.out, shell("ffprobe -v error -show_program_version -of default=nk=1:nw=1 | head -1")));
  const Result table = framelane({"filters"});
  EXPECT_TRUE(contains(table.out, "gblur        spatial"));
  const Result one = framelane({"filters", "gblur"});
  EXPECT_TRUE(contains(one.out, "sigma") && contains(one.out, "[0 - 1024]")) << one.out;
  EXPECT_EQ(framelane({"run", "--vf", "gblur=help"}).out, one.out);
  EXPECT_EQ(framelane({"filters", "gblurr"}).status, 2);
  EXPECT_TRUE(contains(framelane({"devices"}).out, "cpu"));
}

/** What bash would offer after `line`. */
std::string bash_offers(const std::string& line) {
  const std::string program = FRAMELANE_PROGRAM;
  return shell("bash -c 'source <(" + program + " completion bash); framelane() { " + program +
               " \"$@\"; }; COMP_LINE=\"" + line +
               "\"; COMP_POINT=${#COMP_LINE}; _framelane 2>/dev/null; echo ${COMPREPLY[@]}'");
}

TEST_F(Cli, BashCompletesCommandsOptionsValuesAndChains) {
  EXPECT_EQ(bash_offers("framelane fi"), "filters");
  EXPECT_EQ(bash_offers("framelane run in.mp4 --preset x --mo"), "--mode");
  EXPECT_EQ(bash_offers("framelane run in.mp4 --mode as"), "async");
  EXPECT_EQ(bash_offers("framelane run in.mp4 --mode=mu"), "multistream");
  EXPECT_EQ(bash_offers("framelane filters trans"), "transpose");
  EXPECT_EQ(bash_offers("framelane run in.mp4 --vf hflip,gb"), "hflip,gblur=");
  // readline keeps what is before the last '=' or ':'.
  EXPECT_EQ(bash_offers("framelane run in.mp4 --vf hflip,gblur=sigma=2:pl"), "planes=");
  EXPECT_EQ(bash_offers("framelane run in.mp4 --vf transpose=dir=cclock_"), "cclock_flip");
}

TEST_F(Cli, TheManualPageIsCleanRoff) {
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "no groff program here";
  const std::string program = FRAMELANE_PROGRAM;
  EXPECT_EQ(shell(program + " man | groff -ww -man -Tutf8 2>&1 >/dev/null"), "");
  EXPECT_TRUE(contains(shell(program + " man | groff -man -Tascii 2>/dev/null"), "framelane run in.mp4 -o out.mp4"));
}

// ---- pipes

TEST_F(Cli, PipesCarryTheStreamAndNothingElse) {
  const Result result =
      framelane({"run", "-", "-o", "-", "--format", "rawvideo", "--video-codec", "rawvideo"}, path("clip.mkv"));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.size(), 50U * 160 * 120 * 3 / 2);
  // Nothing was done to the pixels.
  const std::string expected =
      shell("ffmpeg -v error -nostdin -i " + path("clip.mkv") + " -map 0:v -vsync passthrough -f rawvideo - | md5sum");
  write_file(out(".raw"), result.out);
  EXPECT_EQ(shell("md5sum < " + out(".raw")), expected);
}

TEST_F(Cli, AClosedStandardInputIsAnEmptyOne) {
  const int status =
      std::system(fmt::format("{} run - -y --quiet -o {} <&- 2>{}", FRAMELANE_PROGRAM, out(), out(".txt")).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(count_lines(read_file(out(".txt"))), 1) << read_file(out(".txt"));
}

TEST_F(Cli, AReaderThatLeavesEndsTheRunQuietly) {
  Program program({"run", kEndless, "-o", "-", "--format", "matroska", "-v", "error"});
  EXPECT_FALSE(program.read_out(100).empty());
  program.close_out();
  const Result result = program.wait();
  EXPECT_EQ(result.status, 141) << result.err;
  EXPECT_EQ(result.err, "");
}

TEST_F(Cli, AStandardErrorThatNobodyReadsHoldsNothingUp) {
  // The read end stays open and is never read: 64 KiB fit, then lines are dropped.
  std::array<int, 2> err{};
  ASSERT_EQ(pipe2(err.data(), O_CLOEXEC), 0);
  ASSERT_GT(fcntl(err[1], F_SETPIPE_SZ, 4096), 0);
  const std::string filler(4096, 'x');
  ASSERT_EQ(write(err[1], filler.data(), filler.size()), 4096);
  const std::string command =
      fmt::format("timeout 60 {} run {} -y -o {} -v trace 2>&{}", FRAMELANE_PROGRAM, path("clip.mp4"), out(), err[1]);
  fcntl(err[1], F_SETFD, 0);
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(decoded_frames(out()), 50);
  close(err[0]);
  close(err[1]);
}

// ---- signals and keys

struct SignalCase {
  int signal;
  int status;

  friend std::ostream& operator<<(std::ostream& stream, const SignalCase& test) { return stream << test.signal; }
};

class CliSignals : public Cli, public ::testing::WithParamInterface<SignalCase> {};

TEST_P(CliSignals, FinishAPlayableFileWithTheFramesReported) {
  Program program({"run", kEndless, "--realtime", "-y", "-o", out(), "--vf", "gblur"});
  std::this_thread::sleep_for(seconds(2));
  program.signal(GetParam().signal);
  const auto asked = Clock::now();
  const Result result = program.wait();
  EXPECT_LT(Clock::now() - asked, seconds(5) + kHang / 10);
  EXPECT_EQ(result.status, GetParam().status) << result.err;
  EXPECT_GT(reported_frames(result.err), 0) << result.err;
  EXPECT_EQ(decoded_frames(out()), reported_frames(result.err)) << result.err;
}

INSTANTIATE_TEST_SUITE_P(Signals, CliSignals,
                         ::testing::Values(SignalCase{SIGINT, 130}, SignalCase{SIGTERM, 143}, SignalCase{SIGHUP, 129}),
                         [](const auto& test) { return fmt::format("signal_{}", test.param.signal); });

TEST_F(Cli, ASignalSentTwiceAtOnceIsOne) {
  // timeout(1) sends its signal to the program and to the process group.
  const int status = std::system(fmt::format("timeout -s INT 2 {} run {} --realtime -y --quiet -o {} </dev/null",
                                             FRAMELANE_PROGRAM, kEndless, out())
                                     .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 124);  // timeout's own
  EXPECT_GT(decoded_frames(out()), 0);
}

TEST_F(Cli, ASecondSignalStopsAtOnce) {
  // Thirty-two large and slow frames are in flight: a clean end takes seconds.
  Program program({"run", "lavfi:testsrc2=size=1920x1080:rate=25", "-y", "-o", out(), "--slots", "32", "--vf",
                   "gblur=sigma=90,gblur=sigma=90"});
  std::this_thread::sleep_for(seconds(3));
  program.signal(SIGINT);
  std::this_thread::sleep_for(milliseconds(300));
  program.signal(SIGINT);
  const auto asked = Clock::now();
  const Result result = program.wait();
  EXPECT_LT(Clock::now() - asked, seconds(2));
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_EQ(reported_frames(result.err), -1) << result.err;
}

TEST_F(Cli, ASignalWhileTheInputIsBeingOpenedEndsTheProgram) {
  const std::string fifo = path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int writer = open(fifo.c_str(), O_RDWR | O_CLOEXEC);  // open, and silent
  Program program({"run", "-", "-y", "-o", out()}, fifo);
  std::this_thread::sleep_for(seconds(1));
  program.signal(SIGTERM);
  const Result result = program.wait(seconds(20));
  close(writer);
  EXPECT_EQ(result.status, 143) << result.err;
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(Cli, KeysWorkOnATerminalAndItIsPutBack) {
  int terminal = -1;
  const int pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    setenv("TERM", "xterm", 1);
    execl(FRAMELANE_PROGRAM, FRAMELANE_PROGRAM, "run", kEndless, "--realtime", "-y", "-o", out().c_str(), "--vf",
          "hflip,gblur", static_cast<char*>(nullptr));
    _exit(126);
  }
  std::string screen;
  const auto read_for = [&](milliseconds time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end) {
      pollfd output{terminal, POLLIN, 0};
      if (poll(&output, 1, 50) != 1) continue;
      std::array<char, 4096> buffer{};
      const ssize_t size = read(terminal, buffer.data(), buffer.size());
      if (size <= 0) return;
      screen.append(buffer.data(), static_cast<std::size_t>(size));
    }
  };
  const auto press = [&](const std::string& keys) {
    ASSERT_EQ(write(terminal, keys.data(), keys.size()), ssize_t(keys.size()));
  };
  read_for(milliseconds(1500));
  termios settings{};
  ASSERT_EQ(tcgetattr(terminal, &settings), 0);
  EXPECT_EQ(settings.c_lflag & (ICANON | ECHO), 0U);
  press("s?2");
  read_for(milliseconds(1000));
  EXPECT_TRUE(contains(screen, "x sync")) << screen;
  EXPECT_TRUE(contains(screen, "finish the frames in flight")) << screen;
  EXPECT_TRUE(contains(screen, "filter 2 off: gblur")) << screen;
  press("q");
  read_for(seconds(10));
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << screen;
  EXPECT_EQ(decoded_frames(out()), reported_frames(screen)) << screen;
  ASSERT_EQ(tcgetattr(terminal, &settings), 0);
  EXPECT_NE(settings.c_lflag & (ICANON | ECHO), 0U);
  close(terminal);
}

TEST_F(Cli, APausedRunStopsOnASignal) {
  int terminal = -1;
  const int pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    execl(FRAMELANE_PROGRAM, FRAMELANE_PROGRAM, "run", kEndless, "--realtime", "--quiet", "-y", "-o", out().c_str(),
          static_cast<char*>(nullptr));
    _exit(126);
  }
  std::this_thread::sleep_for(seconds(1));
  ASSERT_EQ(write(terminal, " ", 1), 1);
  std::this_thread::sleep_for(seconds(1));
  kill(pid, SIGINT);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_GT(decoded_frames(out()), 0);
  close(terminal);
}

// ---- no display

TEST_F(Cli, AMissingDisplayIsANoteWhereThereIsAnOutput) {
  unsetenv("DISPLAY");
  unsetenv("WAYLAND_DISPLAY");
  const Result beside = framelane({"run", path("clip.mp4"), "-y", "-o", out(), "--preview"});
  const Result alone = framelane({"run", path("clip.mp4"), "--preview"});
  if (contains(beside.err, "without SDL2")) {
    EXPECT_EQ(beside.status, 2);
    EXPECT_EQ(alone.status, 2);
    return;
  }
  EXPECT_EQ(beside.status, 0) << beside.err;
  EXPECT_TRUE(contains(beside.err, "without a preview")) << beside.err;
  EXPECT_EQ(decoded_frames(out()), 50);
  EXPECT_EQ(alone.status, 5) << alone.err;
}

}  // namespace
}  // namespace framelane
