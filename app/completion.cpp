// `framelane completion SHELL`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "app/generate_command.h"
#include "kernels/filter_registry.h"

namespace framelane {
namespace {

enum class ValueKind : std::uint8_t { kNone, kFile, kFolder, kChain, kFilter, kChoices, kFree };

ValueKind value_kind(const OptionDescription& option) {
  if (option.value.empty()) return ValueKind::kNone;
  if (option.value == "FILE" || option.value == "INPUT") return ValueKind::kFile;
  if (option.value == "FOLDER") return ValueKind::kFolder;
  if (option.value == "CHAIN") return ValueKind::kChain;
  if (option.value == "FILTER") return ValueKind::kFilter;
  return option.value.find('|') != std::string::npos ? ValueKind::kChoices : ValueKind::kFree;
}

/** "sync|async" as words; "cuda:N" stays out: N is not a value. */
std::vector<std::string> choices(const OptionDescription& option) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin <= option.value.size()) {
    const std::size_t end = std::min(option.value.find('|', begin), option.value.size());
    const std::string word = option.value.substr(begin, end - begin);
    if (std::ranges::none_of(word, [](char c) { return c >= 'A' && c <= 'Z'; })) words.push_back(word);
    begin = end + 1;
  }
  return words;
}

std::vector<std::string> spellings(const OptionDescription& option) {
  std::vector<std::string> words;
  for (const std::string& name : option.short_names) words.push_back("-" + name);
  for (const std::string& name : option.long_names) words.push_back("--" + name);
  return words;
}

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const FilterDescriptor* filter : all_filters()) names.emplace_back(filter->name);
  return names;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandDescription& command : describe_commands()) names.push_back(command.name);
  return names;
}

/** Values that a parameter can have, where they can be listed. */
std::vector<std::string_view> parameter_choices(const Parameter& parameter) {
  if (parameter.type == ParameterType::kBoolean) return {"0", "1"};
  if (parameter.type == ParameterType::kChoice) return parameter.choices;
  return {};
}

/** What goes on after "NAME=…:", where `piece` is the last parameter so far; `head` is everything before it. */
std::string parameter_candidates(const FilterDescriptor& filter, std::string_view head, std::string_view piece) {
  std::string candidates;
  const auto out = std::back_inserter(candidates);
  const std::size_t equals = piece.find('=');
  for (const Parameter& parameter : filter.parameters) {
    if (equals == std::string_view::npos) {
      if (parameter.name.starts_with(piece)) fmt::format_to(out, "{}{}=\n", head, parameter.name);
    } else if (parameter.name == piece.substr(0, equals)) {
      for (const std::string_view choice : parameter_choices(parameter)) {
        if (choice.starts_with(piece.substr(equals + 1)))
          fmt::format_to(out, "{}{}={}\n", head, parameter.name, choice);
      }
    }
  }
  return candidates;
}

/** The words that may follow an option, as bash's compgen takes them. */
std::string bash_action(const OptionDescription& option) {
  switch (value_kind(option)) {
    case ValueKind::kFile:
      return "_framelane_files -f";
    case ValueKind::kFolder:
      return "_framelane_files -d";
    case ValueKind::kChain:
      return "_framelane_chain";
    case ValueKind::kChoices:
      return fmt::format("_framelane_words '{}'", fmt::join(choices(option), " "));
    case ValueKind::kFilter:
    case ValueKind::kFree:
    case ValueKind::kNone:
      break;
  }
  return ":";
}

constexpr const char* kBashFunctions = R"(# bash completion for framelane; made by `framelane completion bash`.
_framelane_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }
_framelane_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen "$1" -- "$word"); }
_framelane_chain() { compopt -o nospace; mapfile -t COMPREPLY < <(framelane completion chain "$word" 2>/dev/null); }

