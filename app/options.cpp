#include "app/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "app/ffmpeg_habits.h"
#include "app/log.h"
#include "app/option_values.h"
#include "kernels/edit_distance.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

/** What CLI11 fills in; turned into a CommandLine once all is known. */
struct Values {
  std::vector<std::string> inputs;
  std::vector<std::string> chains;
  bool overwrite = false;
  bool keep = false;
  bool no_keys = false;
  bool quiet = false;
  bool help = false;
  bool version = false;
  RunOptions run;
  FiltersOptions filters;
  DemoOptions demo;
  GenerateOptions generate;
  ConsoleOptions console;
};

/** Declares options of one command, group by group. The last of several values holds, as in ffmpeg. */
class Declarations {
 public:
  using Set = std::function<void(const std::string&)>;

  explicit Declarations(CLI::App& command) : command_(command) {}

  void group(const std::string& name) { group_ = name; }

  CLI::Option* flag(const std::string& names, bool& target, const std::string& help) {
    return command_.add_flag(names, target, help)->group(group_)->take_last();
  }

  CLI::Option* value(const std::string& names, const std::string& placeholder, const Set& set,
                     const std::string& help) {
    return add(names, placeholder, help, [set](const std::vector<std::string>& texts) { set(texts.back()); });
  }

  CLI::Option* text(const std::string& names, const std::string& placeholder, std::string& target,
                    const std::string& help) {
    return value(
        names, placeholder, [&target](const std::string& text) { target = text; }, help);
  }

  /** `set` is called for each value, in order. */
  CLI::Option* values(const std::string& names, const std::string& placeholder, const Set& set,
                      const std::string& help) {
    return add(names, placeholder, help,
               [set](const std::vector<std::string>& texts) {
                 for (const std::string& text : texts) set(text);
               })
        ->description(help + " (repeatable)");
  }

 private:
  CLI::Option* add(const std::string& names, const std::string& placeholder, const std::string& help,
                   const std::function<void(const std::vector<std::string>&)>& set) {
    const std::string shown = names.find("--") != std::string::npos ? names.substr(names.find("--")) : names;
    // Words as they were typed: CLI11's own conversions would take "{}" and "[a,b]" apart.
    const CLI::callback_t store = [set, shown](const std::vector<std::string>& texts) {
      try {
        set(texts);
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("{}: {}", shown, error.what()));
      }
      return true;
    };
    return command_.add_option(names, store, help)
        ->take_all()
        ->type_name(placeholder)
        ->option_text(placeholder)
        ->group(group_);
  }

  CLI::App& command_;
  std::string group_;
};

constexpr const char* kLevels = "quiet|panic|fatal|error|warning|info|verbose|debug|trace";
constexpr const char* kModeNames = "sync|async|multistream";

void declare_console(Declarations& declare, Values& values) {
  declare.group("What you see");
  declare
      .value(
          "-v,--log-level", kLevels, [&](const std::string& text) { values.console.level = parse_log_level(text); },
          "how much is told on stderr (info)")
      ->envname("FRAMELANE_LOG_LEVEL");
  declare.flag("--quiet", values.quiet, "errors only, no progress");
  declare.value(
      "--color", "auto|always|never", [&](const std::string& text) { values.console.color = parse_color(text); },
      "coloured labels (auto)");
}

void declare_input(Declarations& declare, MediaInputOptions& input) {
  declare.group("Input");
  declare.text("--input-format", "FORMAT", input.format, "FFmpeg's demuxer by name (probed)");
  declare.values(
      "--demuxer-opt", "KEY=VALUE",
      [&](const std::string& text) { input.demuxer_options.insert(parse_key_value(text)); },
      "option of the demuxer, such as video_size=640x480");
  declare.value(
      "--start", "TIME", [&](const std::string& text) { input.start_s = parse_seconds(text); },
      "begin there: 90, 1:30, 00:01:30.5");
  declare.value(
      "--duration", "TIME", [&](const std::string& text) { input.duration_s = parse_duration(text); },
      "end after that much");
  declare.flag("--realtime", input.realtime, "play a file at its own speed");
  declare.value(
      "--decoder-threads", "N",
      [&](const std::string& text) { input.decoder_threads = static_cast<int>(parse_integer(text, 0, 1024)); },
      "threads of the decoder (0: one a core)");
}

void declare_output(Declarations& declare, Values& values) {
  MediaOutputOptions& output = values.run.pipeline.output;
  declare.group("Output");
  declare.text("-o,--output", "FILE", output.url, "file, image pattern, URL, - (stdout, with --format) or null");
  declare.text("--format", "FORMAT", output.format, "FFmpeg's muxer by name (from the file's name)");
  declare.text("--video-codec", "CODEC", output.video_codec, "FFmpeg's encoder by name (libx264 where it fits)");
  declare.value(
      "--crf", "NUMBER", [&](const std::string& text) { output.crf = parse_number(text, 0, 63); },
      "constant quality, lower is better (20)");
  declare.text("--preset", "NAME", output.preset, "the encoder's speed (veryfast)");
  declare.value(
      "--bitrate", "RATE", [&](const std::string& text) { output.bitrate = parse_bitrate(text); },
      "bits a second in place of --crf: 2500k, 5M");
  declare.values(
      "--encoder-opt", "KEY=VALUE",
      [&](const std::string& text) { output.encoder_options.insert(parse_key_value(text)); },
      "option of the encoder, such as tune=film");
  declare.values(
      "--muxer-opt", "KEY=VALUE", [&](const std::string& text) { output.muxer_options.insert(parse_key_value(text)); },
      "option of the muxer, such as movflags=+faststart");
  declare.value(
      "--encoder-threads", "N",
      [&](const std::string& text) { output.encoder_threads = static_cast<int>(parse_integer(text, 0, 1024)); },
      "threads of the encoder (0: its own choice)");
  declare.value(
      "--frames", "N",
      [&](const std::string& text) { values.run.pipeline.frame_limit = parse_integer(text, 1, std::int64_t{1} << 53); },
      "end after that many frames");
  declare.flag("-y,--overwrite", values.overwrite, "replace an existing output");
  declare.flag("-n,--no-overwrite", values.keep, "never replace it (what happens anyway)");
}

