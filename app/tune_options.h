// The options of `framelane tune`.
#pragma once

#include <optional>
#include <string>

#include "pipeline/media_input.h"

namespace CLI {
class App;
}  // namespace CLI

namespace framelane {

struct ParsedValues;

/** `framelane tune`. */
struct TuneOptions {
  MediaInputOptions input;  ///< `decoder_threads` other than 0 stay as they are
  std::string chain;        ///< all --vf in order, joined by ','
  std::string device = "auto";
  std::optional<double> budget_s;  ///< default: by the device
  bool sweep = false;
  bool dry_run = false;
  std::string json;  ///< file, "-" or empty
};

/** All options of `tune`. `values` must outlive the parsing. */
void declare_tune(CLI::App& command, ParsedValues& values);

/** What `tune` is to do; `values.tune` and `values.chains` are used up. Throws UsageError where the input is missing.
 */
TuneOptions finish_tune(ParsedValues& values);

}  // namespace framelane