_framelane() {
  # Words are split at blanks alone: readline's own splitting breaks filters apart at '=' and ':'.
  local line=${COMP_LINE:0:COMP_POINT} word before previous command
  word=${line##*[[:space:]]}
  before=${line%"$word"}
  local -a words
  read -ra words <<<"$before"
  command=${words[1]-}
  previous=${words[${#words[@]} - 1]-}
  if [[ $word == --*=* ]]; then
    previous=${word%%=*}
    word=${word#*=}
  fi
  COMPREPLY=()
)";

/** `word` in single quotes for POSIX-like shells; `quote` is how a quote itself is written within them. */
std::string quoted(std::string_view word, std::string_view quote) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += quote;
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string zsh_escaped(std::string_view help) {
  std::string text;
  for (const char c : help) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string zsh_value(const OptionDescription& option) {
  switch (value_kind(option)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kFile:
      return ":file:_files";
    case ValueKind::kFolder:
      return ":folder:_files -/";
    case ValueKind::kChain:
      return ":filters:_framelane_chain";
    case ValueKind::kFilter:
      return fmt::format(":filter:({})", fmt::join(filter_names(), " "));
    case ValueKind::kChoices:
      return fmt::format(":value:({})", fmt::join(choices(option), " "));
    case ValueKind::kFree:
      break;
  }
  return fmt::format(":{}: ", zsh_escaped(option.value));
}

void add_zsh_option(std::string& script, const OptionDescription& option) {
  const auto words = spellings(option);
  if (words.empty()) {
    fmt::format_to(std::back_inserter(script), "        {} \\\n", quoted("1" + zsh_value(option), "'\\''"));
    return;
  }
  for (const std::string& word : words) {
    const std::string exclusion = option.repeatable ? "*" : fmt::format("({})", fmt::join(words, " "));
    const std::string spec = fmt::format("{}{}[{}]{}", exclusion, word, zsh_escaped(option.help), zsh_value(option));
    fmt::format_to(std::back_inserter(script), "        {} \\\n", quoted(spec, "'\\''"));
  }
}

std::string fish_value(const OptionDescription& option) {
  switch (value_kind(option)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kChain:
      return " -x -a '(framelane completion chain (commandline -ct))'";
    case ValueKind::kFilter:
      return fmt::format(" -x -a '{}'", fmt::join(filter_names(), " "));
    case ValueKind::kChoices:
      return fmt::format(" -x -a '{}'", fmt::join(choices(option), " "));
    case ValueKind::kFree:
      break;
  }
  return " -x";
}

}  // namespace

std::string chain_candidates(std::string_view prefix) {
  const std::size_t comma = prefix.rfind(',');
  const std::size_t begin = comma == std::string_view::npos ? 0 : comma + 1;
  const std::string_view element = prefix.substr(begin);
  const std::size_t equals = element.find('=');
  if (equals != std::string_view::npos) {
    const FilterDescriptor* filter = find_filter(element.substr(0, equals));
    if (filter == nullptr) return "";
    const std::size_t colon = element.rfind(':');
    const std::size_t piece = begin + (colon == std::string_view::npos ? equals : colon) + 1;
    return parameter_candidates(*filter, prefix.substr(0, piece), prefix.substr(piece));
  }
  std::string candidates;
  for (const FilterDescriptor* filter : all_filters()) {
    if (!filter->name.starts_with(element)) continue;
    fmt::format_to(std::back_inserter(candidates), "{}{}{}\n", prefix.substr(0, begin), filter->name,
                   filter->parameters.empty() ? "" : "=");
  }
  return candidates;
}

std::string bash_completion() {
  std::string script = kBashFunctions;
  const auto out = std::back_inserter(script);
  fmt::format_to(out,
                 "  if ((${{#words[@]}} < 2)); then\n    _framelane_words '{} --help --version'\n    return\n  fi\n",
                 fmt::join(command_names(), " "));
  fmt::format_to(out, "  case $command:$previous in\n");
  std::string fallbacks;
  for (const CommandDescription& command : describe_commands()) {
    std::vector<std::string> all;
    std::string bare = "_framelane_files -f";
    for (const OptionDescription& option : command.options) {
      const auto words = spellings(option);
      if (value_kind(option) == ValueKind::kFilter)
        bare = fmt::format("_framelane_words '{}'", fmt::join(filter_names(), " "));
      all.insert(all.end(), words.begin(), words.end());
      if (words.empty() || value_kind(option) == ValueKind::kNone) continue;
      std::vector<std::string> patterns;
      patterns.reserve(words.size());
      for (const std::string& word : words) patterns.push_back(fmt::format("{}:{}", command.name, word));
      fmt::format_to(out, "    {}) {} ;;\n", fmt::join(patterns, " | "), bash_action(option));
    }
    fmt::format_to(std::back_inserter(fallbacks),
                   "    {}:*)\n      if [[ $word == -* ]]; then\n        _framelane_words '{}'\n"
                   "      else\n        {}\n      fi\n      ;;\n",
                   command.name, fmt::join(all, " "), bare);
  }
  script += fallbacks;
  script +=
      "  esac\n"
      "  # readline replaces what follows the last of its own word breaks.\n"
      "  local kept=${word%\"${word##*[=:]}\"} i\n"
      "  for i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=${COMPREPLY[i]#\"$kept\"}; done\n"
      "}\n"
      "complete -F _framelane framelane\n";
  return script;
}

std::string zsh_completion() {
  std::string script =
      "#compdef framelane\n# Made by `framelane completion zsh`.\n\n"
      "_framelane_chain() {\n"
      "  local -a values\n"
      "  values=(${(f)\"$(framelane completion chain \"$PREFIX\" 2>/dev/null)\"})\n"
      "  compadd -S '' -- $values\n"
      "}\n\n"
      "_framelane() {\n"
      "  if ((CURRENT == 2)); then\n"
      "    local -a commands\n"
      "    commands=(\n";
  const auto out = std::back_inserter(script);
  const auto commands = describe_commands();
  for (const CommandDescription& command : commands) {
    fmt::format_to(out, "      {}\n", quoted(fmt::format("{}:{}", command.name, zsh_escaped(command.help)), "'\\''"));
  }
  script +=
      "    )\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=${words[2]}\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n";
  for (const CommandDescription& command : commands) {
    fmt::format_to(out, "    {})\n      _arguments \\\n", command.name);
    for (const OptionDescription& option : command.options) add_zsh_option(script, option);
    fmt::format_to(out, "        {}\n      ;;\n", command.bare_words.empty() ? "" : "'*:input:_files'");
  }
  script += "  esac\n}\n\n_framelane \"$@\"\n";
  return script;
}

std::string fish_completion() {
  std::string script = "# Made by `framelane completion fish`.\n";
  const auto out = std::back_inserter(script);
  const auto commands = describe_commands();
  for (const CommandDescription& command : commands) {
    fmt::format_to(out, "complete -c framelane -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                   quoted(command.help, "\\'"));
  }
  for (const CommandDescription& command : commands) {
    for (const OptionDescription& option : command.options) {
      fmt::format_to(out, "complete -c framelane -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.short_names) fmt::format_to(out, " -s {}", name);
      for (const std::string& name : option.long_names) fmt::format_to(out, " -l {}", name);
      fmt::format_to(out, "{} -d {}\n", fish_value(option), quoted(option.help, "\\'"));
    }
  }
  return script;
}

}  // namespace framelane
