// Levenshtein distance, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace framelane {

/** Insertions, deletions and substitutions that turn `a` into `b`. */
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace framelane
