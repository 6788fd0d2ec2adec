#include "kernels/filter.h"

#include <charconv>
#include <stdexcept>

namespace framelane {
namespace {

/** Of a checked value, in any locale. */
template <typename Number>
Number parsed(const std::string& text) {
  Number value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::unique_ptr<CompiledFilter> Filter::compile(const FrameFormat&, Backend) const {
  throw std::logic_error("this filter is compiled as part of a colour program");
}

void Filter::append_to(ColorProgram&, const FrameFormat&) const {
  throw std::logic_error("this filter is not a colour filter");
}

const ParameterValues::Value& ParameterValues::at(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::logic_error("undeclared parameter " + std::string(name));
  return found->second;
}

double ParameterValues::number(std::string_view name) const { return parsed<double>(at(name).text); }
int ParameterValues::integer(std::string_view name) const { return parsed<int>(at(name).text); }
bool ParameterValues::flag(std::string_view name) const { return at(name).text == "1"; }
const std::string& ParameterValues::text(std::string_view name) const { return at(name).text; }
bool ParameterValues::is_set(std::string_view name) const { return at(name).by_user; }

void ParameterValues::set(std::string_view name, std::string value, bool by_user) {
  values_.insert_or_assign(std::string(name), Value{std::move(value), by_user});
}

}  // namespace framelane
