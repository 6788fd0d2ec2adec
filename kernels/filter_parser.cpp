// ffmpeg's filter grammar, in two levels. The graph level splits at ',' and takes one layer of quotes and backslashes
// off; the option level splits what is left at ':' and takes the second layer off.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>

#include "kernels/edit_distance.h"
#include "kernels/errors.h"
#include "kernels/filter_chain.h"
#include "kernels/filter_registry.h"

namespace framelane {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool consume(std::string_view& rest, char expected) {
  if (!rest.starts_with(expected)) return false;
  rest.remove_prefix(1);
  return true;
}

/** Takes the text up to an unquoted terminator off `rest`, without its quotes, escapes and outer blanks. */
std::string take_token(std::string_view& rest, std::string_view terminators) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const std::string whole(rest);
  std::string token;
  std::size_t kept = 0;  // quoted and escaped blanks at the end stay
  while (!rest.empty() && terminators.find(rest.front()) == std::string_view::npos) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\'') {
      const std::size_t end = rest.find('\'');
      if (end == std::string_view::npos) throw UsageError(fmt::format("a ' is not closed in \"{}\"", whole));
      token += rest.substr(0, end);
      rest.remove_prefix(end + 1);
      kept = token.size();
    } else if (c == '\\' && !rest.empty()) {
      token += rest.front();
      rest.remove_prefix(1);
      kept = token.size();
    } else {
      token += c;
    }
  }
  token.resize(std::max(kept, token.find_last_not_of(kBlanks) + 1));
  return token;
}

/** "key" of "key=value", taken off `rest` with its '='; nothing where a positional value comes. */
std::optional<std::string> take_key(std::string_view& rest) {
  const std::string_view text = rest.substr(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const auto is_key = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '/' || c == '.';
  };
  const std::size_t length = static_cast<std::size_t>(std::ranges::find_if_not(text, is_key) - text.begin());
  std::string_view after = text.substr(length);
  after.remove_prefix(std::min(after.find_first_not_of(kBlanks), after.size()));
  if (length == 0 || !consume(after, '=')) return std::nullopt;
  rest = after;
  return std::string(text.substr(0, length));
}

/** The whole file at `path`, without the newline that editors put at its end. */
std::string read_value_file(const FilterDescriptor& filter, std::string_view option, const std::string& path) {
  constexpr std::streamsize kLargestBytes = 1 << 20;
  std::ifstream file(path, std::ios::binary);
  std::string value(kLargestBytes + 1, '\0');
  file.read(value.data(), kLargestBytes + 1);
  if (file.gcount() == 0) {
    throw UsageError(
        fmt::format("filter '{}': cannot read the value of '{}' from the file \"{}\"", filter.name, option, path));
  }
  if (file.gcount() > kLargestBytes) {
    throw UsageError(fmt::format("filter '{}': the file \"{}\" is too long for a value of '{}' (1 MiB at most)",
                                 filter.name, path, option));
  }
  value.resize(static_cast<std::size_t>(file.gcount()));
  if (value.ends_with('\n')) value.pop_back();
  if (value.ends_with('\r')) value.pop_back();
  return value;
}

// ---- values ----

/** The power that a suffix of ffmpeg's stands for: "k" 1000, "Ki" 1024, "m" 1/1000, … Nothing: no such suffix. */
std::optional<double> suffix_factor(std::string_view suffix) {
  struct Prefix {
    char letter;
    int power_of_10;
    int power_of_2;
  };
  constexpr std::array kPrefixes{Prefix{'n', -9, -30}, Prefix{'u', -6, -20}, Prefix{'m', -3, -10}, Prefix{'k', 3, 10},
                                 Prefix{'K', 3, 10},   Prefix{'M', 6, 20},   Prefix{'G', 9, 30},   Prefix{'T', 12, 40}};
  if (suffix.empty()) return 1.0;
  const auto* prefix = std::ranges::find(kPrefixes, suffix.front(), &Prefix::letter);
  if (prefix == kPrefixes.end()) return std::nullopt;
  if (suffix.size() == 1) return std::pow(10.0, prefix->power_of_10);
  return suffix.substr(1) == "i" ? std::optional(std::ldexp(1.0, prefix->power_of_2)) : std::nullopt;
}

