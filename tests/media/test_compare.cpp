// `framelane compare`: its runs on real clips, and the built program from outside.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/compare_report.h"
#include "app/compare_runs.h"
#include "app/measure_options.h"
#include "app/options.h"
#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "tests/media/media_fixture.h"

namespace framelane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MediaTest;
using ::testing::Not;

// ---- plans and turns

TEST(ComparePlan, OfALongInputIsWhatWasWished) {
  EXPECT_EQ(fitted({10, 100, 6}, 116), (FramePlan{10, 100, 6}));
  EXPECT_EQ(fitted({10, 100, 6}, 5000), (FramePlan{10, 100, 6}));
}

TEST(ComparePlan, OfAShorterInputCountsFewerFrames) {
  EXPECT_EQ(fitted({10, 100, 6}, 76), (FramePlan{10, 60, 6}));
  EXPECT_EQ(fitted({10, 100, 6}, 46), (FramePlan{10, 30, 6}));
}

TEST(ComparePlan, OfATooShortInputCountsNearlyAll) {
  EXPECT_EQ(fitted({10, 100, 6}, 45), (FramePlan{10, 35, 0}));
  EXPECT_EQ(fitted({10, 100, 6}, 8), (FramePlan{2, 6, 0}));
  EXPECT_EQ(fitted({10, 100, 6}, 1), (FramePlan{0, 1, 0}));
}

TEST(ComparePlan, FewFramesThatWereAskedForAreEnough) {
  EXPECT_EQ(fitted({10, 5, 6}, 21), (FramePlan{10, 5, 6}));
  EXPECT_EQ(fitted({4, 5, 6}, 12), (FramePlan{3, 5, 0}));
}

TEST(ComparePlan, EachModeComesFirstInItsTurn) {
  const std::vector<Mode> modes{Mode::kSync, Mode::kAsync, Mode::kMultistream};
  EXPECT_THAT(turned(modes, 0), ElementsAre(Mode::kSync, Mode::kAsync, Mode::kMultistream));
  EXPECT_THAT(turned(modes, 1), ElementsAre(Mode::kAsync, Mode::kMultistream, Mode::kSync));
  EXPECT_THAT(turned(modes, 2), ElementsAre(Mode::kMultistream, Mode::kSync, Mode::kAsync));
  EXPECT_EQ(turned(modes, 3), modes);
}

// ---- options

CompareOptions parse(std::vector<std::string> words) {
  words.insert(words.begin(), "compare");
  return std::get<CompareOptions>(parse_command_line(words).command);
}

TEST(CompareOptions, ReachTheirPlaces) {
  const CompareOptions options = parse({"in.mp4",
                                        "--vf",
                                        "gblur",
                                        "--vf",
                                        "hflip",
                                        "--modes",
                                        "multistream,sync",
                                        "--rounds",
                                        "7",
                                        "--frames",
                                        "40",
                                        "--start",
                                        "1:30",
                                        "--slots",
                                        "3",
                                        "--device",
                                        "cpu",
                                        "--decoder-threads",
                                        "1",
                                        "--cuda-graphs",
                                        "off",
                                        "-o",
                                        "out.mkv",
                                        "--crf",
                                        "18",
                                        "--preset",
                                        "fast",
                                        "--video-codec",
                                        "libx265",
                                        "-y",
                                        "--json",
                                        "j.json",
                                        "--report",
                                        "r.html",
                                        "--trace",
                                        "t.json"});
  EXPECT_EQ(options.input.url, "in.mp4");
  EXPECT_EQ(options.chain, "gblur,hflip");
  EXPECT_THAT(options.modes, ElementsAre(Mode::kMultistream, Mode::kSync));
  EXPECT_EQ(options.rounds, 7);
  EXPECT_EQ(options.frames, 40);
  EXPECT_EQ(options.input.start_s, 90);
  EXPECT_EQ(options.slots, 3);
  EXPECT_EQ(options.device, "cpu");
  EXPECT_EQ(options.input.decoder_threads, 1);
  EXPECT_EQ(options.cuda_graphs, CudaGraphs::kOff);
  EXPECT_EQ(options.output.url, "out.mkv");
  EXPECT_EQ(options.output.crf, 18);
  EXPECT_EQ(options.output.preset, "fast");
  EXPECT_EQ(options.output.video_codec, "libx265");
  EXPECT_EQ(options.output.overwrite, Overwrite::kAllow);
  EXPECT_EQ(options.json, "j.json");
  EXPECT_EQ(options.report, "r.html");
  EXPECT_EQ(options.trace, "t.json");
}

