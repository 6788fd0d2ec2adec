// What people call inputs and outputs: paths, URLs and numbered image files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framelane {

/** `url` for a message of one line: control characters escaped, the password of a URL replaced by "***". */
std::string printable_name(std::string_view url);

/** The path that `url` names in the file system ("file:" stripped; a name with a colon is a path where FFmpeg knows
 *  no such protocol), or nothing for other URLs. */
std::optional<std::string> local_path(const std::string& url);

/** True for a file name with one `%d` or `%0Nd`, as FFmpeg's image sequences have; not for "100%done.png", where a
 *  letter follows. */
bool is_sequence_pattern(const std::string& path);

/** The numbers for which a file exists that `pattern` makes, rising. Other files of the folder do not count: "7.png"
 *  is not one of "%03d.png". */
std::vector<std::int64_t> sequence_numbers(const std::string& pattern);

}  // namespace framelane
