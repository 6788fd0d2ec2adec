#include "app/filters_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <iterator>

#include "app/console.h"
#include "kernels/errors.h"
#include "kernels/filter_registry.h"

namespace framelane {
namespace {

std::string_view kind_name(FilterKind kind) {
  static constexpr std::array<std::string_view, 4> names{"spatial", "colour", "geometry", "temporal"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view space_name(WorkingSpace space) {
  static constexpr std::array<std::string_view, 3> names{"stored codes", "RGB in the stream's own transfer",
                                                         "linear light"};
  return names[static_cast<std::size_t>(space)];
}

std::string_view border_name(BorderRule border) {
  static constexpr std::array<std::string_view, 4> names{"no samples outside the picture are needed",
                                                         "the edge sample is repeated", "mirrored with the edge sample",
                                                         "mirrored without the edge sample"};
  return names[static_cast<std::size_t>(border)];
}

std::string_view type_name(ParameterType type) {
  static constexpr std::array<std::string_view, 6> names{"number", "integer", "switch", "choice", "expression", "text"};
  return names[static_cast<std::size_t>(type)];
}

std::string parameter_help(const Parameter& parameter) {
  const std::string name =
      parameter.alias.empty() ? std::string(parameter.name) : fmt::format("{}, {}", parameter.name, parameter.alias);
  std::string text = fmt::format("  {:<18} {}\n{:21}{}", name, parameter.help, "", type_name(parameter.type));
  const auto out = std::back_inserter(text);
  if (const std::string allowed = allowed_values(parameter); !allowed.empty()) fmt::format_to(out, " {}", allowed);
  if (parameter.odd) fmt::format_to(out, ", odd");
  if (!parameter.default_value.empty()) fmt::format_to(out, ", default {}", parameter.default_value);
  return text + "\n";
}

}  // namespace

std::string allowed_values(const Parameter& parameter) {
  switch (parameter.type) {
    case ParameterType::kNumber:
    case ParameterType::kInteger:
      return fmt::format("[{:g} - {:g}]", parameter.min, parameter.max);
    case ParameterType::kBoolean:
      return "0 or 1";
    case ParameterType::kChoice:
      return fmt::format("{}", fmt::join(parameter.choices, ", "));
    case ParameterType::kExpression:
    case ParameterType::kText:
      break;
  }
  return "";
}

std::string filter_table() {
  std::string table;
  for (const FilterDescriptor* filter : all_filters()) {
    fmt::format_to(std::back_inserter(table), "{:<12} {:<9} {}\n", filter->name, kind_name(filter->kind), filter->help);
  }
  return table;
}

std::string filter_help(const FilterDescriptor& filter) {
  std::string text = fmt::format("{}: {}\n", filter.name, filter.help);
  const auto out = std::back_inserter(text);
  if (!filter.aliases.empty()) fmt::format_to(out, "also called {}\n", fmt::join(filter.aliases, ", "));
  fmt::format_to(out, "\nParameters{}\n",
                 filter.parameters.empty() ? ": none" : ", in the order of positional values:");
  for (const Parameter& parameter : filter.parameters) text += parameter_help(parameter);
  fmt::format_to(out, "\nKind:          {}\n", kind_name(filter.kind));
  fmt::format_to(out, "Works on:      {}\n", space_name(filter.space));
  fmt::format_to(out, "Borders:       {}\n", border_name(filter.border));
  fmt::format_to(out, "Compared with: {}; {}\n", filter.oracle, filter.tolerance);
  const std::string_view settings =
      filter.conformance_settings.empty() ? std::string_view{} : filter.conformance_settings.front();
  fmt::format_to(out, "\nExample: framelane run in.mp4 -o out.mp4 --vf {}{}{}\n", filter.name,
                 settings.empty() ? "" : "=", settings);
  return text;
}

int run_filters(const FiltersOptions& options) {
  if (options.name.empty()) {
    write_stdout(filter_table());
    return 0;
  }
  const FilterDescriptor* filter = find_filter(options.name);
  if (filter == nullptr) {
    throw UsageError(
        fmt::format("unknown filter '{}': did you mean {}?", options.name, nearest_filter_name(options.name)));
  }
  write_stdout(filter_help(*filter));
  return 0;
}

}  // namespace framelane