TEST(CompareOptions, ByDefaultAllModesIntoNothing) {
  const CompareOptions options = parse({"-i", "in.mp4"});
  EXPECT_THAT(options.modes, ElementsAre(Mode::kSync, Mode::kAsync, Mode::kMultistream));
  EXPECT_EQ(options.output.url, "null");
  EXPECT_EQ(options.rounds, 5);
  EXPECT_FALSE(options.frames);
}

TEST(CompareOptions, WrongOnesAreUsageErrors) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"a.mp4", "b.mp4"},
                                             {"in.mp4", "--modes", "fast"},
                                             {"in.mp4", "--modes", "sync,sync"},
                                             {"in.mp4", "--modes", ""},
                                             {"in.mp4", "--modes", "sync,,async"},
                                             {"in.mp4", "--rounds", "0"},
                                             {"in.mp4", "--frames", "0"},
                                             {"in.mp4", "--cuda-graphs", "maybe"},
                                             {"in.mp4", "-o", "-", "--format", "nut"},
                                             {"in.mp4", "-y", "-n"},
                                             {"in.mp4", "--realtime"}}) {
    EXPECT_THROW(parse(words), UsageError) << fmt::format("{}", fmt::join(words, " "));
  }
}

TEST(CompareReport, TheDateIsThatOfSourceDateEpochWhereThereIsOne) {
  setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
  EXPECT_EQ(report_date(), "2023-11-14T22:13:20Z");  // date -u -d @1700000000
  unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_GT(report_date(), "2024");
}

// ---- runs

class CompareRuns : public MediaTest {
 protected:
  void make_clip(const std::string& size, int frames) {
    ffmpeg(
        fmt::format("-f lavfi -i testsrc2=s={}:r=25 -frames:v {} -c:v libx264 -preset ultrafast -pix_fmt yuv420p "
                    "clip.mp4",
                    size, frames));
  }

  CompareSetup setup(const std::string& chain, int rounds, std::int64_t frames) const {
    CompareSetup setup;
    setup.pipeline.input = input("clip.mp4");
    setup.pipeline.output.url = "null";
    setup.pipeline.filters = parse_filter_chain(chain);
    setup.pipeline.device = create_cpu_device();
    setup.modes = {kModes.begin(), kModes.end()};
    setup.rounds = rounds;
    setup.frames = frames;
    return setup;
  }
};

std::vector<Mode> modes_of(const std::vector<ModeRound>& runs) {
  std::vector<Mode> modes;
  for (const ModeRound& run : runs) modes.push_back(run.mode);
  return modes;
}

TEST_F(CompareRuns, ModesTakeTurnsRoundByRound) {
  make_clip("160x120", 60);
  const EndToEnd block = compare_end_to_end(setup("negate", 2, 5));
  EXPECT_EQ(block.rounds, 2);
  EXPECT_THAT(modes_of(block.runs), ElementsAre(Mode::kSync, Mode::kAsync, Mode::kMultistream, Mode::kAsync,
                                                Mode::kMultistream, Mode::kSync));
  for (std::size_t i = 1; i < block.runs.size(); ++i) {
    EXPECT_LT(block.runs[i - 1].records.back().left(), block.runs[i].records.back()[Stage::kKernels].begin);
  }
  for (const ModeRound& run : block.runs) {
    EXPECT_TRUE(std::ranges::all_of(run.records, [&](const FrameRecord& record) { return record.mode == run.mode; }));
  }
}