/** "2.5", "-1e3", "4k", "2Ki", "0x1F"; nothing where the text is more than a number. */
std::optional<double> plain_number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const char* first = text.data() + (hexadecimal ? 2 : 0);
  const char* last = text.data() + text.size();
  if (hexadecimal) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(first, last, value, 16);
    return error == std::errc{} && end == last ? std::optional<double>(value) : std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc{}) return std::nullopt;
  const std::optional<double> factor = suffix_factor({end, static_cast<std::size_t>(last - end)});
  return factor ? std::optional(value * *factor) : std::nullopt;
}

double evaluate_number(const FilterDescriptor& filter, const Parameter& parameter, std::string_view text) {
  if (const auto number = plain_number(text)) return *number;
  try {
    const double default_value = plain_number(parameter.default_value).value_or(std::nan(""));
    return Expression(std::string(text), {"default", "min", "max"})
        .evaluate({default_value, parameter.min, parameter.max});
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("filter '{}': parameter '{}' takes a number, not '{}': {}", filter.name,
                                 parameter.name, text, error.what()));
  }
}

std::string normal_number(const FilterDescriptor& filter, const Parameter& parameter, std::string_view text) {
  const double value = evaluate_number(filter, parameter, text);
  const bool nan_means_something = parameter.default_value == "nan";
  if (std::isnan(value) && nan_means_something) return "nan";
  if (!(value >= parameter.min && value <= parameter.max)) {
    throw UsageError(fmt::format("filter '{}': Value {:f} for parameter '{}' out of range [{:g} - {:g}]", filter.name,
                                 value, parameter.name, parameter.min, parameter.max));
  }
  if (parameter.type == ParameterType::kNumber) return fmt::format("{}", value);
  if (value != std::floor(value)) {
    throw UsageError(fmt::format("filter '{}': Value {:f} for parameter '{}' is not a whole number", filter.name, value,
                                 parameter.name));
  }
  const auto whole = static_cast<std::int64_t>(value);
  if (parameter.odd && whole % 2 == 0) {
    throw UsageError(fmt::format("filter '{}': Value {} for parameter '{}' is even: it must be odd, in [{:g} - {:g}]",
                                 filter.name, whole, parameter.name, parameter.min, parameter.max));
  }
  return fmt::format("{}", whole);
}

std::string normal_boolean(const FilterDescriptor& filter, const Parameter& parameter, std::string_view text) {
  constexpr std::array<std::string_view, 7> kOn{"1", "true", "y", "yes", "enable", "enabled", "on"};
  constexpr std::array<std::string_view, 7> kOff{"0", "false", "n", "no", "disable", "disabled", "off"};
  if (std::ranges::find(kOn, text) != kOn.end()) return "1";
  if (std::ranges::find(kOff, text) != kOff.end()) return "0";
  throw UsageError(fmt::format("filter '{}': parameter '{}' takes 0 or 1 (true, false, yes, no, on, off), not '{}'",
                               filter.name, parameter.name, text));
}

std::string normal_choice(const FilterDescriptor& filter, const Parameter& parameter, std::string_view text) {
  if (std::ranges::find(parameter.choices, text) != parameter.choices.end()) return std::string(text);
  throw UsageError(fmt::format("filter '{}': parameter '{}' takes one of {}, not '{}'", filter.name, parameter.name,
                               fmt::join(parameter.choices, ", "), text));
}

/** `text` checked and in the plain form that ParameterValues promises. */
std::string normal_form(const FilterDescriptor& filter, const Parameter& parameter, std::string_view text) {
  if (text.empty() && parameter.type != ParameterType::kText) {
    throw UsageError(fmt::format("filter '{}': parameter '{}' needs a value", filter.name, parameter.name));
  }
  switch (parameter.type) {
    case ParameterType::kNumber:
    case ParameterType::kInteger:
      return normal_number(filter, parameter, text);
    case ParameterType::kBoolean:
      return normal_boolean(filter, parameter, text);
    case ParameterType::kChoice:
      return normal_choice(filter, parameter, text);
    case ParameterType::kExpression:
    case ParameterType::kText:
      break;
  }
  return std::string(text);
}

// ---- options ----

const Parameter& find_parameter(const FilterDescriptor& filter, std::string_view name) {
  if (filter.parameters.empty()) {
    throw UsageError(fmt::format("filter '{}' has no options, so no '{}'", filter.name, name));
  }
  const auto& parameters = filter.parameters;
  const auto found = std::ranges::find_if(
      parameters, [&](const Parameter& p) { return p.name == name || (!p.alias.empty() && p.alias == name); });
  if (found != parameters.end()) return *found;
  const auto nearest =
      std::ranges::min_element(parameters, {}, [&](const Parameter& p) { return edit_distance(name, p.name); });
  throw UsageError(
      fmt::format("filter '{}' has no option '{}' (did you mean '{}'?)", filter.name, name, nearest->name));
}

