// Arithmetic in parameters: "iw/2", "-2", "if(gt(a,1),iw,ih)", "between(t,2,5)". The grammar is muparser's, with
// ffmpeg's functions and constants (libavutil/eval documentation) added.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framelane {

/** A compiled expression over named variables.
 *  Thread: evaluate() from one thread at a time. */
class Expression {
 public:
  /** Throws UsageError that quotes `text` and says what is wrong with it. `variables` are the names it may use. */
  Expression(const std::string& text, const std::vector<std::string>& variables);
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  /** `values` in the order of `variables`; NaN is a legal value and a legal result. */
  double evaluate(const std::vector<double>& values) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace framelane