TEST_F(CompareRuns, EachCountsTheSameFramesBehindTheSameWarmUp) {
  make_clip("160x120", 90);
  CompareSetup two = setup("negate", 2, 40);
  two.pipeline.input.decoder_threads = 2;
  two.pipeline.slots = 5;
  const EndToEnd block = compare_end_to_end(two);
  EXPECT_EQ(block.slots, 5);
  EXPECT_EQ(block.plan, (FramePlan{2 + 5, 40, 5}));
  EXPECT_FALSE(block.too_short);
  for (const ModeRound& run : block.runs) {
    ASSERT_EQ(run.records.size(), 52U);
    for (std::size_t i = 0; i < run.records.size(); ++i) {
      EXPECT_EQ(run.records[i].frame, static_cast<std::int64_t>(i));
      EXPECT_NEAR(run.records[i].pts_s, static_cast<double>(i) / 25, 1e-9);
    }
    EXPECT_GT(run.cpu_s, 0);
  }
}

TEST_F(CompareRuns, FindsANumberOfFramesThatTheInputHas) {
  make_clip("160x120", 120);  // all of them, or fewer where the machine is slow
  CompareSetup free = setup("negate", 1, 1);
  free.frames = {};
  const EndToEnd block = compare_end_to_end(free);
  EXPECT_LE(block.plan.total(), 120);
  EXPECT_GT(block.plan.tail, 0);
  ASSERT_EQ(block.runs.size(), kModes.size());
  for (const ModeRound& run : block.runs) {
    EXPECT_EQ(static_cast<std::int64_t>(run.records.size()), block.plan.total());
  }
}

TEST_F(CompareRuns, FewFramesThatWereAskedForAreTooShort) {
  make_clip("160x120", 90);
  const EndToEnd block = compare_end_to_end(setup("negate", 1, 5));
  EXPECT_EQ(block.plan.counted, 5);
  EXPECT_TRUE(block.too_short);
}

TEST_F(CompareRuns, TransportCountsEnoughFramesWhereFewerWereAskedFor) {
  make_clip("160x120", 60);
  const CompareSetup one = setup("negate", 1, 1);
  const CompareBlock block = compare_transport(one, compare_end_to_end(one).input_format);
  for (const ModeRound& run : block.runs) {
    EXPECT_EQ(run.records.size() - run.warm_up_frames - run.tail_frames, 30U);
  }
}

TEST_F(CompareRuns, AStopKeepsWholeRoundsOnly) {
  make_clip("160x120", 60);
  CompareSetup stopped = setup("negate", 50, 5);
  int runs = 0;
  stopped.progress = [&](const std::string& what) { runs += what.find("round 2 of") != std::string::npos ? 1 : 0; };
  stopped.stop = [&] { return runs > 0; };
  const CompareBlock transport = compare_transport(stopped, compare_end_to_end(setup("negate", 1, 5)).input_format);
  EXPECT_EQ(transport.rounds, 1);
  EXPECT_EQ(transport.runs.size(), kModes.size());
}

TEST_F(CompareRuns, TransportSendsTheFramesAloneAndDecodesNone) {
  make_clip("160x120", 60);
  const CompareSetup two = setup("hflip,crop=100:80", 2, 50);
  const EndToEnd end_to_end = compare_end_to_end(two);
  EXPECT_EQ(end_to_end.output_format.width, 100);
  const CompareBlock block = compare_transport(two, end_to_end.input_format);
  EXPECT_EQ(block.rounds, 2);
  EXPECT_THAT(modes_of(block.runs), ElementsAre(Mode::kSync, Mode::kAsync, Mode::kMultistream, Mode::kAsync,
                                                Mode::kMultistream, Mode::kSync));
  for (const ModeRound& run : block.runs) {
    EXPECT_EQ(run.records.size() - run.warm_up_frames - run.tail_frames, 50U);
    for (const FrameRecord& record : run.records) {
      EXPECT_FALSE(record[Stage::kDecode].happened());
      EXPECT_TRUE(record[Stage::kKernels].happened());
    }
  }
}

/** Alone on the machine: see CMakeLists.txt. */
using CompareRunsTimed = CompareRuns;