/** One option as written: the parameter's name (empty: positional) and the value. */
struct Option {
  std::string name;
  std::string value;
};

Option take_option(const FilterDescriptor& filter, std::string_view& rest) {
  Option option;
  if (auto key = take_key(rest)) option.name = std::move(*key);
  option.value = take_token(rest, ":");
  consume(rest, ':');
  if (option.name.starts_with('/')) {
    option.name.erase(0, 1);
    option.value = read_value_file(filter, option.name, option.value);
  }
  return option;
}

/** The parameter that the next positional value is for. */
const Parameter& positional_parameter(const FilterDescriptor& filter, const Option& option, std::size_t position,
                                      bool after_named) {
  if (after_named) {
    throw UsageError(fmt::format("filter '{}': '{}' has no option name: values without one come before named ones",
                                 filter.name, option.value));
  }
  if (position >= filter.parameters.size()) {
    throw UsageError(fmt::format("filter '{}' takes {} values at most: '{}' is one too many", filter.name,
                                 filter.parameters.size(), option.value));
  }
  return filter.parameters[position];
}

/** bind_parameters(), with the timeline expression where there is one for it. */
ParameterValues bind(const FilterDescriptor& filter, std::string_view settings, std::string* enable) {
  ParameterValues values;
  for (const Parameter& parameter : filter.parameters) {
    values.set(parameter.name, normal_form(filter, parameter, parameter.default_value), false);
  }
  bool named = false;
  for (std::size_t position = 0; !settings.empty(); ++position) {
    const Option option = take_option(filter, settings);
    named = named || !option.name.empty();
    if (enable != nullptr && option.name == "enable") {
      if (option.value.empty()) throw UsageError(fmt::format("filter '{}': 'enable' needs an expression", filter.name));
      *enable = option.value;
      continue;
    }
    const Parameter& parameter = option.name.empty() ? positional_parameter(filter, option, position, named)
                                                     : find_parameter(filter, option.name);
    values.set(parameter.name, normal_form(filter, parameter, option.value), true);
  }
  return values;
}

// ---- chain ----

const FilterDescriptor& known_filter(std::string_view name) {
  if (name.empty()) throw UsageError("a filter's name is missing: is there a ',' too many?");
  if (const FilterDescriptor* found = find_filter(name)) return *found;
  const bool looks_like_a_name = name.find_first_of("() +*'\"") == std::string_view::npos;
  throw UsageError(fmt::format("No such filter: '{}' (did you mean '{}'?{})", name, nearest_filter_name(name),
                               looks_like_a_name ? "" : " A ',' within a value is written '…' or \\,"));
}

void refuse_graph_syntax(std::string_view rest) {
  if (rest.starts_with(';')) {
    throw UsageError("';' joins parallel chains, which framelane has not: join filters by ','");
  }
  if (rest.starts_with('[') || rest.starts_with(']')) {
    throw UsageError(
        fmt::format("labels as in '{}' are not supported: a chain has one input and one output (quote a [ "
                    "that belongs to a value)",
                    rest.substr(0, rest.find(']', 1) + (rest.find(']', 1) == rest.npos ? 0 : 1))));
  }
}

bool is_pass_through(std::string_view name) { return name == "null" || name == "copy"; }

}  // namespace

std::vector<FilterUse> parse_filter_chain(std::string_view text) {
  std::vector<FilterUse> uses;
  std::string_view rest = trimmed(text);
  if (rest.empty()) return uses;
  do {
    const std::string_view start = rest;
    std::string name = take_token(rest, "=,;[]");
    name.resize(std::min(name.find('@'), name.size()));  // "gblur@soft": an instance's name, for which we have no use
    std::string settings;
    if (consume(rest, '=')) settings = take_token(rest, "[],;");
    refuse_graph_syntax(rest);
    if (is_pass_through(name)) {
      if (!settings.empty()) throw UsageError(fmt::format("filter '{}' has no options", name));
      continue;
    }
    FilterUse use;
    use.descriptor = &known_filter(name);
    use.text = trimmed(start.substr(0, start.size() - rest.size()));
    use.values = bind(*use.descriptor, settings, &use.enable);
    uses.push_back(std::move(use));
  } while (consume(rest, ','));
  return uses;
}

ParameterValues bind_parameters(const FilterDescriptor& descriptor, std::string_view settings) {
  return bind(descriptor, settings, nullptr);
}

}  // namespace framelane
