#include "app/progress.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

namespace framelane {
namespace {

std::map<std::string, std::string> parse_keys(const std::string& text) {
  std::map<std::string, std::string> keys;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    EXPECT_NE(equals, std::string::npos) << line;
    EXPECT_TRUE(keys.emplace(line.substr(0, equals), line.substr(equals + 1)).second) << line;
  }
  return keys;
}

ProgressFacts halfway() {
  ProgressFacts facts;
  facts.frames = 120;
  facts.fps = 59.84;
  facts.position_s = 4.8;
  facts.elapsed_s = 2.0;
  facts.fraction = 0.42;
  facts.bytes = 60'000;
  facts.dropped = 3;
  facts.slots = 6;
  return facts;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Progress, LineShowsWhereARunIs) {
  EXPECT_EQ(progress_line(halfway()),
            "frame=  120 fps=59.8 time=00:00:04.80 speed=2.4x  42% ETA 0:03 multistream drop=3");
}

TEST(Progress, LineOfAnUnknownLengthHasNoPercentage) {
  ProgressFacts facts = halfway();
  facts.fraction.reset();
  facts.paused = true;
  EXPECT_EQ(progress_line(facts), "frame=  120 fps=59.8 time=00:00:04.80 speed=2.4x multistream drop=3 paused");
}

TEST(Progress, LineFitsIntoEightyColumns) {
  ProgressFacts facts = halfway();
  facts.frames = 123456;
  facts.fps = 1234;
  facts.position_s = 4000;
  facts.dropped = 0;
  EXPECT_LT(progress_line(facts).size(), 80U) << progress_line(facts);
}

TEST(Progress, NothingYetIsNeitherNanNorInfinite) {
  const ProgressFacts nothing;
  for (const std::string& text : {progress_line(nothing), progress_keys(nothing, false)}) {
    EXPECT_FALSE(contains(text, "nan")) << text;
    EXPECT_FALSE(contains(text, "inf")) << text;
    EXPECT_FALSE(contains(text, "-")) << text;
  }
}

TEST(Progress, LineNeverClaimsAllBeforeTheEnd) {
  ProgressFacts facts = halfway();
  facts.fraction = 0.9999;
  EXPECT_TRUE(contains(progress_line(facts), " 99%"));
}

TEST(Progress, KeysAreFfmpegsWithOursBeside) {
  const auto keys = parse_keys(progress_keys(halfway(), false));
  EXPECT_EQ(keys.at("frame"), "120");
  EXPECT_EQ(keys.at("fps"), "60.00");
  EXPECT_EQ(keys.at("total_size"), "60000");
  EXPECT_EQ(keys.at("bitrate"), " 100.0kbits/s");
  EXPECT_EQ(keys.at("out_time_us"), "4800000");
  EXPECT_EQ(keys.at("out_time"), "00:00:04.800000");
  EXPECT_EQ(keys.at("dup_frames"), "0");
  EXPECT_EQ(keys.at("drop_frames"), "3");
  EXPECT_EQ(keys.at("speed"), "2.4x");
  EXPECT_EQ(keys.at("mode"), "multistream");
  EXPECT_EQ(keys.at("slots"), "6");
  EXPECT_EQ(keys.at("gpu_busy"), "N/A");
  EXPECT_EQ(keys.at("progress"), "continue");
}

TEST(Progress, KeysEndWithProgressWhichReadersWaitFor) {
  ProgressFacts facts = halfway();
  facts.gpu_busy = 0.875;
  facts.bytes.reset();
  const std::string text = progress_keys(facts, true);
  EXPECT_TRUE(text.ends_with("\nprogress=end\n")) << text;
  const auto keys = parse_keys(text);
  EXPECT_EQ(keys.at("gpu_busy"), "0.875");
  EXPECT_EQ(keys.at("total_size"), "N/A");
  EXPECT_EQ(keys.at("bitrate"), "N/A");
}

TEST(Progress, FractionIsOfWhateverEndsFirstAndWithinBounds) {
  EXPECT_FALSE(done_fraction(5, std::nullopt, 10, std::nullopt).has_value());
  EXPECT_FALSE(done_fraction(5, 0.0, 10, std::nullopt).has_value());
  EXPECT_DOUBLE_EQ(*done_fraction(5, 20.0, 10, std::nullopt), 0.25);
  EXPECT_DOUBLE_EQ(*done_fraction(5, 20.0, 50, 100), 0.5);
  EXPECT_DOUBLE_EQ(*done_fraction(5, std::nullopt, 50, 100), 0.5);
  EXPECT_DOUBLE_EQ(*done_fraction(50, 20.0, 10, std::nullopt), 1.0);  // a container that lies
  EXPECT_DOUBLE_EQ(*done_fraction(-1, 20.0, 0, std::nullopt), 0.0);
}

TEST(Progress, ClockTimeRoundsAndCarries) {
  EXPECT_EQ(clock_time(0, 2), "00:00:00.00");
  EXPECT_EQ(clock_time(59.999, 2), "00:01:00.00");
  EXPECT_EQ(clock_time(3723.5, 6), "01:02:03.500000");
  EXPECT_EQ(clock_time(360000, 0), "100:00:00");
  EXPECT_EQ(clock_time(-3, 0), "00:00:00");
}

TEST(Console, ControlCharactersCannotBreakALine) {
  EXPECT_EQ(one_line("new\nline\x1b[2J\ttab\x7f"), "new\\nline\\x1b[2J\\ttab\\x7f");
  EXPECT_EQ(one_line("файл é"), "файл é");
}

}  // namespace
}  // namespace framelane
