// `framelane tune` and `run --tuned` of the built program, on the CPU device: it ends in time, stores, and what is
// stored is used.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/stamped_clip.h"

namespace framelane::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr const char* kClip = "lavfi:testsrc2=size=160x120:rate=25:duration=8";

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Tune : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string store() const { return file("config/framelane/tuned.json"); }
  std::string out() const { return content(file("out")); }
  std::string err() const { return content(file("err")); }

  /** The program with a configuration folder of its own; its streams go to files out and err. Returns its status. */
  int framelane(const std::string& arguments, const std::string& input = "/dev/null") const {
    return framelane_in(fmt::format("XDG_CONFIG_HOME='{}'", file("config")), arguments, input);
  }
  int framelane_in(const std::string& environment, const std::string& arguments,
                   const std::string& input = "/dev/null") const {
    const std::string command =
        fmt::format("env -u FRAMELANE_MODE -u FRAMELANE_SLOTS {} FRAMELANE_DEVICE=cpu '{}' {} <{} >'{}' 2>'{}'",
                    environment, FRAMELANE_PROGRAM, arguments, input, file("out"), file("err"));
    return WEXITSTATUS(std::system(command.c_str()));
  }
  int tune(const std::string& arguments = "") const {
    return framelane(fmt::format("tune '{}' --vf hflip --budget 3 {}", kClip, arguments));
  }
  /** Statistics of `run --tuned`. */
  Json run_tuned(const std::string& arguments = "") const {
    EXPECT_EQ(framelane(fmt::format("run '{}' -o null --vf hflip --tuned --stats - {}", kClip, arguments)), 0) << err();
    return Json::parse(out(), nullptr, false);
  }
  /** The one stored entry, changed to settings that no default is. */
  Json store_async_3_slots() const {
    Json stored = Json::parse(content(store()));
    stored["entries"][0]["mode"] = "async";
    stored["entries"][0]["slots"] = 3;
    stored["entries"][0]["decoder_threads"] = 1;
    std::ofstream(store()) << stored.dump();
    return stored["entries"][0];
  }

  TemporaryFolder folder_;
};

TEST_F(Tune, EndsInTimeAndRunsUseWhatItStored) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(tune(), 0) << err();
  // Pilots, the last run and the start of the program come on top of the budget.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_THAT(out(), HasSubstr("choice: "));
  EXPECT_THAT(out(), HasSubstr(store()));

  const Json stored = Json::parse(content(store()))["entries"];
  ASSERT_EQ(stored.size(), 1);
  EXPECT_THAT(stored[0]["device"].get<std::string>(), HasSubstr("CPU"));
  EXPECT_EQ(stored[0]["frame"], "160x120 yuv420p");
  EXPECT_EQ(stored[0]["chain"], "hflip");
  EXPECT_EQ(stored[0]["cuda_graphs"], false);
  EXPECT_GT(stored[0]["fps"], 0);

  const Json as_found = run_tuned();
  EXPECT_EQ(as_found["mode"], stored[0]["mode"]);
  EXPECT_EQ(as_found["slots"], stored[0]["slots"]);

  store_async_3_slots();
  const Json as_changed = run_tuned();
  EXPECT_EQ(as_changed["mode"], "async");
  EXPECT_EQ(as_changed["slots"], 3);
  EXPECT_THAT(err(), HasSubstr("async, 3 slots (tuned)"));

  const Json as_given = run_tuned("--slots 5");
  EXPECT_EQ(as_given["slots"], 5);
  EXPECT_EQ(as_given["mode"], "async");
  EXPECT_EQ(run_tuned("--mode multistream")["mode"], "multistream");
}

TEST_F(Tune, JsonGoesToStandardOutputAndADryRunStoresNothing) {
  ASSERT_EQ(tune("--dry-run --decoder-threads 1 --json -"), 0) << err();
  const Json json = Json::parse(out());
  EXPECT_FALSE(fs::exists(file("config")));
  EXPECT_EQ(json["stored"], nullptr);
  EXPECT_EQ(json["backend"], "cpu");
  EXPECT_EQ(json["chain"], "hflip");
  EXPECT_EQ(json["budget_s"], 3);
  EXPECT_EQ(json["choice"]["decoder_threads"], 1);
  ASSERT_FALSE(json["groups"].empty());
  std::size_t runs = 0;
  for (const Json& group : json["groups"]) {
    EXPECT_EQ(std::ranges::count(group["candidates"], true, [](const Json& each) { return each["won"].get<bool>(); }),
              1);
    for (const Json& candidate : group["candidates"]) {
      runs += candidate["runs"].get<std::size_t>();
      EXPECT_EQ(candidate["decoder_threads"], 1);
    }
  }
  // A round that the budget ends is not counted.
  EXPECT_LE(runs, json["runs"].get<std::size_t>());
}

