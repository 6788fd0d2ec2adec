// tuned.json: what is stored comes back, other entries stay, damage loses nothing, and failures are told in one line.
#include "app/tuned_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/options.h"
#include "kernels/errors.h"
#include "tests/media/media_fixture.h"

namespace framelane::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string canonical(const std::string& chain) { return canonical_chain(parse_filter_chain(chain)); }

TunedEntry entry(const std::string& chain, int slots) {
  return {{"NVIDIA H200 (cuda:0)", "1920x1080 yuv420p", chain},
          {Mode::kAsync, slots, 12, true},
          812.5,
          1.25,
          "2026-12-01T12:00:00Z",
          "0.1.0"};
}

/** The message of the OutputError that `body` throws; empty where it throws none. */
std::string output_error(const std::function<void()>& body) {
  try {
    body();
  } catch (const OutputError& error) {
    return error.what();
  }
  return {};
}

class TunedStoreFile : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("framelane/tuned.json"); }
  TunedStore store() const { return TunedStore(path()); }
  void write(const std::string& text) const {
    fs::create_directories(folder_.file("framelane"));
    std::ofstream(path(), std::ios::binary) << text;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& file : fs::directory_iterator(folder_.file("framelane"))) found.push_back(file.path().filename());
    return found;
  }

  TemporaryFolder folder_;
};

TEST_F(TunedStoreFile, WhatIsStoredComesBack) {
  store().store(entry("gblur=sigma=2", 4));
  const auto found = store().find(entry("gblur=sigma=2", 4).key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->settings, (RunSettings{Mode::kAsync, 4, 12, true}));
  EXPECT_EQ(found->fps, 812.5);
  EXPECT_EQ(found->gain, 1.25);
  EXPECT_EQ(found->date, "2026-12-01T12:00:00Z");
  EXPECT_EQ(found->version, "0.1.0");
}

TEST_F(TunedStoreFile, EachPartOfTheKeyCounts) {
  store().store(entry("hflip", 4));
  for (const auto part : {&TuningKey::device, &TuningKey::frame, &TuningKey::chain}) {
    TuningKey key = entry("hflip", 4).key;
    key.*part += "0";
    EXPECT_FALSE(store().find(key));
  }
}

TEST_F(TunedStoreFile, OneEntryIsReplacedAndTheOthersStay) {
  store().store(entry("hflip", 1));
  store().store(entry("vflip", 2));
  store().store(entry("hflip", 3));
  EXPECT_EQ(store().find(entry("hflip", 0).key)->settings.slots, 3);
  EXPECT_EQ(store().find(entry("vflip", 0).key)->settings.slots, 2);
  EXPECT_EQ(nlohmann::json::parse(content(path()))["entries"].size(), 2);
}

TEST_F(TunedStoreFile, EntriesOfOtherVersionsStayAsTheyAre) {
  write(
      R"({"version": 1, "note": "mine", "entries": [{"device": 7}, 5, {"device": "x", "frame": "y", "chain": "z"}]})");
  store().store(entry("hflip", 3));
  const auto json = nlohmann::json::parse(content(path()));
  EXPECT_EQ(json["note"], "mine");
  ASSERT_EQ(json["entries"].size(), 4);
  EXPECT_EQ(json["entries"][0]["device"], 7);
  EXPECT_EQ(json["entries"][1], 5);
}

TEST_F(TunedStoreFile, LeavesNoFilesBehind) {
  store().store(entry("hflip", 1));
  store().store(entry("hflip", 2));
  EXPECT_EQ(names(), std::vector<std::string>{"tuned.json"});
}

TEST_F(TunedStoreFile, ALinkStaysALink) {
  fs::create_directories(folder_.file("framelane"));
  fs::create_symlink(folder_.file("real.json"), path());
  std::ofstream(folder_.file("real.json")) << R"({"version": 1, "entries": []})";
  store().store(entry("hflip", 1));
  EXPECT_TRUE(fs::is_symlink(path()));
  EXPECT_THAT(content(folder_.file("real.json")), HasSubstr("hflip"));
}

