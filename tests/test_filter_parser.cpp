#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "kernels/filter_registry.h"

namespace framelane::testing {
namespace {

FilterUse parse_one(const std::string& text) {
  std::vector<FilterUse> uses = parse_filter_chain(text);
  if (uses.size() != 1) throw std::logic_error("not one filter: " + text);
  return std::move(uses[0]);
}

std::string text_of(const std::string& filter, const std::string& parameter) {
  return parse_one(filter).values.text(parameter);
}

double number_of(const std::string& filter, const std::string& parameter) {
  return parse_one(filter).values.number(parameter);
}

/** The message with which `text` is refused. */
std::string refusal(const std::string& text) {
  try {
    parse_filter_chain(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_refused(const std::string& text, const std::vector<std::string>& words) {
  const std::string message = refusal(text);
  for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << text << ": " << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

/** A file that goes with its owner. */
class ValueFile {
 public:
  explicit ValueFile(const std::string& content)
      : path_(std::filesystem::temp_directory_path() / ("framelane-value-" + std::to_string(std::random_device{}()))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ValueFile(const ValueFile&) = delete;
  ValueFile& operator=(const ValueFile&) = delete;
  ~ValueFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(FilterParser, SplitsAChain) {
  const std::vector<FilterUse> uses = parse_filter_chain(" gblur=2 , eq=contrast=1.1:saturation=1.3,\n hflip ");
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[0].descriptor->name, "gblur");
  EXPECT_EQ(uses[1].descriptor->name, "eq");
  EXPECT_EQ(uses[2].descriptor->name, "hflip");
  EXPECT_EQ(uses[0].text, "gblur=2");
  EXPECT_EQ(uses[1].text, "eq=contrast=1.1:saturation=1.3");
  EXPECT_EQ(uses[1].values.number("saturation"), 1.3);
}

TEST(FilterParser, MakesNothingOfNothing) {
  for (const char* text : {"", "  \n", "null", "copy", "null,copy"}) {
    EXPECT_TRUE(parse_filter_chain(text).empty()) << text;
  }
  EXPECT_EQ(parse_filter_chain("null,hflip,copy").size(), 1U);
}

TEST(FilterParser, TakesPositionalValuesInDeclaredOrderThenNamedOnes) {
  EXPECT_EQ(number_of("gblur=3:2:7:1.5", "sigma"), 3);
  EXPECT_EQ(number_of("gblur=3:2:7:1.5", "steps"), 2);
  EXPECT_EQ(number_of("gblur=3:2:7:1.5", "sigmaV"), 1.5);
  EXPECT_EQ(number_of("gblur=3:sigmaV=4", "sigmaV"), 4);
  EXPECT_EQ(number_of("gblur=sigma=3:sigma=5", "sigma"), 5);  // the last one wins, as in ffmpeg
  EXPECT_EQ(number_of("gblur= 3 : sigmaV = 4 ", "sigmaV"), 4);
  EXPECT_EQ(number_of("gblur=3:", "sigma"), 3);
}

TEST(FilterParser, TellsGivenValuesFromDefaults) {
  const FilterUse use = parse_one("gblur=sigma=0.5");
  EXPECT_TRUE(use.values.is_set("sigma"));
  EXPECT_FALSE(use.values.is_set("sigmaV"));
  EXPECT_EQ(use.values.number("sigmaV"), -1);
}

TEST(FilterParser, KnowsSecondNames) { EXPECT_EQ(text_of("scale=width=640:height=-2", "h"), "-2"); }

TEST(FilterParser, TakesInstanceNames) {
  EXPECT_EQ(number_of("gblur@soft=sigma=2", "sigma"), 2);
  EXPECT_EQ(parse_one("hflip@again").descriptor->name, "hflip");
}

// The expected texts are what ffmpeg 5.1 made of the same: -vf "metadata=mode=add:key=k:value=…,metadata=mode=print".
TEST(FilterParser, TakesOffQuotesAndEscapesAtBothLevels) {
  const auto file = [](const std::string& written) { return text_of("lut3d=file=" + written, "file"); };
  EXPECT_EQ(file("a.cube"), "a.cube");
  EXPECT_EQ(file("'a,b.cube'"), "a,b.cube");
  EXPECT_EQ(file("a\\,b.cube"), "a,b.cube");
  EXPECT_EQ(file("'a[1];b'"), "a[1];b");
  EXPECT_EQ(file("C\\\\:/a.cube"), "C:/a.cube");
  EXPECT_EQ(file("'C\\:/a.cube'"), "C:/a.cube");
  EXPECT_EQ(file("'it\\'\\''s'"), "it's");
  EXPECT_EQ(file("\\'a:b\\'"), "a:b");
  EXPECT_EQ(file("a\\\\\\\\b"), "a\\b");
  EXPECT_EQ(file("\\\\ a\\\\ "), " a\\");
  EXPECT_EQ(file("a b "), "a b");
  EXPECT_EQ(file("x=y"), "x=y");
}

TEST(FilterParser, TakesAValueWithAnEqualsSignForPositionalWhereItIsNoKey) {
  EXPECT_EQ(text_of("scale='if(gte(iw,2),iw,2)':-2", "w"), "if(gte(iw,2),iw,2)");
  EXPECT_EQ(text_of("crop=(in_w==2)*2", "w"), "(in_w==2)*2");
}

TEST(FilterParser, ReadsNumbersAsFfmpegWritesThem) {
  EXPECT_EQ(number_of("sobel=scale=2.5", "scale"), 2.5);
  EXPECT_EQ(number_of("sobel=scale=1e2", "scale"), 100);
  EXPECT_EQ(number_of("sobel=scale=4k", "scale"), 4000);
  EXPECT_EQ(number_of("sobel=scale=4Ki", "scale"), 4096);
  EXPECT_EQ(number_of("sobel=scale=500m", "scale"), 0.5);
  EXPECT_EQ(number_of("sobel=planes=0xF", "planes"), 15);
  EXPECT_EQ(number_of("sobel=scale=1+2*3", "scale"), 7);
  EXPECT_DOUBLE_EQ(number_of("sobel=scale=PI/4", "scale"), 0.78539816339744831);
  EXPECT_EQ(number_of("sobel=delta=-8", "delta"), -8);
  EXPECT_EQ(number_of("sobel=scale=max", "scale"), 65535);
  EXPECT_EQ(number_of("hqdn3d=1e30", "luma_spatial"), 1e30);
  EXPECT_EQ(text_of("sobel=scale=2.50", "scale"), "2.5");
}

TEST(FilterParser, ReadsBooleansAndChoices) {
  for (const char* on : {"1", "true", "yes", "on", "y"})
    EXPECT_EQ(text_of(std::string("crop=exact=") + on, "exact"), "1");
  for (const char* off : {"0", "false", "no", "off", "n"}) {
    EXPECT_EQ(text_of(std::string("crop=exact=") + off, "exact"), "0");
  }
  expect_refused("crop=exact=auto", {"'crop'", "'exact'", "'auto'", "0 or 1"});
  EXPECT_EQ(text_of("transpose=clock", "dir"), "clock");
  expect_refused("transpose=clokc", {"'transpose'", "'dir'", "'clokc'", "cclock_flip, clock, cclock"});
}

TEST(FilterParser, KeepsTheTimelineExpressionApart) {
  const FilterUse use = parse_one("gblur=sigma=3:enable='between(t,2,5)'");
  EXPECT_EQ(use.enable, "between(t,2,5)");
  EXPECT_EQ(use.values.number("sigma"), 3);
  EXPECT_TRUE(parse_one("gblur=3").enable.empty());
  EXPECT_EQ(parse_one("hflip=enable=gt(n\\,3)").enable, "gt(n,3)");
  expect_refused("gblur=enable=", {"'gblur'", "'enable'"});
}

TEST(FilterParser, ReadsAValueFromAFile) {
  const ValueFile weights("1 2,3:'4'\n");
  EXPECT_EQ(text_of("tmix=/weights=" + weights.path(), "weights"), "1 2,3:'4'");
  const ValueFile sigma("2.5\r\n");
  EXPECT_EQ(number_of("gblur=/sigma=" + sigma.path() + ":planes=1", "sigma"), 2.5);
  const ValueFile wrong("wide");
  expect_refused("gblur=/sigma=" + wrong.path(), {"'gblur'", "'sigma'", "wide"});
  const ValueFile condition("lt(t,3)");
  EXPECT_EQ(parse_one("gblur=/enable=" + condition.path()).enable, "lt(t,3)");
  expect_refused("gblur=/sigma=/nonexistent/file", {"'gblur'", "'sigma'", "/nonexistent/file"});
  expect_refused("gblur=/sigma=/", {"'gblur'", "'sigma'", "\"/\""});
  const ValueFile long_one(std::string((1 << 20) + 1, '1'));
  expect_refused("gblur=/sigma=" + long_one.path(), {"'gblur'", "too long"});
}

TEST(FilterParser, RefusesWithFfmpegsWordsForARange) {
  expect_refused("gblur=sigma=2000", {"'gblur'", "Value 2000.000000 for parameter 'sigma' out of range [0 - 1024]"});
  expect_refused("gblur=-1", {"Value -1.000000 for parameter 'sigma' out of range [0 - 1024]"});
  expect_refused("gblur=inf", {"out of range"});
  expect_refused("gblur=nan", {"out of range"});
  expect_refused("gblur=0/0", {"out of range"});
  expect_refused("gblur=planes=1.5", {"Value 1.500000 for parameter 'planes'", "whole"});
  expect_refused("unsharp=lx=4", {"'unsharp'", "'lx'", "odd", "[3 - 23]"});
  expect_refused("gblur=planes=99999999999999999999", {"out of range"});
}

TEST(FilterParser, NamesWhatIsUnknownAndTheNearestKnownName) {
  EXPECT_EQ(refusal("glur=2").substr(0, 46), "No such filter: 'glur' (did you mean 'gblur'?)");
  EXPECT_EQ(refusal("gblur=sigm=2"), "filter 'gblur' has no option 'sigm' (did you mean 'sigma'?)");
  expect_refused("hflip=x=1", {"'hflip'", "no options", "'x'"});
  expect_refused("hflip=1", {"'hflip'", "'1'"});
  expect_refused("gblur=1:2:3:4:5", {"'gblur'", "4 values at most", "'5'"});
  expect_refused("gblur=sigma=2:3", {"'gblur'", "'3'", "named"});
  expect_refused("gblur=sigma=", {"'gblur'", "'sigma'", "needs a value"});
  expect_refused("gblur=:2", {"'gblur'", "'sigma'", "needs a value"});
  expect_refused("gblur=sigma=wide", {"'gblur'", "'sigma'", "'wide'"});
  expect_refused("gblur,", {"name is missing"});
  expect_refused(",gblur", {"name is missing"});
  expect_refused("null=1", {"'null'"});
  expect_refused("scale=if(gt(iw,2),2,iw)", {"No such filter", "'…'"});
}

TEST(FilterParser, RefusesGraphs) {
  expect_refused("[in]gblur", {"[in]", "labels"});
  expect_refused("gblur[out]", {"[out]", "labels"});
  expect_refused("gblur=2[out]", {"[out]", "labels"});
  expect_refused("gblur]", {"labels"});
  expect_refused("gblur;hflip", {"';'"});
  expect_refused("gblur=sigma='2", {"'", "not closed"});
}

TEST(FilterParser, BindsDefaultsAndSettings) {
  const FilterDescriptor& gblur = *find_filter("gblur");
  EXPECT_EQ(bind_parameters(gblur, "").number("sigma"), 0.5);
  EXPECT_EQ(bind_parameters(gblur, "4:planes=1").integer("planes"), 1);
  EXPECT_THROW(bind_parameters(gblur, "enable=1"), UsageError);
}

/** Texts of pieces that the grammar is made of, in any order. */
std::string random_text(std::mt19937& random) {
  static const std::string pieces[] = {
      "gblur",    "eq",    "scale", "tmix",   "lut3d",  "unsharp", "hflip", "transpose", "null", "=",         "=",
      ":",        ":",     ",",     ";",      "[",      "]",       "'",     "\\",        "/",    "@",         " ",
      "\n",       "sigma", "w",     "enable", "planes", "clock",   "1",     "0x",        "-",    "+",         "1e999",
      "nan",      "inf",   "(",     ")",      "if(",    "PI",      "k",     "Ki",        "\xff", "\x01",      "t",
      "between(", "1 1",   "^",     "*",      "?",      "\"",      "&&",    "<",         "_",    "9999999999"};
  std::string text;
  for (std::uint32_t n = random() % 14; n > 0; --n) text += pieces[random() % std::size(pieces)];
  return text;
}

TEST(FilterParser, AnswersGarbageWithAUsageErrorAlone) {
  std::mt19937 random(1);
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 30000; ++i) {
    const std::string text = random_text(random);
    try {
      parse_filter_chain(text);
      ++accepted;
    } catch (const UsageError& error) {
      ++refused;
      EXPECT_STRNE(error.what(), "");
    } catch (const std::exception& error) {
      ADD_FAILURE() << '"' << text << "\": " << error.what();
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace framelane::testing
