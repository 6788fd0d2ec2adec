#include "app/options.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "app/generate_command.h"
#include "app/option_values.h"
#include "kernels/errors.h"
#include "kernels/filter_registry.h"

namespace framelane {
namespace {

using Words = std::vector<std::string>;

RunOptions parse_run(Words words) {
  words.insert(words.begin(), "run");
  return std::get<RunOptions>(parse_command_line(words).command);
}

/** The message of the UsageError that parsing throws; fails the test where it throws none. */
std::string usage_error(const Words& words) {
  try {
    parse_command_line(words);
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << "no UsageError";
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Options, EveryOptionOfRunReachesItsPlace) {
  const RunOptions run = parse_run({"in.mp4",
                                    "-o",
                                    "out.mkv",
                                    "--vf",
                                    "gblur",
                                    "--vf=hflip,vflip",
                                    "--mode",
                                    "async",
                                    "--device",
                                    "cpu",
                                    "--slots",
                                    "5",
                                    "--hud",
                                    "--preview",
                                    "--video-codec",
                                    "libx265",
                                    "--crf",
                                    "18.5",
                                    "--preset",
                                    "slow",
                                    "--bitrate",
                                    "2500k",
                                    "--encoder-opt",
                                    "tune=film",
                                    "--encoder-opt",
                                    "x264-params=a=1:b=2",
                                    "--format",
                                    "matroska",
                                    "--input-format",
                                    "mov",
                                    "--frames",
                                    "100",
                                    "--start",
                                    "1:30",
                                    "--duration",
                                    "00:00:10.5",
                                    "-y",
                                    "--stats",
                                    "s.json",
                                    "--trace",
                                    "t.json",
                                    "--realtime",
                                    "--switch-at",
                                    "7:sync",
                                    "--switch-at",
                                    "14:async",
                                    "--on-full",
                                    "drop-oldest",
                                    "--decoder-threads",
                                    "3",
                                    "--encoder-threads",
                                    "2",
                                    "--progress",
                                    "p.txt",
                                    "--no-keys",
                                    "--muxer-opt",
                                    "movflags=+faststart",
                                    "--demuxer-opt",
                                    "framerate=10"});
  EXPECT_EQ(run.pipeline.input.url, "in.mp4");
  EXPECT_EQ(run.pipeline.input.format, "mov");
  EXPECT_EQ(run.pipeline.input.start_s, 90.0);
  EXPECT_EQ(run.pipeline.input.duration_s, 10.5);
  EXPECT_EQ(run.pipeline.input.decoder_threads, 3);
  EXPECT_TRUE(run.pipeline.input.realtime);
  EXPECT_EQ(run.pipeline.input.demuxer_options.at("framerate"), "10");
  EXPECT_EQ(run.pipeline.output.url, "out.mkv");
  EXPECT_EQ(run.pipeline.output.format, "matroska");
  EXPECT_EQ(run.pipeline.output.video_codec, "libx265");
  EXPECT_EQ(run.pipeline.output.crf, 18.5);
  EXPECT_EQ(run.pipeline.output.preset, "slow");
  EXPECT_EQ(run.pipeline.output.bitrate, 2'500'000);
  EXPECT_EQ(run.pipeline.output.encoder_options.at("tune"), "film");
  EXPECT_EQ(run.pipeline.output.encoder_options.at("x264-params"), "a=1:b=2");
  EXPECT_EQ(run.pipeline.output.muxer_options.at("movflags"), "+faststart");
  EXPECT_EQ(run.pipeline.output.encoder_threads, 2);
  EXPECT_EQ(run.pipeline.output.overwrite, Overwrite::kAllow);
  EXPECT_EQ(run.pipeline.mode, Mode::kAsync);
  EXPECT_EQ(run.pipeline.slots, 5);
  EXPECT_EQ(run.pipeline.on_full, OnFull::kDropOldest);
  EXPECT_EQ(run.pipeline.frame_limit, 100);
  const std::map<std::int64_t, Mode> switches{{7, Mode::kSync}, {14, Mode::kAsync}};
  EXPECT_EQ(run.pipeline.switch_at, switches);
  EXPECT_EQ(run.chain, "gblur,hflip,vflip");
  EXPECT_EQ(run.device, "cpu");
  EXPECT_TRUE(run.hud);
  EXPECT_TRUE(run.preview);
  EXPECT_FALSE(run.preview_only);
  EXPECT_FALSE(run.keys);
  EXPECT_EQ(run.stats, "s.json");
  EXPECT_EQ(run.trace, "t.json");
  EXPECT_EQ(run.progress, "p.txt");
}

TEST(Options, DefaultsAreThoseOfTheDesign) {
  const RunOptions run = parse_run({"in.mp4", "-o", "null"});
  EXPECT_EQ(run.pipeline.mode, Mode::kMultistream);
  EXPECT_EQ(run.device, "auto");
  EXPECT_EQ(run.pipeline.slots, 0);
  EXPECT_EQ(run.pipeline.output.overwrite, Overwrite::kRefuse);
  EXPECT_EQ(run.chain, "");
  EXPECT_TRUE(run.keys);
  EXPECT_FALSE(run.hud);
  EXPECT_FALSE(run.pipeline.frame_limit.has_value());
}

TEST(Options, TheLastOfSeveralValuesHolds) {
  EXPECT_EQ(parse_run({"in", "-o", "a", "-o", "b", "--mode", "sync", "--mode=async"}).pipeline.output.url, "b");
  EXPECT_EQ(parse_run({"in", "-o", "a", "--mode", "sync", "--mode=async"}).pipeline.mode, Mode::kAsync);
}

TEST(Options, AwkwardNamesAreTakenAsTheyAre) {
  for (const std::string name : {"[a].mp4", "[a,b]", "{}", "100%done.mp4", "two  words", "run", "filters", "-",
                                 "a%03d.png", "quo'te\"s", "new\nline", "back\\slash", "%%", "tr:ack 01:02"}) {
    const RunOptions run = parse_run({name, "-o", name});
    EXPECT_EQ(run.pipeline.input.url, name);
    EXPECT_EQ(run.pipeline.output.url, name);
  }
  EXPECT_EQ(parse_run({"-o", "out", "--", "-dash.mp4"}).pipeline.input.url, "-dash.mp4");
  EXPECT_EQ(parse_run({"in", "-o", "-dash.mp4"}).pipeline.output.url, "-dash.mp4");
  EXPECT_EQ(parse_run({"in", "-o", "o", "--vf", "[in]hflip[out]"}).chain, "[in]hflip[out]");
  EXPECT_EQ(parse_run({"in", "-o", "o", "--vf", "", "--vf", "hflip"}).chain, "hflip");
}

TEST(Options, FfmpegsSpellingsAreUnderstood) {
  const RunOptions run = parse_run(
      {"-hide_banner", "-nostdin",      "-y",   "-ss",     "5",      "-t",    "2",       "-i",        "in.mp4",
       "-vf",          "gblur=sigma=2", "-c:v", "libx264", "-crf",   "23",    "-preset", "fast",      "-b:v",
       "1M",           "-frames:v",     "10",   "-c:a",    "copy",   "-tune", "film",    "-movflags", "+faststart",
       "-v",           "error",         "-re",  "-o",      "out.mp4"});
  EXPECT_EQ(run.pipeline.input.url, "in.mp4");
  EXPECT_EQ(run.pipeline.input.start_s, 5.0);
  EXPECT_EQ(run.pipeline.input.duration_s, 2.0);
  EXPECT_TRUE(run.pipeline.input.realtime);
  EXPECT_EQ(run.chain, "gblur=sigma=2");
  EXPECT_EQ(run.pipeline.output.video_codec, "libx264");
  EXPECT_EQ(run.pipeline.output.crf, 23.0);
  EXPECT_EQ(run.pipeline.output.preset, "fast");
  EXPECT_EQ(run.pipeline.output.bitrate, 1'000'000);
  EXPECT_EQ(run.pipeline.frame_limit, 10);
  EXPECT_EQ(run.pipeline.output.encoder_options.at("tune"), "film");
  EXPECT_EQ(run.pipeline.output.muxer_options.at("movflags"), "+faststart");
  EXPECT_EQ(run.pipeline.output.overwrite, Overwrite::kAllow);
  EXPECT_FALSE(run.keys);
}

TEST(Options, FfmpegsFormatBelongsToTheFileAfterIt) {
  const RunOptions run = parse_run({"-f", "h264", "-i", "in", "-o", "-", "-f", "nut"});
  EXPECT_EQ(run.pipeline.input.format, "h264");
  EXPECT_EQ(run.pipeline.output.format, "nut");
  EXPECT_EQ(parse_run({"in", "-f", "nut", "-o", "-"}).pipeline.output.format, "nut");
}

TEST(Options, WhatFfmpegHasAndWeHaveNotNamesOurWay) {
  const auto error_of = [](Words words) {
    words.insert(words.begin(), {"run", "in", "-o", "out"});
    return usage_error(words);
  };
  EXPECT_TRUE(contains(error_of({"-an"}), "audio"));
  EXPECT_TRUE(contains(error_of({"-to", "5"}), "--duration"));
  EXPECT_TRUE(contains(error_of({"-s", "640x480"}), "--vf scale"));
  EXPECT_TRUE(contains(error_of({"-c", "copy"}), "--video-codec"));
  EXPECT_TRUE(contains(error_of({"-threads", "2"}), "--decoder-threads"));
  EXPECT_TRUE(contains(error_of({"-c:a", "aac"}), "copied"));
  EXPECT_TRUE(contains(error_of({"-filter_complex", "x"}), "--vf"));
}

TEST(Options, UnknownOptionsNameTheNearest) {
  EXPECT_TRUE(contains(usage_error({"run", "in", "-o", "out", "--mod", "sync"}), "did you mean --mode?"));
  EXPECT_TRUE(contains(usage_error({"run", "in", "-o", "out", "--vido-codec=x"}), "did you mean --video-codec?"));
  EXPECT_TRUE(contains(usage_error({"run", "in", "-oout.mp4"}), "-o out.mp4"));
  EXPECT_TRUE(contains(usage_error({"filters", "--mode", "sync"}), "unknown option"));
}

TEST(Options, WrongValuesNameTheOptionAndWhatWouldDo) {
  const auto error_of = [](Words words) {
    words.insert(words.begin(), {"run", "in", "-o", "out"});
    return usage_error(words);
  };
  EXPECT_TRUE(contains(error_of({"--mode", "fast"}), "--mode: unknown mode 'fast': use sync, async or multistream"));
  EXPECT_TRUE(contains(error_of({"--slots", "0"}), "--slots: 0 is out of range [1 - 64]"));
  EXPECT_TRUE(contains(error_of({"--crf", "good"}), "--crf: 'good' is not a number"));
  EXPECT_TRUE(contains(error_of({"--start", "noon"}), "--start: 'noon' is not a time"));
  EXPECT_TRUE(contains(error_of({"--start", "-5"}), "--start: '-5' is negative"));
  EXPECT_TRUE(contains(error_of({"--duration", "0"}), "--duration"));
  EXPECT_TRUE(contains(error_of({"--frames", "1.5"}), "whole"));
  EXPECT_TRUE(contains(error_of({"--encoder-opt", "tune"}), "key=value"));
  EXPECT_TRUE(contains(error_of({"--switch-at", "100"}), "N:mode"));
  EXPECT_TRUE(contains(error_of({"--on-full", "wait"}), "drop-oldest"));
  EXPECT_TRUE(contains(error_of({"--log-level", "loud"}), "verbose"));
  EXPECT_TRUE(contains(error_of({"--color", "red"}), "never"));
  EXPECT_TRUE(contains(error_of({"--crf"}), "needs a value"));
  EXPECT_TRUE(contains(error_of({"--preset", "--crf", "20"}), "--preset needs a value"));
  EXPECT_TRUE(contains(error_of({"--hud=yes"}), "--hud takes no value"));
  EXPECT_FALSE(error_of({"-y", "-n"}).empty());
}

TEST(Options, MissingPartsAreNamed) {
  EXPECT_TRUE(contains(usage_error({"run"}), "no input"));
  EXPECT_TRUE(contains(usage_error({"run", "in.mp4"}), "-o"));
  EXPECT_TRUE(contains(usage_error({"run", "in.mp4", "out.mp4"}), "-o"));
  EXPECT_TRUE(contains(usage_error({"run", "a.mp4", "b.mp4", "-o", "c.mp4"}), "one"));
  EXPECT_TRUE(contains(usage_error({"in.mp4", "-o", "out.mp4"}), "framelane run"));
  EXPECT_TRUE(contains(usage_error({"-i", "in.mp4"}), "framelane run"));
  EXPECT_TRUE(contains(usage_error({"devcies"}), "did you mean devices?"));
}

TEST(Options, PreviewAloneNeedsNoOutput) {
  const RunOptions run = parse_run({"in.mp4", "--preview"});
  EXPECT_EQ(run.pipeline.output.url, "null");
  EXPECT_TRUE(run.preview_only);
}

TEST(Options, QuietAndLevels) {
  const Words base{"run", "in", "-o", "out"};
  const auto console = [&](Words more) {
    more.insert(more.begin(), base.begin(), base.end());
    return parse_command_line(more).console;
  };
  EXPECT_EQ(console({}).level, LogLevel::kInfo);
  EXPECT_TRUE(console({}).progress);
  EXPECT_EQ(console({"--quiet"}).level, LogLevel::kError);
  EXPECT_FALSE(console({"--quiet"}).progress);
  EXPECT_EQ(console({"--quiet", "-v", "quiet"}).level, LogLevel::kQuiet);
  EXPECT_EQ(console({"-v", "trace"}).level, LogLevel::kTrace);
  EXPECT_FALSE(console({"-v", "warning"}).progress);
  EXPECT_EQ(console({"--color", "never"}).color, ColorChoice::kNever);
}

TEST(Options, EnvironmentGivesDefaults) {
  setenv("FRAMELANE_MODE", "sync", 1);
  const Mode from_environment = parse_run({"in", "-o", "out"}).pipeline.mode;
  const Mode from_command_line = parse_run({"in", "-o", "out", "--mode", "async"}).pipeline.mode;
  unsetenv("FRAMELANE_MODE");
  EXPECT_EQ(from_environment, Mode::kSync);
  EXPECT_EQ(from_command_line, Mode::kAsync);
}

TEST(Options, OtherCommands) {
  EXPECT_EQ(std::get<FiltersOptions>(parse_command_line({"filters"}).command).name, "");
  EXPECT_EQ(std::get<FiltersOptions>(parse_command_line({"filters", "gblur"}).command).name, "gblur");
  EXPECT_EQ(std::get<FiltersOptions>(parse_command_line({"run", "--vf", "eq=help"}).command).name, "eq");
  EXPECT_TRUE(std::holds_alternative<DevicesOptions>(parse_command_line({"devices"}).command));
  EXPECT_TRUE(std::holds_alternative<VersionOptions>(parse_command_line({"--version"}).command));
  EXPECT_TRUE(std::holds_alternative<HelpOptions>(parse_command_line({}).command));
  const auto demo = std::get<DemoOptions>(
      parse_command_line({"demo", "--seconds", "2", "--output-dir", "/tmp/x", "--device", "cpu"}).command);
  EXPECT_EQ(demo.seconds, 2);
  EXPECT_EQ(demo.output_dir, "/tmp/x");
  EXPECT_EQ(demo.device, "cpu");
}

TEST(Options, HelpOfEachCommandListsItsOptionsAndExamples) {
  for (const CommandDescription& command : describe_commands()) {
    const std::string help = std::get<HelpOptions>(parse_command_line({command.name, "--help"}).command).text;
    EXPECT_TRUE(contains(help, "Examples:")) << help;
    for (const OptionDescription& option : command.options) {
      for (const std::string& name : option.long_names)
        EXPECT_TRUE(contains(help, "--" + name)) << command.name << name;
    }
  }
}

TEST(OptionValues, Times) {
  EXPECT_EQ(parse_seconds("90"), 90);
  EXPECT_EQ(parse_seconds("1:30"), 90);
  EXPECT_EQ(parse_seconds("00:01:30.5"), 90.5);
  EXPECT_EQ(parse_seconds("1.25"), 1.25);
  EXPECT_EQ(parse_seconds("500ms"), 0.5);
  for (const char* wrong : {"", "abc", "1:2:3:4", "5x", "1::2"})
    EXPECT_THROW(parse_seconds(wrong), UsageError) << wrong;
}

TEST(OptionValues, NumbersWithSuffixes) {
  EXPECT_EQ(parse_bitrate("2500k"), 2'500'000);
  EXPECT_EQ(parse_bitrate("5M"), 5'000'000);
  EXPECT_EQ(parse_bitrate("1.5M"), 1'500'000);
  EXPECT_EQ(parse_integer("1k", 0, 2000), 1000);
  for (const char* wrong : {"", "-1", "0", "5Q", "nan", "inf", "1e30"}) {
    EXPECT_THROW(parse_bitrate(wrong), UsageError) << wrong;
  }
}

TEST(Completion, ChainsGoOnWithNamesParametersAndValues) {
  EXPECT_EQ(chain_candidates("gb"), "gblur=\n");
  EXPECT_EQ(chain_candidates("hflip,gb"), "hflip,gblur=\n");
  EXPECT_EQ(chain_candidates("hfl"), "hflip\n");
  EXPECT_TRUE(contains(chain_candidates("gblur="), "gblur=sigma=\n"));
  EXPECT_TRUE(contains(chain_candidates("vflip,gblur=sigma=2:pl"), "vflip,gblur=sigma=2:planes=\n"));
  EXPECT_TRUE(contains(chain_candidates("transpose=dir=cc"), "transpose=dir=cclock\n"));
  EXPECT_EQ(chain_candidates("nosuch="), "");
}

TEST(Completion, ScriptsAndManualPageNameEveryOptionAndFilter) {
  const std::string bash = bash_completion();
  const std::string zsh = zsh_completion();
  const std::string fish = fish_completion();
  const std::string man = man_page();
  for (const CommandDescription& command : describe_commands()) {
    for (const OptionDescription& option : command.options) {
      for (const std::string& name : option.long_names) {
        EXPECT_TRUE(contains(bash, "--" + name)) << name;
        EXPECT_TRUE(contains(zsh, "--" + name)) << name;
        EXPECT_TRUE(contains(fish, "-l " + name)) << name;
        std::string escaped = "\\-\\-";
        for (const char c : name) escaped += c == '-' ? "\\-" : std::string(1, c);
        EXPECT_TRUE(contains(man, escaped)) << name;
      }
    }
  }
  for (const FilterDescriptor* filter : all_filters()) {
    EXPECT_TRUE(contains(man, ".B " + std::string(filter->name))) << filter->name;
    EXPECT_TRUE(contains(bash, filter->name.data())) << filter->name;
  }
}

}  // namespace
}  // namespace framelane
