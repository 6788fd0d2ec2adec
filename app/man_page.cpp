// `framelane man`.
#include <fmt/format.h>

#include <array>
#include <iterator>

#include "app/generate_command.h"
#include "app/keys.h"
#include "app/version.h"
#include "kernels/filter_registry.h"

namespace framelane {
namespace {

struct Entry {
  std::string_view term;
  std::string_view text;
};

constexpr std::array kModeEntries{
    Entry{"sync", "one stage of one frame at a time"},
    Entry{"async", "one stream, so that the CPU works beside the device"},
    Entry{"multistream",
          "a stream for each frame in flight, so that copies and kernels of different frames overlap, too"},
};

constexpr std::array kExitStatus{
    Entry{"0", "done, also after the key q"},
    Entry{"1", "internal error"},
    Entry{"2", "wrong command line, filter, parameter or value"},
    Entry{"3", "the input is missing, unreadable, has no video, or broke"},
    Entry{"4", "the output cannot be opened, encoded or written"},
    Entry{"5", "no such device, or it failed"},
    Entry{"130, 143, 129",
          "stopped by SIGINT (Ctrl-C), SIGTERM or SIGHUP; the output is complete up to there. A second signal stops at "
          "once, without that."},
    Entry{"141", "standard output was closed by its reader"},
};

constexpr std::array kEnvironment{
    Entry{"FRAMELANE_DEVICE, FRAMELANE_MODE, FRAMELANE_SLOTS, FRAMELANE_LOG_LEVEL",
          "values for the options of these names, where the command line gives none"},
    Entry{"CUDA_VISIBLE_DEVICES", "which GPUs there are; cuda:0 is the first of them"},
    Entry{"CUDA_LAUNCH_BLOCKING", "1 makes all modes equal; framelane warns"},
    Entry{"NO_COLOR, TERM=dumb", "no colours; with a dumb terminal no rewritten progress line either"},
};

/** `text` as roff prints it: no macro at the start of a line, no escapes, hyphens that can be copied as such. */
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool line_start = escaped.empty() || escaped.back() == '\n';
    if (line_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void add_entry(std::string& page, std::string_view term, std::string_view text) {
  fmt::format_to(std::back_inserter(page), ".TP\n.B {}\n{}\n", roff(term), roff(text));
}

void add_option(std::string& page, const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.short_names) names += fmt::format("-{}, ", name);
  for (const std::string& name : option.long_names) names += fmt::format("--{}, ", name);
  names.resize(names.size() < 2 ? 0 : names.size() - 2);
  if (names.empty())
    names = option.value;  // a bare word
  else if (!option.value.empty())
    names += fmt::format(" {}", option.value);
  add_entry(page, names, option.help);
}

void add_command(std::string& page, const CommandDescription& command) {
  fmt::format_to(std::back_inserter(page), ".SS framelane {} {}\n{}.\n", roff(command.name), roff(command.usage),
                 roff(command.help));
  for (const OptionDescription& option : command.options) add_option(page, option);
  const std::string_view examples = std::string_view(command.examples);
  fmt::format_to(std::back_inserter(page), ".PP\nExamples:\n.nf\n.RS\n{}.RE\n.fi\n",
                 roff(examples.substr(examples.find('\n') + 1)));
}

}  // namespace

std::string man_page() {
  std::string page = fmt::format(
      ".\\\" Made by `framelane man`.\n.TH FRAMELANE 1 \"\" \"framelane {}\" \"User Commands\"\n"
      ".SH NAME\nframelane \\- real\\-time video filters on NVIDIA GPUs and CPUs\n.SH SYNOPSIS\n",
      program_version());
  const auto commands = describe_commands();
  for (const CommandDescription& command : commands) {
    fmt::format_to(std::back_inserter(page), ".B framelane {}\n{}{}.br\n", roff(command.name), roff(command.usage),
                   command.usage.empty() ? "" : "\n");
  }
  page +=
      ".SH DESCRIPTION\nframelane filters video and images while they stream: the CPU decodes and encodes while the "
      "device copies and computes. The mode says how much of that overlaps, and can be switched while running:\n";
  for (const Entry& entry : kModeEntries) add_entry(page, entry.term, entry.text);
  page += ".SH COMMANDS\n";
  for (const CommandDescription& command : commands) add_command(page, command);
  page += ".SH FILTERS\n";
  for (const FilterDescriptor* filter : all_filters()) add_entry(page, filter->name, filter->help);
  page += ".SH KEYS\nIn the terminal and in the preview window, while running:\n";
  for (const KeyBinding& binding : key_bindings()) add_entry(page, binding.shown, binding.help);
  page += ".SH EXIT STATUS\n";
  for (const Entry& entry : kExitStatus) add_entry(page, entry.term, entry.text);
  page += ".SH ENVIRONMENT\n";
  for (const Entry& entry : kEnvironment) add_entry(page, entry.term, entry.text);
  page += ".SH SEE ALSO\n.BR ffmpeg (1),\n.BR ffmpeg\\-filters (1)\n";
  return page;
}

}  // namespace framelane
