// Expression against ffmpeg's own evaluator and against the documentation of libavutil's eval.
#include "kernels/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kernels/errors.h"
#include "tests/plane_fixture.h"

namespace framelane::testing {
namespace {

double value_of(const std::string& text) { return Expression(text, {}).evaluate({}); }

std::string message_of(const std::string& text, const std::vector<std::string>& variables = {}) {
  try {
    static_cast<void>(Expression(text, variables));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

struct Case {
  const char* text;
  double value;
};

TEST(Expression, HasTheFunctionsOfFfmpegsEvaluator) {
  const Case cases[] = {
      {"abs(-3)", 3},
      {"acos(0)", std::numbers::pi / 2},
      {"asin(1)", std::numbers::pi / 2},
      {"atan(1)", std::numbers::pi / 4},
      {"atan2(1,-1)", std::numbers::pi * 3 / 4},
      {"between(2,2,5)", 1},
      {"between(5.1,2,5)", 0},
      {"bitand(12,10)", 8},
      {"bitor(12,10)", 14},
      {"ceil(-1.5)", -1},
      {"clip(7,2,5)", 5},
      {"clip(1,2,5)", 2},
      {"cos(PI)", -1},
      {"cosh(0)", 1},
      {"eq(2,2)+eq(2,3)", 1},
      {"exp(1)", std::numbers::e},
      {"floor(-1.5)", -2},
      {"gauss(0)", 1 / std::sqrt(2 * std::numbers::pi)},
      {"gcd(12,18)", 6},
      {"gt(3,2)+gt(2,2)", 1},
      {"gte(3,2)+gte(2,2)", 2},
      {"hypot(3,4)", 5},
      {"if(1,2)", 2},
      {"if(0,2)", 0},
      {"if(0,2,3)", 3},
      {"ifnot(0,2,3)", 2},
      {"ifnot(1,2)", 0},
      {"isinf(1/0)", 1},
      {"isnan(0/0)", 1},
      {"lerp(10,20,0.25)", 12.5},
      {"log(E)", 1},
      {"lt(1,2)+lt(2,2)", 1},
      {"lte(1,2)+lte(2,2)", 2},
      {"max(2,7)", 7},
      {"min(2,7)", 2},
      {"mod(-1,3)", 2},
      {"mod(7.5,2)", 1.5},
      {"not(0)+not(5)", 1},
      {"pow(2,10)", 1024},
      {"round(2.5)", 3},
      {"round(-2.5)", -3},
      {"sgn(-4)", -1},
      {"sin(PI/2)", 1},
      {"sinh(0)", 0},
      {"sqrt(81)", 9},
      {"squish(0)", 0.5},
      {"tan(0)", 0},
      {"tanh(0)", 0},
      {"trunc(-1.7)", -1},
      {"PHI", (1 + std::sqrt(5)) / 2},
  };
  for (const Case& c : cases) EXPECT_NEAR(value_of(c.text), c.value, 1e-12) << c.text;
}

TEST(Expression, FollowsTheUsualOrderOfOperations) {
  EXPECT_EQ(value_of("1+2*3^2"), 19);
  EXPECT_EQ(value_of("-2^2"), -4);
  EXPECT_EQ(value_of("(1+2)*-3"), -9);
  EXPECT_EQ(value_of("7-2-1"), 4);
  EXPECT_EQ(value_of("1e3/8"), 125);
}

TEST(Expression, TakesSuffixesForLargeNumbers) {
  EXPECT_EQ(value_of("2k"), 2000);
  EXPECT_EQ(value_of("1.5M"), 1.5e6);
  EXPECT_EQ(value_of("1Ki+1Mi"), 1024 + 1024 * 1024);
}

TEST(Expression, AgreesWithFfmpegsEvaluator) {
  FRAMELANE_REQUIRE_FFMPEG("geq");
  // geq writes the value of an expression into every pixel.
  const HostFrame black(make_format(pixel_format("gray16"), 4, 3));
  for (const std::string text :
       {"100*PI", "mod(-7,5)*1000", "1000*squish(0.1)", "gauss(0.5)*10000", "if(between(W,3,5),600,7)", "W/H*3000",
        "ifnot(gt(W,H),1,2)", "hypot(W,H)*1000", "3000-2000-W", "round(2.5)*100+trunc(-2.5)+10*floor(2.9)",
        "gcd(W*90,H*90)", "bitand(1000,777)+bitor(8,1)", "clip(W,1,2)+lerp(100,200,0.31)*10", "sgn(-W)+100+exp(H)",
        "atan2(W,H)*1000", "cosh(2)*100+sinh(2)*10+tanh(1)"}) {
    const HostFrame expected = run_ffmpeg("geq=lum='" + text + "'", {black}, "gray16le", black.format()).front();
    const double value = Expression(text, {"W", "H"}).evaluate({4, 3});
    EXPECT_NEAR(value, expected.sample(0, 0, 0), 1) << text;  // geq stores whole numbers
  }
}

TEST(Expression, ReadsVariablesInTheirOrder) {
  const Expression expression("iw-10*ih+if(gt(a,1),100,0)", {"iw", "ih", "a"});
  EXPECT_EQ(expression.evaluate({7, 2, 0.5}), -13);
  EXPECT_EQ(expression.evaluate({7, 2, 1.5}), 87);
}

TEST(Expression, StaysUsableAfterAMove) {
  Expression first("2*t", {"t"});
  Expression second(std::move(first));
  EXPECT_EQ(second.evaluate({21}), 42);
  Expression third("t", {"t"});
  third = std::move(second);
  EXPECT_EQ(third.evaluate({5}), 10);
}

TEST(Expression, LetsNaNThrough) {
  EXPECT_TRUE(std::isnan(Expression("ow*2", {"ow"}).evaluate({std::nan("")})));
  EXPECT_TRUE(std::isnan(value_of("clip(1,5,2)")));
  EXPECT_TRUE(std::isnan(value_of("bitand(0/0,1)")));
}

TEST(Expression, QuotesWhatItCannotRead) {
  for (const char* text : {"", "iw/", "(iw", "iw iw", "foo+1", "sin(1", "max(1)", "max(1,2,3)", "if(1)", "1,2", "iw=3",
                           "if(iw=3,1,2)", "\"text\"", "3$"}) {
    const std::string message = message_of(text, {"iw"});
    EXPECT_NE(message.find("'" + std::string(text) + "'"), std::string::npos) << text << " gave: " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << text;
  }
}

TEST(Expression, NamesTheVariablesItKnows) {
  EXPECT_NE(message_of("width/2", {"iw", "ih"}).find("iw, ih"), std::string::npos);
}

TEST(Expression, TellsComparisonFromAssignment) {
  EXPECT_EQ(message_of("iw==3", {"iw"}), "");
  EXPECT_EQ(message_of("(iw<=3)+(iw>=3)+(iw!=3)", {"iw"}), "");
  EXPECT_NE(message_of("iw=3", {"iw"}).find("eq(a,b)"), std::string::npos);
}

}  // namespace
}  // namespace framelane::testing
