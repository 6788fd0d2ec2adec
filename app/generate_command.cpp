#include "app/generate_command.h"

#include <stdexcept>

#include "app/console.h"

namespace framelane {
namespace {

std::string generate(const GenerateOptions& options) {
  if (options.what == "man") return man_page();
  if (options.what == "bash") return bash_completion();
  if (options.what == "zsh") return zsh_completion();
  if (options.what == "fish") return fish_completion();
  if (options.what == "chain") return chain_candidates(options.prefix);
  throw std::logic_error("nothing known to generate: " + options.what);
}

}  // namespace

int run_generate(const GenerateOptions& options) {
  write_stdout(generate(options));
  return 0;
}

}  // namespace framelane
