#include "app/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "app/bench_options.h"
#include "app/compare_options.h"
#include "app/declarations.h"
#include "app/ffmpeg_habits.h"
#include "app/option_values.h"
#include "app/run_options.h"
#include "app/tune_options.h"
#include "kernels/edit_distance.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

void declare_demo(CLI::App& command, ParsedValues& values) {
  Declarations declare(command);
  declare.group("Options");
  declare.text("--output-dir", "FOLDER", values.demo.output_dir, "where the files go (out)");
  declare.text("--device", "auto|cpu|cuda|cuda:N", values.demo.device, "where filters run (auto)")
      ->envname("FRAMELANE_DEVICE");
  declare.value(
      "--seconds", "N",
      [&](const std::string& text) { values.demo.seconds = static_cast<int>(parse_integer(text, 1, 3600)); },
      "of video in each mode (8)");
  declare_console(declare, values);
}

constexpr const char* kRunExamples =
    R"(Examples:
  # blur a file, keep its sound
  framelane run in.mp4 -o out.mp4 --vf gblur=sigma=2
  # a chain, an existing file replaced, the overlay drawn on it
  framelane run in.mkv -o out.mkv -y --hud --vf "scale=1280:-2,unsharp,eq=contrast=1.1"
  # how fast is it? no output, ten seconds, figures as JSON
  framelane run in.mp4 -o null --duration 10 --vf gblur=sigma=5 --stats stats.json
  # watch the camera
  framelane run camera --preview --vf hqdn3d
  # from a pipe into a pipe
  cat in.mkv | framelane run - -o - --format matroska --vf hflip | ffplay -
  # switch modes while running
  framelane run lavfi:testsrc2=d=20 -o null --vf gblur=sigma=9 --switch-at 100:sync --switch-at 200:async
)";
constexpr const char* kCompareExamples =
    R"(Examples:
  # what is overlap worth for this file and chain, and what bounds it?
  framelane compare in.mp4 --vf gblur=sigma=2,eq=contrast=1.1
  # with encoding, as a page for a browser and a timeline for Perfetto
  framelane compare in.mp4 --vf gblur=sigma=2 -o out.mp4 -y --report report.html --trace trace.json
  # two modes, ten rounds of 200 frames, all figures as JSON
  framelane compare in.mp4 --vf scale=1280:-2 --modes sync,multistream --rounds 10 --frames 200 --json -
  # the decoder on one thread: nothing at all overlaps in sync mode
  framelane compare in.mp4 --vf gblur=sigma=5 --decoder-threads 1
)";
constexpr const char* kTuneExamples =
    R"(Examples:
  # find the fastest settings for such files and this chain, then use them
  framelane tune in.mp4 --vf gblur=sigma=2
  framelane run in.mp4 -o out.mp4 --vf gblur=sigma=2 --tuned
  # look only, for a minute, all figures as JSON
  framelane tune in.mp4 --vf gblur=sigma=2 --dry-run --budget 1:00 --json -
  # was it right? measures every setting, too
  framelane tune in.mp4 --vf gblur=sigma=2 --sweep
)";
constexpr const char* kBenchExamples =
    R"(Examples:
  # how near to the PCIe link's limit is each mode?
  framelane bench
  # one size in two formats, a chain, two depths of the ring, all figures as JSON
  framelane bench --size 2160p --format yuv420p,yuv420p10le --vf gblur=sigma=2 --slots 3,6 --json -
  # the textbook's workload: 8 ms on the CPU, 3 up, 12 in the kernel, 3 down
  framelane bench --shape 8,3,12,3
  # each filter's kernel alone
  framelane bench --filters --size 1080p --vf gblur=sigma=2,sobel
)";
constexpr const char* kFiltersExamples =
    R"(Examples:
  # all filters
  framelane filters
  # parameters of one, with ranges and defaults
  framelane filters gblur
)";
constexpr const char* kDevicesExamples =
    R"(Examples:
  # what --device may be here
  framelane devices
)";
constexpr const char* kDemoExamples =
    R"(Examples:
  # three modes side by side, files in out/
  framelane demo
  # shorter, on the CPU
  framelane demo --seconds 2 --device cpu --output-dir /tmp/demo
)";