TEST_F(CompareRunsTimed, SyncsStagesAddUpToItsFrameTime) {
  make_clip("1280x720", 60);
  CompareSetup sync = setup("gblur=sigma=3,unsharp=7:7", 5, 15);
  sync.modes = {Mode::kSync};
  sync.pipeline.slots = 2;
  std::vector<double> ratios;
  for (const ModeRound& run : compare_end_to_end(sync).runs) {
    const ModeTable table = tabulate({run});
    ratios.push_back(table.serial_ms / table.modes[0].frame_ms);
  }
  std::ranges::sort(ratios);  // the middle one: another program may have taken the cores away for one or two
  EXPECT_NEAR(ratios[2], 1, 0.03) << fmt::format("{:.3f}", fmt::join(ratios, " "));
}

// ---- the program

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/** What a program writes to its standard error as to a terminal: there `compare` tells how far it is. */
class Terminal {
 public:
  Terminal() : fd_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (fd_ < 0 || grantpt(fd_) != 0 || unlockpt(fd_) != 0) throw std::runtime_error("no pseudo-terminal");
    other_end_ = ptsname(fd_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { close(fd_); }

  /** The device to open for writing. */
  const std::string& other_end() const { return other_end_; }
  /** False where the program ends before. */
  bool wait_for(const std::string& text) {
    while (shown_.find(text) == std::string::npos) {
      if (!read_more()) return false;
    }
    return true;
  }
  void read_to_end() {
    while (read_more()) {
    }
  }
  const std::string& shown() const { return shown_; }

 private:
  /** False when the last writer has closed its end. */
  bool read_more() {
    char text[4096];
    const ssize_t count = read(fd_, text, sizeof text);
    if (count > 0) shown_.append(text, static_cast<std::size_t>(count));
    return count > 0;
  }

  const int fd_;
  std::string other_end_;
  std::string shown_;
};

class CompareCli : public CompareRuns {
 protected:
  void SetUp() override {
    CompareRuns::SetUp();
    if (!IsSkipped()) make_clip("160x120", 60);
  }
  /** In the test's folder. */
  Outcome compare(const std::string& arguments, const std::string& before = "") const {
    const std::string command =
        fmt::format("cd '{}' && {} '{}' compare {} >out.txt 2>err.txt", file(""), before, FRAMELANE_PROGRAM, arguments);
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(file("out.txt")),
            content(file("err.txt"))};
  }
  /** In the background, its standard error to `terminal`. Returns when it has that open. */
  pid_t start(const std::string& arguments, const std::string& terminal) const {
    const int error_fd = open(terminal.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    const std::string command =
        fmt::format("cd '{}' && TERM=xterm exec '{}' compare {} >out.txt", file(""), FRAMELANE_PROGRAM, arguments);
    const pid_t child = fork();
    if (child == 0) {
      dup2(error_fd, STDERR_FILENO);
      execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    close(error_fd);
    return child;
  }
};

constexpr const char* kQuick = "--device cpu --rounds 1 --frames 8";

TEST_F(CompareCli, PrintsBothTablesWithAllRows) {
  const Outcome outcome = compare(fmt::format("clip.mp4 --vf gblur=sigma=2,negate {}", kQuick));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::StartsWith("clip.mp4 | 160x120 yuv420p | gblur=sigma=2,negate | CPU"));
  const std::size_t second = outcome.out.find("\nTransport and filters alone");
  ASSERT_NE(second, std::string::npos) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("\nEnd to end"));
  EXPECT_THAT(outcome.out, HasSubstr("1 round of 8 frames a mode"));
  for (const std::string& block : {outcome.out.substr(0, second), outcome.out.substr(second)}) {
    for (const char* row :
         {"\ndecode ", "\npreprocess ", "\nH2D ", "\nkernels ", "\nD2H ", "\nencode ", "\nframe time ", "\nfps ",
          "\nCPU time ", "\nfilters busy ", "\nspeed-up ", "\ntimes the ", "\nbounds: serial "}) {
      EXPECT_THAT(block, HasSubstr(row));
    }
    EXPECT_THAT(block, HasSubstr(" this machine"));
  }
}

