// The options of `framelane run`: declared before the parsing, checked and completed after it.
#pragma once

#include <string>
#include <vector>

#include "app/declarations.h"

namespace framelane {

/** All options of `run`. `values` must outlive the parsing. */
void declare_run(CLI::App& command, ParsedValues& values);

/** "Input": which one (words without an option are in `inputs`, too), its part and its decoder. */
void declare_input(Declarations& declare, std::vector<std::string>& inputs, MediaInputOptions& input);
/** The one input that was named. Throws UsageError for none, with what `usage` says, and for two. */
std::string take_input(const ParsedValues& values, const std::string& usage);

/** "Output": where to, and how it is encoded. */
void declare_output(Declarations& declare, ParsedValues& values, MediaOutputOptions& output);
/** From -y and -n. Throws UsageError where both are given. */
Overwrite take_overwrite(const ParsedValues& values);

/** "What you see": options that `run` has in common with other commands. */
void declare_console(Declarations& declare, ParsedValues& values);

/** What `run` is to do; `values.run` and `values.chains` are used up. Throws UsageError where the input or the output
 * is missing, or options contradict each other. */
RunOptions finish_run(ParsedValues& values);

}  // namespace framelane