TEST_F(Tune, RunsWithoutAnEntryNameTheCommandThatWouldMakeIt) {
  const Json stats = run_tuned();
  EXPECT_THAT(err(), HasSubstr(fmt::format("framelane tune {} --vf hflip", kClip)));
  EXPECT_THAT(err(), Not(HasSubstr("(tuned)")));
  EXPECT_EQ(stats["mode"], "multistream");
}

TEST_F(Tune, RunsOfStandardInputGoOnWithTheDefaults) {
  make_stamped_clip(file("in.mkv"), 10, 160, 120);
  ASSERT_EQ(framelane("run - -o null --tuned", file("in.mkv")), 0) << err();
  EXPECT_THAT(err(), HasSubstr("no tuned settings for live input or standard input"));
  EXPECT_THAT(err(), HasSubstr("10 frames in"));
}

TEST_F(Tune, RunsWithoutAHomeGoOnWithTheDefaultsAndTuneDoesNot) {
  make_stamped_clip(file("in.mkv"), 10, 160, 120);
  const std::string run = fmt::format("run '{}' -o null --tuned", file("in.mkv"));
  ASSERT_EQ(framelane_in("-u HOME -u XDG_CONFIG_HOME", run), 0) << err();
  EXPECT_THAT(err(), HasSubstr("set XDG_CONFIG_HOME or HOME: going on with the defaults"));
  EXPECT_THAT(err(), HasSubstr("10 frames in"));
  EXPECT_EQ(framelane_in("-u HOME -u XDG_CONFIG_HOME", fmt::format("tune '{}'", kClip)), 4);
}

TEST_F(Tune, RunsGoOnWithTheDefaultsWhereTheStoreCannotBeRead) {
  make_stamped_clip(file("in.mkv"), 10, 160, 120);
  fs::create_directories(file("config/framelane"));
  fs::create_symlink("tuned.json", store());  // to itself, which stops root, too
  ASSERT_EQ(framelane(fmt::format("run '{}' -o null --tuned", file("in.mkv"))), 0) << err();
  EXPECT_THAT(err(), HasSubstr(store()));
  EXPECT_THAT(err(), HasSubstr("going on with the defaults"));
  EXPECT_THAT(err(), HasSubstr("10 frames in"));
}

TEST_F(Tune, AStoppedSweepLeavesWhatTheSearchFound) {
  const std::string command = fmt::format(
      "echo $$; exec env FRAMELANE_DEVICE=cpu XDG_CONFIG_HOME='{}' '{}' tune '{}' --budget 2 --sweep --json '{}' "
      "</dev/null 2>&1 >'{}'",
      file("config"), FRAMELANE_PROGRAM, kClip, file("tune.json"), file("out"));
  std::FILE* program = popen(command.c_str(), "r");
  ASSERT_NE(program, nullptr);
  std::array<char, 1000> line{};
  ASSERT_NE(std::fgets(line.data(), line.size(), program), nullptr);
  const auto id = static_cast<pid_t>(std::stol(line.data()));
  bool sweeping = false;
  while (std::fgets(line.data(), line.size(), program) != nullptr) {
    if (sweeping || std::string(line.data()).find("sweep: ") == std::string::npos) continue;
    sweeping = true;
    kill(id, SIGINT);
  }
  const int status = pclose(program);
  EXPECT_TRUE(sweeping);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_THAT(out(), HasSubstr("choice: "));
  const Json json = Json::parse(content(file("tune.json")));
  EXPECT_EQ(json["sweep"], nullptr);
  const Json stored = Json::parse(content(store()))["entries"];
  ASSERT_EQ(stored.size(), 1);
  EXPECT_EQ(stored[0]["fps"], json["search"]["fps"]);
  EXPECT_EQ(stored[0]["slots"], json["search"]["choice"]["slots"]);
}

TEST_F(Tune, WhatCannotBeTunedIsOneLine) {
  const auto expect_one_line = [&](int expected_status, const std::string& told) {
    const std::string message = err();
    EXPECT_EQ(std::ranges::count(message, '\n'), 1) << message;
    EXPECT_THAT(message, HasSubstr(told)) << expected_status;
    EXPECT_EQ(out(), "");
  };
  EXPECT_EQ(framelane("tune - --vf hflip"), 2);
  expect_one_line(2, "again and again");
  EXPECT_EQ(framelane("tune /nowhere/clip.mp4 --vf hflip"), 3);
  expect_one_line(3, "/nowhere/clip.mp4");
  EXPECT_EQ(framelane(fmt::format("tune '{}' --vf nosuchfilter", kClip)), 2);
  expect_one_line(2, "nosuchfilter");
  std::ofstream(file("config")) << "a file in the folder's place";
  EXPECT_EQ(tune(), 4);
  expect_one_line(4, store());
}

TEST_F(Tune, AFewFramesAreTooFew) {
  EXPECT_EQ(framelane("tune 'lavfi:testsrc2=size=160x120:rate=25:duration=0.4' --vf hflip --quiet"), 3);
  EXPECT_THAT(err(), HasSubstr("10 frames are too few"));
}

}  // namespace
}  // namespace framelane::testing