struct CommandText {
  std::string_view name;
  std::string_view usage;
  std::string_view help;
  std::string_view examples;         ///< empty: an internal command, not shown
  std::string_view bare_words = {};  ///< the option that words without one belong to; empty: CLI11's positionals
};
constexpr std::array kCommands{
    CommandText{"run", "INPUT -o OUTPUT [OPTIONS]", "filter a file, camera or stream", kRunExamples, "input"},
    CommandText{"compare", "INPUT --vf CHAIN [OPTIONS]", "run all modes in turns and show what bounds them",
                kCompareExamples, "input"},
    CommandText{"tune", "INPUT --vf CHAIN [OPTIONS]", "find the fastest settings for a chain", kTuneExamples, "input"},
    CommandText{"bench", "[OPTIONS]", "measure modes, filters and copies without a file", kBenchExamples},
    CommandText{"filters", "[NAME]", "list the filters, or explain one", kFiltersExamples},
    CommandText{"devices", "", "list where filters can run", kDevicesExamples},
    CommandText{"demo", "[OPTIONS]", "compare the modes on a test picture", kDemoExamples},
    CommandText{"completion", "bash|zsh|fish", "print a shell's completions", ""},
    CommandText{"man", "", "print the manual page", ""},
};

const CommandText* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &CommandText::name);
  return found == kCommands.end() ? nullptr : &*found;
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(38); }

  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    const CommandText* text = find_command(app->get_name());
    if (text == nullptr) return "\nUsage: framelane COMMAND [OPTIONS]\n";
    return fmt::format("\nUsage: framelane {} {}\n", text->name, text->usage);
  }
  std::string make_positionals(const CLI::App* /*app*/) const override { return ""; }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
  }
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::unique_ptr<CLI::App> declare_program(ParsedValues& values) {
  auto program = std::make_unique<CLI::App>("framelane: real-time video filters on NVIDIA GPUs and CPUs", "framelane");
  program->formatter(std::make_shared<HelpFormatter>());
  program->set_help_flag();  // ours is a flag like others: with it CLI11 would stop at a wrong value first
  program->require_subcommand(0, 1);
  program->footer("'framelane COMMAND --help' explains a command and has examples.");
  Declarations declare(*program);
  declare.group("Options");
  declare.flag("--version", values.version, "versions of framelane, FFmpeg, OpenCV and CUDA");
  for (const CommandText& text : kCommands) {
    program->add_subcommand(std::string(text.name), std::string(text.help))
        ->group(text.examples.empty() ? "" : "Commands")
        ->footer(std::string(text.examples));
  }
  declare_run(*program->get_subcommand("run"), values);
  declare_demo(*program->get_subcommand("demo"), values);
  declare_compare(*program->get_subcommand("compare"), values);
  declare_tune(*program->get_subcommand("tune"), values);
  declare_bench(*program->get_subcommand("bench"), values);
  Declarations(*program->get_subcommand("filters"))
      .text("NAME", "FILTER", values.filters.name, "the filter to explain");
  Declarations completion(*program->get_subcommand("completion"));
  completion.text("WHAT", "bash|zsh|fish|chain", values.generate.what, "whose completions");
  completion.text("PREFIX", "PREFIX", values.generate.prefix, "of a filter chain, as typed so far");
  const auto add_help = [&](CLI::App* app) {
    Declarations declare_help(*app);
    const bool has_console_group = is_one_of(app->get_name(), {"run", "compare", "tune", "bench"});
    declare_help.group(has_console_group ? "What you see" : "Options");
    declare_help.flag("-h,--help", values.help, "this text");
  };
  add_help(program.get());
  for (CLI::App* command : program->get_subcommands({})) add_help(command);
  return program;
}

OptionDescription describe(const CLI::Option& option) {
  const bool takes_value = option.get_items_expected_max() > 0;
  return {option.get_lnames(),      option.get_snames(), takes_value ? option.get_option_text() : "",
          option.get_description(), option.get_group(),  option.get_description().ends_with("(repeatable)")};
}

CommandDescription describe(const CLI::App& command) {
  CommandDescription description;
  description.name = command.get_name();
  description.help = command.get_description();
  if (const CommandText* text = find_command(command.get_name())) {
    description.usage = text->usage;
    description.bare_words = text->bare_words;
    description.examples = text->examples;
  }
  for (const CLI::Option* option : command.get_options()) description.options.push_back(describe(*option));
  return description;
}