TEST_F(TunedStoreFile, NothingIsFoundWithoutAFile) {
  const LogRecorder log;
  EXPECT_FALSE(store().find(entry("hflip", 1).key));
  EXPECT_EQ(log.lines(), "");
}

class DamagedTunedStore : public TunedStoreFile, public ::testing::WithParamInterface<const char*> {};

TEST_P(DamagedTunedStore, IsToldOfAndNotUsed) {
  write(GetParam());
  const LogRecorder log;
  EXPECT_FALSE(store().find(entry("hflip", 1).key));
  EXPECT_TRUE(log.contains(path()));
  EXPECT_EQ(content(path()), GetParam());
}

TEST_P(DamagedTunedStore, IsKeptAsBadWhenItIsReplaced) {
  write(GetParam());
  const LogRecorder log;
  store().store(entry("hflip", 5));
  EXPECT_TRUE(log.contains("tuned.json.bad"));
  EXPECT_EQ(content(path() + ".bad"), GetParam());
  EXPECT_EQ(store().find(entry("hflip", 1).key)->settings.slots, 5);
}

INSTANTIATE_TEST_SUITE_P(All, DamagedTunedStore,
                         ::testing::Values("", "{\"version\": 1, \"entries\": [", "[]", "\xff\xfe{}",
                                           "{\"entries\": []}", "{\"version\": 1, \"entries\": {}}",
                                           "{\"version\": 2, \"entries\": []}"));

TEST_F(TunedStoreFile, AnEntryWithWrongValuesIsToldOfAndNotUsed) {
  store().store(entry("hflip", 4));
  const std::string whole = content(path());
  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& text :
       {damaged("\"slots\": 4", "\"slots\": 65"), damaged("\"slots\": 4", "\"slots\": 0"),
        damaged("\"slots\": 4", "\"slots\": \"4\""), damaged("\"async\"", "\"asink\""),
        damaged("\"cuda_graphs\"", "\"graphs\""), damaged("\"decoder_threads\": 12", "\"decoder_threads\": -1")}) {
    write(text);
    const LogRecorder log;
    EXPECT_FALSE(store().find(entry("hflip", 4).key)) << text;
    EXPECT_TRUE(log.contains("an entry is not understood")) << text;
  }
}

// ---- where it cannot be written

TEST_F(TunedStoreFile, AFolderThatCannotBeMadeIsAnOutputErrorThatNamesTheFile) {
  std::ofstream(folder_.file("framelane")) << "a file in the folder's place";
  EXPECT_THAT(output_error([&] { store().prepare(); }), AllOf(HasSubstr(path()), Not(HasSubstr("\n"))));
  EXPECT_THAT(output_error([&] { store().store(entry("hflip", 1)); }), HasSubstr(path()));
}

TEST_F(TunedStoreFile, AnUnwritableFolderIsAnOutputError) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::create_directories(folder_.file("framelane"));
  fs::permissions(folder_.file("framelane"), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THROW(store().prepare(), OutputError);
  EXPECT_THROW(store().store(entry("hflip", 1)), OutputError);
  fs::permissions(folder_.file("framelane"), fs::perms::owner_all);
}

