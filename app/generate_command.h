// `framelane man` and `framelane completion SHELL`: made from the declarations of options and filters.
#pragma once

#include <string>
#include <string_view>

#include "app/options.h"

namespace framelane {

/** The manual page in roff (man macros). */
std::string man_page();

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/** What `prefix`, an unfinished value of --vf, may go on as: whole values, one a line ("hflip,gblur=sigma="). */
std::string chain_candidates(std::string_view prefix);

/** Prints one of them to standard output. */
int run_generate(const GenerateOptions& options);

}  // namespace framelane
