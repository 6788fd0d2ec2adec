#include "app/declarations.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "kernels/errors.h"

namespace framelane {

CLI::Option* Declarations::flag(const std::string& names, bool& target, const std::string& help) {
  return command_.add_flag(names, target, help)->group(group_)->take_last();
}

CLI::Option* Declarations::value(const std::string& names, const std::string& placeholder, const Set& set,
                                 const std::string& help) {
  return add(names, placeholder, help, [set](const std::vector<std::string>& texts) { set(texts.back()); });
}

CLI::Option* Declarations::text(const std::string& names, const std::string& placeholder, std::string& target,
                                const std::string& help) {
  return value(
      names, placeholder, [&target](const std::string& text) { target = text; }, help);
}

CLI::Option* Declarations::values(const std::string& names, const std::string& placeholder, const Set& set,
                                  const std::string& help) {
  return add(names, placeholder, help,
             [set](const std::vector<std::string>& texts) {
               for (const std::string& text : texts) set(text);
             })
      ->description(help + " (repeatable)");
}

CLI::Option* Declarations::add(const std::string& names, const std::string& placeholder, const std::string& help,
                               const std::function<void(const std::vector<std::string>&)>& set) {
  const std::string shown = names.find("--") != std::string::npos ? names.substr(names.find("--")) : names;
  // Words as they were typed: CLI11's own conversions would take "{}" and "[a,b]" apart.
  const CLI::callback_t store = [set, shown](const std::vector<std::string>& texts) {
    try {
      set(texts);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", shown, error.what()));
    }
    return true;
  };
  return command_.add_option(names, store, help)
      ->take_all()
      ->type_name(placeholder)
      ->option_text(placeholder)
      ->group(group_);
}

}  // namespace framelane