/** Sets an environment variable, and puts the old value back. */
class Variable {
 public:
  Variable(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    setenv(name_.c_str(), value, 1);
  }
  ~Variable() { old_ ? setenv(name_.c_str(), old_->c_str(), 1) : unsetenv(name_.c_str()); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> old_;
};

TEST(TunedStoreOfUser, FollowsTheXdgSpecification) {
  const Variable home("HOME", "/home/y");
  {
    const Variable config("XDG_CONFIG_HOME", "/x/config");
    EXPECT_EQ(TunedStore::of_user().file(), "/x/config/framelane/tuned.json");
  }
  for (const char* ignored : {"", "relative/config"}) {
    const Variable config("XDG_CONFIG_HOME", ignored);
    EXPECT_EQ(TunedStore::of_user().file(), "/home/y/.config/framelane/tuned.json");
  }
  const Variable no_config("XDG_CONFIG_HOME", "");
  const Variable no_home("HOME", "");
  EXPECT_THROW(TunedStore::of_user(), OutputError);
}

// ---- chains

TEST(CanonicalChain, SpellingDoesNotMatter) {
  EXPECT_EQ(canonical("gblur=2"), "gblur=sigma=2");
  EXPECT_EQ(canonical("gblur=sigma=2.0"), "gblur=sigma=2");
  EXPECT_EQ(canonical("hflip,vflip"), "hflip,vflip");
  EXPECT_EQ(canonical("eq=saturation=1.5:contrast=1.25"), canonical("eq=contrast=1.25:saturation=1.5"));
}

TEST(CanonicalChain, DefaultsAreLeftOut) {
  EXPECT_EQ(canonical("eq=contrast=1:saturation=1.5"), "eq=saturation=1.5");
  EXPECT_EQ(canonical(""), "");
  EXPECT_EQ(canonical("null"), "");
}

TEST(CanonicalChain, DifferentWorkIsDifferentText) {
  EXPECT_NE(canonical("gblur=2"), canonical("gblur=2.5"));
  EXPECT_NE(canonical("hflip,vflip"), canonical("vflip,hflip"));
  EXPECT_NE(canonical("gblur=2"), canonical("gblur=2:enable='between(t,2,5)'"));
}

// ---- inputs

bool reopens(const std::string& url) {
  MediaInputOptions input;
  input.url = url;
  return can_be_reopened(input);
}

TEST(Reopening, FilesAndGraphsCanBeOpenedTwice) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("a.mp4")) << "x";
  EXPECT_TRUE(reopens(folder.file("a.mp4")));
  EXPECT_TRUE(reopens("lavfi:testsrc2"));
  EXPECT_TRUE(reopens("https://example.org/a.mp4"));
}

TEST(Reopening, PipesAndStreamsCannot) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  for (const std::string& url : {std::string("-"), folder.file("fifo"), std::string("rtsp://example.org/live"),
                                 std::string("udp://127.0.0.1:5000"), std::string("srt://127.0.0.1:5000")}) {
    EXPECT_FALSE(reopens(url)) << url;
  }
}

// ---- the command line

GivenSettings given_by(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"run", "in.mp4", "-o", "null", "--tuned"});
  const auto run = std::get<RunOptions>(parse_command_line(arguments).command);
  EXPECT_TRUE(run.tuned);
  return run.given;
}

TEST(TunedOptions, OptionsThatWereGivenAreKnownWhateverTheirValue) {
  const GivenSettings none = given_by({});
  EXPECT_FALSE(none.mode || none.slots || none.decoder_threads || none.cuda_graphs);
  EXPECT_TRUE(given_by({"--mode", "multistream"}).mode);
  EXPECT_TRUE(given_by({"--slots", "6"}).slots);
  EXPECT_TRUE(given_by({"--decoder-threads", "0"}).decoder_threads);
  EXPECT_TRUE(given_by({"--cuda-graphs", "auto"}).cuda_graphs);
  const Variable mode("FRAMELANE_MODE", "sync");
  EXPECT_TRUE(given_by({}).mode);
}

TEST(TunedOptions, TuneTakesItsOwn) {
  const auto tune =
      std::get<TuneOptions>(parse_command_line({"tune", "in.mp4", "--vf", "hflip", "--vf", "vflip", "--budget", "1:30",
                                                "--sweep", "--dry-run", "--device", "cpu", "--json", "-"})
                                .command);
  EXPECT_EQ(tune.input.url, "in.mp4");
  EXPECT_EQ(tune.chain, "hflip,vflip");
  EXPECT_EQ(tune.budget_s, 90);
  EXPECT_TRUE(tune.sweep && tune.dry_run);
  EXPECT_EQ(tune.device, "cpu");
  EXPECT_EQ(tune.json, "-");
  EXPECT_THROW(parse_command_line({"tune"}), UsageError);
  EXPECT_THROW(parse_command_line({"tune", "in.mp4", "--budget", "0"}), UsageError);
}

}  // namespace
}  // namespace framelane::testing
