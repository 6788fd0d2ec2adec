#include "kernels/asset_path.h"

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <system_error>

namespace framelane {
namespace {

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

std::string asset_path(const std::string& name) {
  if (name.empty() || is_there(name)) return name;
  // An absolute name stays itself: appending it to a folder gives the name again.
  for (const char* folder : std::initializer_list<const char*>{
           std::getenv("FRAMELANE_ASSETS"), FRAMELANE_ASSETS_SOURCE_DIR, FRAMELANE_ASSETS_INSTALL_DIR}) {
    if (folder == nullptr || *folder == '\0') continue;
    const std::filesystem::path candidate = std::filesystem::path(folder) / name;
    if (is_there(candidate)) return candidate.string();
  }
  return name;
}

}  // namespace framelane