TEST_F(CompareCli, SaysThatDecodersWorkAheadUnlessTheyHaveOneThread) {
  constexpr const char* kNote = "decode ahead in every mode";
  EXPECT_THAT(compare(fmt::format("clip.mp4 {}", kQuick)).out, HasSubstr(kNote));
  EXPECT_THAT(compare(fmt::format("clip.mp4 {} --decoder-threads 1", kQuick)).out, Not(HasSubstr(kNote)));
  EXPECT_THAT(compare(fmt::format("lavfi:testsrc2=s=160x120 {}", kQuick)).out, Not(HasSubstr(kNote)));
}

TEST_F(CompareCli, FewFramesThatWereAskedForAreWarnedOf) {
  EXPECT_THAT(compare(fmt::format("clip.mp4 {}", kQuick)).err, HasSubstr("warning: --frames 8: too few"));
  EXPECT_THAT(compare("clip.mp4 --device cpu --rounds 1 --frames 30").err, Not(HasSubstr("warning")));
}

TEST_F(CompareCli, OnTheCpuKernelsAloneAreThoseOfTransport) {
  const Outcome outcome = compare("clip.mp4 --vf gblur=sigma=3 --device cpu --rounds 1 --frames 30 --json -");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["bound_by"], "kernels");
  // Either they take longer than all CPU time spread over the cores, or the cores are the bound.
  const auto& bounds = json["bounds"];
  EXPECT_GT(bounds["cores_ms"], 0);
  EXPECT_GE(bounds["ideal_ms"], bounds["cores_ms"]);
  if (bounds["ideal_ms"] != bounds["cores_ms"]) {
    EXPECT_LE(bounds["ideal_ms"], json["transport"]["bounds"]["ideal_ms"]);
  }
}

TEST_F(CompareCli, JsonHasTheDocumentedKeys) {
  const Outcome outcome = compare(fmt::format("clip.mp4 --vf 'crop=100:80,negate' {} --json -", kQuick));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);  // and nothing else
  for (const char* key :
       {"framelane", "input", "filters", "device", "backend", "slots", "cuda_graphs", "input_format", "output_format",
        "output", "rounds", "frames_per_round", "modes", "bounds", "bound_by", "advice", "transport", "versions"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["input"], "clip.mp4");
  EXPECT_EQ(json["filters"], (std::vector<std::string>{"crop=100:80", "negate"}));
  EXPECT_EQ(json["backend"], "cpu");
  EXPECT_EQ(json["input_format"]["width"], 160);
  EXPECT_EQ(json["output_format"]["width"], 100);
  EXPECT_EQ(json["rounds"], 1);
  EXPECT_EQ(json["frames_per_round"], 8);
  for (const auto& block : {json, json["transport"]}) {
    EXPECT_EQ(block["modes"].size(), 3U);
    for (const auto& mode : block["modes"]) {
      EXPECT_GT(mode["frame_ms"], 0);
      EXPECT_NEAR(mode["fps"].get<double>() * mode["frame_ms"].get<double>(), 1000, 1e-6);
      EXPECT_GT(mode["stages"]["kernels_ms"], 0);
    }
    EXPECT_GT(block["bounds"]["serial_ms"], 0);
    EXPECT_TRUE(block["bounds"].contains("cores_ms"));
    EXPECT_TRUE(block["advice"].is_string());
  }
  EXPECT_GT(json["transport"]["bounds"]["ideal_ms"], 0);
}

TEST_F(CompareCli, WritesJsonPageAndTraceBesideTheTable) {
  const Outcome outcome =
      compare(fmt::format("clip.mp4 --modes sync,multistream {} --json j --report r --trace t", kQuick));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("End to end"));
  EXPECT_EQ(nlohmann::json::parse(content(file("j")))["modes"].size(), 2U);
  EXPECT_THAT(content(file("r")), ::testing::StartsWith("<!doctype html>"));
  const auto trace = nlohmann::json::parse(content(file("t")));
  std::map<std::string, int> kernels;  // spans of each mode
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == "kernels") ++kernels[event["args"]["mode"].get<std::string>()];
  }
  EXPECT_EQ(kernels, (std::map<std::string, int>{{"multistream", 8}, {"sync", 8}}));
}