void declare_filtering(Declarations& declare, Values& values) {
  PipelineOptions& pipeline = values.run.pipeline;
  declare.group("Filtering");
  declare.values(
      "--vf", "CHAIN", [&](const std::string& text) { values.chains.push_back(text); },
      "filters in ffmpeg's grammar; NAME=help explains one");
  declare
      .text("--device", "auto|cpu|cuda|cuda:N", values.run.device, "where filters run (auto: CUDA where there is one)")
      ->envname("FRAMELANE_DEVICE");
  declare
      .value(
          "--mode", kModeNames, [&](const std::string& text) { pipeline.mode = parse_mode(text); },
          "what overlaps (multistream)")
      ->envname("FRAMELANE_MODE");
  declare
      .value(
          "--slots", "K",
          [&](const std::string& text) { pipeline.slots = static_cast<int>(parse_integer(text, 1, 64)); },
          "frames in flight (the device's choice)")
      ->envname("FRAMELANE_SLOTS");
  declare.values(
      "--switch-at", "N:MODE",
      [&](const std::string& text) {
        const auto [frame, mode] = parse_switch(text);
        pipeline.switch_at.insert_or_assign(frame, mode);
      },
      "from frame N on, that mode");
  declare.value(
      "--on-full", "block|drop-oldest|drop-newest",
      [&](const std::string& text) { pipeline.on_full = parse_on_full(text); },
      "when frames wait (files block, live input drops)");
}

void declare_run(CLI::App& command, Values& values) {
  Declarations declare(command);
  declare.group("Input");
  declare
      .values(
          "-i,--input", "INPUT", [&](const std::string& text) { values.inputs.push_back(text); }, "")
      ->description("file, URL, - (stdin), camera, /dev/videoN or lavfi:GRAPH");
  declare_input(declare, values.run.pipeline.input);
  declare_output(declare, values);
  declare_filtering(declare, values);
  declare_console(declare, values);
  declare.flag("--hud", values.run.hud, "draw the overlay: times of each stage, fps, mode");
  declare.flag("--preview", values.run.preview, "show the frames in a window, too");
  declare.flag("--no-keys", values.no_keys, "do not read keys from the terminal");
  declare.text("--stats", "FILE", values.run.stats, "write times and totals as JSON (- for stdout)");
  declare.text("--progress", "FILE", values.run.progress, "write ffmpeg's -progress keys (- for stdout)");
}

void declare_demo(CLI::App& command, Values& values) {
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

std::unique_ptr<CLI::App> declare_program(Values& values) {
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
  Declarations(*program->get_subcommand("filters"))
      .text("NAME", "FILTER", values.filters.name, "the filter to explain");
  Declarations completion(*program->get_subcommand("completion"));
  completion.text("WHAT", "bash|zsh|fish|chain", values.generate.what, "whose completions");
  completion.text("PREFIX", "PREFIX", values.generate.prefix, "of a filter chain, as typed so far");
  const auto add_help = [&](CLI::App* app) {
    Declarations declare_help(*app);
    declare_help.group(app->get_name() == "run" ? "What you see" : "Options");
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

RunOptions finish_run(Values& values) {
  RunOptions run = std::move(values.run);
  if (values.inputs.empty())
    throw UsageError("no input: framelane run INPUT -o OUTPUT (framelane run --help has examples)");
  if (values.inputs.size() > 1) {
    throw UsageError(
        run.pipeline.output.url.empty()
            ? fmt::format("two inputs, '{}' and '{}': the output is named with -o", values.inputs[0], values.inputs[1])
            : fmt::format("two inputs, '{}' and '{}': framelane takes one", values.inputs[0], values.inputs[1]));
  }
  run.pipeline.input.url = values.inputs.front();
  if (run.pipeline.output.url.empty()) {
    if (!run.preview) throw UsageError("no output: name one with -o (a file, - or null)");
    run.pipeline.output.url = "null";
    run.preview_only = true;
  }
  if (values.overwrite && values.keep) throw UsageError("-y and -n contradict each other");
  run.keys = !values.no_keys;
  run.pipeline.output.overwrite = values.overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
  std::erase(values.chains, "");
  run.chain = fmt::format("{}", fmt::join(values.chains, ","));
  return run;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

GenerateOptions finish_generate(GenerateOptions generate) {
  if (!is_one_of(generate.what, {"bash", "zsh", "fish", "chain"})) {
    throw UsageError(fmt::format("unknown shell '{}': use bash, zsh or fish", generate.what));
  }
  return generate;
}

CommandLine finish(Values& values, const CLI::App& program) {
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
  Values values;
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
  Values values;
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
