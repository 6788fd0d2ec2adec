// The command line, declared once: parser, --help, man page and shell completions come from here.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/bench_options.h"
#include "app/compare_command.h"
#include "app/console.h"
#include "app/demo_command.h"
#include "app/tune_options.h"
#include "pipeline/pipeline.h"

namespace framelane {

/** What was said on the command line or in the environment, whatever it was: it wins over tuned settings. */
struct GivenSettings {
  bool mode = false;
  bool slots = false;
  bool decoder_threads = false;
  bool cuda_graphs = false;
};

/** `framelane run`. */
struct RunOptions {
  PipelineOptions pipeline;  ///< `filters` and `device` are still empty
  std::string chain;         ///< all --vf in order, joined by ','
  std::string device = "auto";
  bool tuned = false;  ///< what `tune` stored holds for the settings that are not given
  GivenSettings given;
  bool hud = false;
  bool preview = false;
  bool preview_only = false;  ///< no output was named: without a display there is nothing to do
  bool keys = true;
  std::string stats;     ///< file, "-" or empty
  std::string trace;     ///< file, "-" or empty
  std::string progress;  ///< file, "-" or empty
};

/** `framelane filters [NAME]`, and `--vf NAME=help`. */
struct FiltersOptions {
  std::string name;  ///< empty: the table of all
};

/** `framelane devices`. */
struct DevicesOptions {};

/** `framelane man`, `framelane completion SHELL`: what the installation generates. */
struct GenerateOptions {
  std::string what;    ///< "man", "bash", "zsh", "fish", or "chain": candidates for the value of --vf
  std::string prefix;  ///< "chain": what has been typed so far
};

/** `--version`. */
struct VersionOptions {};

/** --help: text for standard output. */
struct HelpOptions {
  std::string text;
};

struct CommandLine {
  std::variant<RunOptions, FiltersOptions, DevicesOptions, DemoOptions, CompareOptions, TuneOptions, BenchOptions,
               GenerateOptions, VersionOptions, HelpOptions>
      command;
  ConsoleOptions console;
};

/** `arguments` without the program's name. Throws UsageError: one line, with the nearest known option or command where
 *  there is one. */
CommandLine parse_command_line(const std::vector<std::string>& arguments);

/** One option as declared, for man page, completions and the reading of ffmpeg's habits. */
struct OptionDescription {
  std::vector<std::string> long_names;  ///< without dashes
  std::vector<std::string> short_names;
  std::string value;  ///< placeholder "FILE", or the choices "sync|async|multistream"; empty for a flag
  std::string help;
  std::string group;
  bool repeatable = false;
};

struct CommandDescription {
  std::string name;
  std::string help;
  std::string usage;       ///< "INPUT -o OUTPUT [OPTIONS]"
  std::string bare_words;  ///< the option that words without one are values of; empty: none
  std::vector<OptionDescription> options;
  std::string examples;  ///< lines of shell, each after a line that says what it does
};

/** Commands in the order of --help. */
std::vector<CommandDescription> describe_commands();

/** The option called `name` (without dashes), or nullptr. */
const OptionDescription* find_option(const CommandDescription& command, std::string_view name);

}  // namespace framelane