[[noreturn]] void throw_no_command(const std::string& word) {
  if (std::filesystem::exists(word) || word.starts_with('-') || word.find_first_of("./:") != std::string::npos) {
    throw UsageError("a command comes first: framelane run INPUT -o OUTPUT (framelane --help lists commands)");
  }
  const auto nearest = std::ranges::min_element(
      kCommands, {}, [&](const CommandText& command) { return edit_distance(word, command.name); });
  if (edit_distance(word, nearest->name) <= 2) {
    throw UsageError(fmt::format("unknown command '{}': did you mean {}?", word, nearest->name));
  }
  throw UsageError(
      fmt::format("unknown command '{}': framelane run INPUT -o OUTPUT filters a file "
                  "(framelane --help lists commands)",
                  word));
}

/** "gblur=help": the filter's name; empty for anything else. */
std::string asks_for_help(const std::string& chain) {
  constexpr std::string_view kHelp = "=help";
  const bool asks = chain.ends_with(kHelp) && chain.find_first_of(",=") == chain.size() - kHelp.size();
  return asks ? chain.substr(0, chain.size() - kHelp.size()) : "";
}

GenerateOptions finish_generate(GenerateOptions generate) {
  if (!is_one_of(generate.what, {"bash", "zsh", "fish", "chain"})) {
    throw UsageError(fmt::format("unknown shell '{}': use bash, zsh or fish", generate.what));
  }
  return generate;
}

CommandLine finish(ParsedValues& values, const CLI::App& program) {
  if (values.quiet) {
    values.console.level = std::min(values.console.level, LogLevel::kError);
    values.console.progress = false;
  }
  if (values.console.level < LogLevel::kInfo) values.console.progress = false;
  const auto parsed = program.get_subcommands();
  const CLI::App& command = parsed.empty() ? program : *parsed.front();
  if (values.version) return {VersionOptions{}, values.console};
  if (values.help || parsed.empty()) return {HelpOptions{command.help()}, values.console};
  if (command.get_name() == "filters") return {values.filters, values.console};
  if (command.get_name() == "devices") return {DevicesOptions{}, values.console};
  if (command.get_name() == "demo") return {values.demo, values.console};
  if (command.get_name() == "man") return {GenerateOptions{"man", ""}, values.console};
  if (command.get_name() == "completion") return {finish_generate(values.generate), values.console};
  for (const std::string& chain : values.chains) {
    if (const std::string name = asks_for_help(chain); !name.empty()) return {FiltersOptions{name}, values.console};
  }
  if (command.get_name() == "compare") return {finish_compare(values), values.console};
  if (command.get_name() == "tune") return {finish_tune(values), values.console};
  if (command.get_name() == "bench") return {finish_bench(values), values.console};
  return {finish_run(values), values.console};
}

/** CLI11's own complaints, few after understand_habits(), as one line. */
std::string message(const CLI::ParseError& error) {
  std::string text = error.what();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  ParsedValues values;
  const auto program = declare_program(values);
  std::vector<std::string> words;
  const std::string first = arguments.empty() ? "--help" : arguments.front();
  if (is_one_of(first, {"--help", "-h", "-help", "help"})) {
    words = {"--help"};
  } else if (is_one_of(first, {"--version", "-version"})) {
    words = {"--version"};
  } else {
    if (find_command(arguments.front()) == nullptr) throw_no_command(arguments.front());
    words = understand_habits(describe(*program->get_subcommand(arguments.front())),
                              {arguments.begin() + 1, arguments.end()});
    words.insert(words.begin(), arguments.front());
  }
  try {
    std::ranges::reverse(words);  // CLI11 takes them from the back
    program->parse(words);
  } catch (const CLI::ParseError& error) {
    throw UsageError(message(error));
  }
  return finish(values, *program);
}

std::vector<CommandDescription> describe_commands() {
  ParsedValues values;
  const auto program = declare_program(values);
  std::vector<CommandDescription> commands;
  for (const CommandText& text : kCommands) {
    if (!text.examples.empty()) commands.push_back(describe(*program->get_subcommand(std::string(text.name))));
  }
  return commands;
}

const OptionDescription* find_option(const CommandDescription& command, std::string_view name) {
  const auto found = std::ranges::find_if(command.options, [&](const OptionDescription& option) {
    return std::ranges::find(option.long_names, name) != option.long_names.end() ||
           std::ranges::find(option.short_names, name) != option.short_names.end();
  });
  return found == command.options.end() ? nullptr : &*found;
}

}  // namespace framelane