TEST_F(CompareCli, WithAnOutputEncodingIsPartOfIt) {
  const Outcome outcome = compare(fmt::format("clip.mp4 {} -o out.mp4 --crf 30 --json j", kQuick));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(nlohmann::json::parse(content(file("j")))["modes"]["multistream"]["stages"]["encode_ms"], 0.01);
  EXPECT_EQ(stream("out.mp4", "v:0", "codec_name"), "h264");
  EXPECT_EQ(compare(fmt::format("clip.mp4 {} -o out.mp4", kQuick)).status, 4);
  EXPECT_EQ(compare(fmt::format("clip.mp4 {} -y -o out.mp4", kQuick)).status, 0);
}

TEST_F(CompareCli, AnImageWorksAndIsCalledTooShort) {
  ffmpeg("-f lavfi -i testsrc2=s=320x240 -frames:v 1 image.png");
  const Outcome outcome = compare("image.png --vf gblur --device cpu --rounds 2 --json -");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("too short for a steady figure"));
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["frames_per_round"], 1);
}

TEST_F(CompareCli, AShortClipWorksAndIsCalledTooShort) {
  make_clip("160x120", 12);
  const Outcome outcome = compare("clip.mp4 --device cpu --rounds 1");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("clip.mp4: too short for a steady figure: 9 frames are counted"));
}

TEST_F(CompareCli, ErrorsHaveTheirStatusAndOneLine) {
  const auto expect = [&](const std::string& arguments, int status, const std::string& told,
                          const std::string& before = "") {
    const Outcome outcome = compare(arguments, before);
    EXPECT_EQ(outcome.status, status) << arguments << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(told));
    EXPECT_EQ(outcome.out, "");
  };
  expect("missing.mp4", 3, "missing.mp4");
  expect("clip.mp4 --modes fast", 2, "unknown mode 'fast'");
  expect("clip.mp4 --vf gblurr", 2, "gblur");
  expect("clip.mp4 -o -", 2, "-o -");
  expect("clip.mp4 --report nowhere/r.html", 4, "--report nowhere/r.html");
  expect("clip.mp4 --trace clip.mp4", 2, "--trace clip.mp4");
  expect("clip.mp4 --json same --report same", 2, "--report same");
  expect("clip.mp4 -o ./new.mp4 --json new.mp4", 2, "--json new.mp4: that is where the video goes");
  expect("clip.mp4 --json x --report ./x", 2, "--report ./x: that is where --json goes");
  expect("clip.mp4 --json pipe:1 --trace -", 2, "--trace -: that is where --json goes");
  expect("clip.mp4 --json .", 4, "--json .: Is a directory");
  expect("clip.mp4 --json clip.mp4/x", 4, "--json clip.mp4/x: Not a directory");
  for (const char* option : {"--crf 20", "--preset fast", "--video-codec libx264"}) {
    expect(fmt::format("clip.mp4 {}", option), 2, "nothing is encoded without -o FILE");
  }
  expect("-", 2, "reads its input again", "cat clip.mp4 |");
}

TEST_F(CompareCli, Pipe1IsStandardOutputInPlaceOfTheTable) {
  const Outcome outcome = compare(fmt::format("clip.mp4 {} --json pipe:1", kQuick));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(nlohmann::json::accept(outcome.out)) << outcome.out;
}

TEST_F(CompareCli, WarnsOfGraphsThatTheDeviceLacks) {
  EXPECT_THAT(compare(fmt::format("clip.mp4 {} --cuda-graphs on", kQuick)).err, HasSubstr("--cuda-graphs on: CPU"));
  EXPECT_THAT(compare(fmt::format("clip.mp4 {} --cuda-graphs off", kQuick)).err, Not(HasSubstr("--cuda-graphs")));
}

TEST_F(CompareCli, CtrlCEndsItWithWhatIsComplete) {
  Terminal terminal;
  const pid_t program = start("lavfi:testsrc2=s=160x120 --device cpu --rounds 1000 --frames 5", terminal.other_end());
  EXPECT_TRUE(terminal.wait_for("end to end: round 2 of"));  // so that one round is whole
  kill(program, SIGINT);
  terminal.read_to_end();
  int status = 0;
  waitpid(program, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130) << terminal.shown();
  EXPECT_THAT(content(file("out.txt")), HasSubstr("End to end"));
}

}  // namespace
}  // namespace framelane
