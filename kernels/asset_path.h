// Where the small files that the program ships (LUTs) are found.
#pragma once

#include <string>

namespace framelane {

/** `name` itself where such a file exists or where it is absolute; else the first that exists of it in the folders
 *  $FRAMELANE_ASSETS, assets/ of the source tree and assets of the installation; else `name` unchanged, for the
 *  caller's error message. */
std::string asset_path(const std::string& name);

}  // namespace framelane
