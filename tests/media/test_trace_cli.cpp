// --trace of the built program: a file or standard output, and where it must not go.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/stamped_clip.h"
#include "tests/trace_rules.h"

namespace framelane::testing {
namespace {

constexpr int kFrames = 30;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TraceCli : public ::testing::Test {
 protected:
  void SetUp() override { make_stamped_clip(file("in.mp4"), kFrames, 160, 120); }

  std::string file(const std::string& name) const { return folder_.file(name); }
  /** Runs `framelane COMMAND in.mp4 …`; its standard output and error go to files out and err. Returns its status. */
  int framelane(const char* command, const std::string& arguments) const {
    const int status = std::system(fmt::format("{} {} {} {} </dev/null >{} 2>{}", FRAMELANE_PROGRAM, command,
                                               file("in.mp4"), arguments, file("out"), file("err"))
                                       .c_str());
    return WEXITSTATUS(status);
  }
  int run(const std::string& arguments) const { return framelane("run", arguments); }
  void expect_refused(const std::string& arguments, int status, const std::string& told) const {
    EXPECT_EQ(run(arguments), status);
    const std::string message = content(file("err"));
    EXPECT_THAT(message, ::testing::HasSubstr(told));
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
    EXPECT_EQ(content(file("out")), "");
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(TraceCli, WritesATimelineThatKeepsTheRulesThroughModeSwitches) {
  std::ofstream(file("trace.json")) << "an older, longer file, which is replaced" << std::string(1'000'000, ' ') << "x";
  ASSERT_EQ(run("-o null --vf gblur --switch-at 0:sync --switch-at 10:async --switch-at 20:multistream --trace " +
                file("trace.json")),
            0)
      << content(file("err"));
  const auto trace = nlohmann::json::parse(content(file("trace.json")));
  EXPECT_THAT(trace_breaches(trace), ::testing::IsEmpty());
  EXPECT_THAT(engine_overlaps(trace), ::testing::IsEmpty());
  EXPECT_EQ(trace["otherData"]["filters"], "gblur");
  EXPECT_EQ(trace["otherData"]["mode"], "sync, async, multistream");
  std::set<int> frames;
  for (const auto& event : events_of(trace, "f")) frames.insert(event["id"].get<int>());
  EXPECT_EQ(frames.size(), std::size_t{kFrames});
}

TEST_F(TraceCli, GoesToStandardOutputForADash) {
  ASSERT_EQ(run("-o null --trace -"), 0) << content(file("err"));
  EXPECT_THAT(trace_breaches(nlohmann::json::parse(content(file("out")))), ::testing::IsEmpty());
}

TEST_F(TraceCli, OfAComparisonHasEachModesTimeline) {
  ASSERT_EQ(
      framelane("compare", "--vf gblur --modes sync,multistream --rounds 2 --frames 20 --trace " + file("trace.json")),
      0)
      << content(file("err"));
  const auto trace = nlohmann::json::parse(content(file("trace.json")));
  EXPECT_THAT(trace_breaches(trace), ::testing::IsEmpty());
  EXPECT_THAT(engine_overlaps(trace), ::testing::IsEmpty());
  std::set<std::string> encoders;
  for (const auto& event : events_of(trace, "f")) encoders.insert(track_of(trace, event));
  EXPECT_THAT(encoders, ::testing::ElementsAre("multistream: host/encoder", "sync: host/encoder"));
}

TEST_F(TraceCli, GoesNeitherOverTheVideoNorToAnotherReport) {
  const std::string clip = content(file("in.mp4"));
  expect_refused("-o null --trace " + file("in.mp4"), 2, "--trace");
  EXPECT_EQ(content(file("in.mp4")), clip);
  expect_refused("-o - --format nut --trace -", 2, "--trace");
  expect_refused("-o null --stats - --trace -", 2, "--trace -: that is where --stats goes");
  expect_refused(fmt::format("-o null --progress {0} --trace {0}", file("x.json")), 2, "that is where --trace goes");
  expect_refused("-o null --trace " + file("nowhere/trace.json"), 4, "nowhere");
}

}  // namespace
}  // namespace framelane::testing
