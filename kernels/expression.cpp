#include "kernels/expression.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <string_view>

#include "kernels/errors.h"

namespace framelane {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double truth(bool value) { return value ? 1.0 : 0.0; }

double between(double value, double low, double high) { return truth(value >= low && value <= high); }

double clip(double value, double low, double high) {
  const bool ordered = low <= high;  // false for NaN too
  return ordered && !std::isnan(value) ? std::clamp(value, low, high) : kNaN;
}

/** NaN, infinity and what is over 64 bits have no bits and no divisors. */
bool is_whole_number(double value) { return std::abs(value) < 9.2e18; }

template <typename Operation>
double on_integers(double a, double b, Operation operation) {
  if (!is_whole_number(a) || !is_whole_number(b)) return kNaN;
  return static_cast<double>(operation(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}

double bitand_of(double a, double b) {
  return on_integers(a, b, [](auto x, auto y) { return x & y; });
}
double bitor_of(double a, double b) {
  return on_integers(a, b, [](auto x, auto y) { return x | y; });
}
double gcd_of(double a, double b) {
  return on_integers(a, b, [](auto x, auto y) { return std::gcd(x, y); });
}

/** The remainder with the divisor's sign, unlike std::fmod. */
double mod(double a, double b) { return a - std::floor(a / b) * b; }

double gauss(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double squish(double x) { return 1 / (1 + std::exp(4 * x)); }
double sgn(double x) { return truth(x > 0) - truth(x < 0); }

double choose(const double* arguments, int count, bool wanted) {
  if (count != 2 && count != 3) throw mu::ParserError("if() and ifnot() take two or three arguments");
  if ((arguments[0] != 0) == wanted) return arguments[1];
  return count == 3 ? arguments[2] : 0;
}

void define_comparisons(mu::Parser& parser) {
  parser.DefineFun(
      "eq", +[](double a, double b) { return truth(a == b); });
  parser.DefineFun(
      "gt", +[](double a, double b) { return truth(a > b); });
  parser.DefineFun(
      "gte", +[](double a, double b) { return truth(a >= b); });
  parser.DefineFun(
      "lt", +[](double a, double b) { return truth(a < b); });
  parser.DefineFun(
      "lte", +[](double a, double b) { return truth(a <= b); });
  parser.DefineFun(
      "not", +[](double a) { return truth(a == 0); });
  parser.DefineFun(
      "isinf", +[](double a) { return truth(std::isinf(a)); });
  parser.DefineFun(
      "isnan", +[](double a) { return truth(std::isnan(a)); });
  parser.DefineFun("between", &between);
  parser.DefineFun(
      "if", +[](const double* arguments, int count) { return choose(arguments, count, true); });
  parser.DefineFun(
      "ifnot", +[](const double* arguments, int count) { return choose(arguments, count, false); });
}

void define_arithmetic(mu::Parser& parser) {
  parser.DefineFun(
      "max", +[](double a, double b) { return a > b ? a : b; });
  parser.DefineFun(
      "min", +[](double a, double b) { return a < b ? a : b; });
  parser.DefineFun("mod", &mod);
  parser.DefineFun(
      "pow", +[](double a, double b) { return std::pow(a, b); });
  parser.DefineFun(
      "hypot", +[](double a, double b) { return std::hypot(a, b); });
  parser.DefineFun(
      "lerp", +[](double a, double b, double share) { return a + (b - a) * share; });
  parser.DefineFun("clip", &clip);
  parser.DefineFun("bitand", &bitand_of);
  parser.DefineFun("bitor", &bitor_of);
  parser.DefineFun("gcd", &gcd_of);
  parser.DefineFun(
      "ceil", +[](double a) { return std::ceil(a); });
  parser.DefineFun(
      "floor", +[](double a) { return std::floor(a); });
  parser.DefineFun(
      "round", +[](double a) { return std::round(a); });
  parser.DefineFun(
      "trunc", +[](double a) { return std::trunc(a); });
  parser.DefineFun("sgn", &sgn);
  parser.DefineFun("gauss", &gauss);
  parser.DefineFun("squish", &squish);
}

void define_constants(mu::Parser& parser) {
  parser.DefineConst("PI", std::numbers::pi);
  parser.DefineConst("E", std::numbers::e);
  parser.DefineConst("PHI", std::numbers::phi);
}

/** "2k", "1Mi": ffmpeg's suffixes for large numbers. */
void define_suffixes(mu::Parser& parser) {
  parser.DefinePostfixOprt(
      "k", +[](double a) { return a * 1e3; });
  parser.DefinePostfixOprt(
      "K", +[](double a) { return a * 1e3; });
  parser.DefinePostfixOprt(
      "M", +[](double a) { return a * 1e6; });
  parser.DefinePostfixOprt(
      "G", +[](double a) { return a * 1e9; });
  parser.DefinePostfixOprt(
      "Ki", +[](double a) { return a * 0x1p10; });
  parser.DefinePostfixOprt(
      "Mi", +[](double a) { return a * 0x1p20; });
  parser.DefinePostfixOprt(
      "Gi", +[](double a) { return a * 0x1p30; });
}

/** muparser would take "if(a=1,…)" as an assignment to the variable. */
bool has_assignment(const std::string& text) {
  for (std::size_t i = text.find('='); i != std::string::npos; i = text.find('=', i + 1)) {
    const bool compares = (i > 0 && std::string_view("<>!=").find(text[i - 1]) != std::string_view::npos) ||
                          (i + 1 < text.size() && text[i + 1] == '=');
    if (!compares) return true;
  }
  return false;
}

UsageError error_in(const std::string& text, std::string reason, const std::vector<std::string>& variables) {
  std::ranges::replace(reason, '\n', ' ');
  while (!reason.empty() && (reason.back() == '.' || reason.back() == ' ')) reason.pop_back();
  std::string known;
  for (const std::string& name : variables) known += (known.empty() ? " (variables: " : ", ") + name;
  if (!known.empty()) known += ')';
  return UsageError(fmt::format("cannot evaluate '{}': {}{}", text, reason, known));
}

}  // namespace

struct Expression::Parsed {
  explicit Parsed(std::size_t variables) : values(variables, 1.0) {}

  std::vector<double> values;  // the parser holds their addresses: never resized
  mu::Parser parser;
};

Expression::Expression(const std::string& text, const std::vector<std::string>& variables)
    : parsed_(std::make_unique<Parsed>(variables.size())) {
  if (has_assignment(text)) throw error_in(text, "'=' assigns: use eq(a,b) or a==b", variables);
  mu::Parser& parser = parsed_->parser;
  try {
    define_comparisons(parser);
    define_arithmetic(parser);
    define_constants(parser);
    define_suffixes(parser);
    for (std::size_t i = 0; i < variables.size(); ++i) parser.DefineVar(variables[i], &parsed_->values[i]);
    parser.SetExpr(text);
    parser.Eval();  // compiles: syntax errors show here, not in the middle of a run
  } catch (const mu::ParserError& error) {
    throw error_in(text, error.GetMsg(), variables);
  }
  if (parser.GetNumResults() != 1) throw error_in(text, "it has more than one value", variables);
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

double Expression::evaluate(const std::vector<double>& values) const {
  std::ranges::copy(values, parsed_->values.begin());
  return parsed_->parser.Eval();
}

}  // namespace framelane
