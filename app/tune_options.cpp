#include "app/tune_options.h"

#include <utility>

#include "app/declarations.h"
#include "app/measure_options.h"
#include "app/option_values.h"
#include "app/run_options.h"

namespace framelane {

void declare_tune(CLI::App& command, ParsedValues& values) {
  TuneOptions& tune = values.tune;
  Declarations declare(command);
  declare_input(declare, values.inputs, tune.input);
  declare.group("Filtering");
  declare_chain(declare, values.chains);
  declare_device(declare, tune.device);
  declare.group("Tuning");
  declare.value(
      "--budget", "TIME", [&](const std::string& text) { tune.budget_s = parse_duration(text); },
      "for the search, at most (30 s, on the CPU 60 s)");
  declare.flag("--sweep", tune.sweep, "then measure every setting, too, and compare: takes minutes");
  declare.flag("--dry-run", tune.dry_run, "do not store the choice");
  declare_console(declare, values);
  declare_json(declare, tune.json);
}

TuneOptions finish_tune(ParsedValues& values) {
  TuneOptions tune = std::move(values.tune);
  tune.input.url = take_input(values, "framelane tune INPUT --vf CHAIN (framelane tune --help has examples)");
  tune.chain = join_chains(std::move(values.chains));
  return tune;
}

}  // namespace framelane
