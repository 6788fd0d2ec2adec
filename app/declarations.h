// Options declared to CLI11, and where it puts what it reads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace framelane {

/** What CLI11 fills in; turned into a CommandLine once all is known. */
struct ParsedValues {
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
  CompareOptions compare;
  TuneOptions tune;
  BenchValues bench;
  GenerateOptions generate;
  ConsoleOptions console;
};

/** Declares options of one command, group by group. The last of several values holds, as in ffmpeg. `names` are as
 * CLI11 takes them: "-o,--output", or "NAME" for a bare word. Targets, and what a Set refers to, must outlive the
 * parsing; the options belong to the command. A UsageError from a Set is thrown on with the option's name before it. */
class Declarations {
 public:
  using Set = std::function<void(const std::string&)>;

  explicit Declarations(CLI::App& command) : command_(command) {}

  /** The heading in --help of the options that follow. */
  void group(const std::string& name) { group_ = name; }

  CLI::Option* flag(const std::string& names, bool& target, const std::string& help);

  CLI::Option* value(const std::string& names, const std::string& placeholder, const Set& set, const std::string& help);

  CLI::Option* text(const std::string& names, const std::string& placeholder, std::string& target,
                    const std::string& help);

  /** `set` is called for each value, in order. */
  CLI::Option* values(const std::string& names, const std::string& placeholder, const Set& set,
                      const std::string& help);

 private:
  CLI::Option* add(const std::string& names, const std::string& placeholder, const std::string& help,
                   const std::function<void(const std::vector<std::string>&)>& set);

  CLI::App& command_;
  std::string group_;
};

}  // namespace framelane
