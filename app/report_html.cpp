#include "app/report_html.h"

#include <string_view>

#include "app/report_file.h"

namespace framelane {

extern const std::string_view kReportPage;  // report_page.cpp

namespace {

constexpr std::string_view kDataMark = "REPORT_DATA";

/** JSON that may stand in a <script> element: no "</script>" or "<!--" ends or changes it. Outside strings JSON has no
 *  "<", so the escape is always within one. */
std::string script_json(const nlohmann::ordered_json& report) {
  std::string json;
  for (const char c : json_line(report)) {
    if (c == '<') {
      json += "\\u003c";
    } else {
      json += c;
    }
  }
  return json;
}

}  // namespace

std::string report_html(const nlohmann::ordered_json& report) {
  std::string page(kReportPage);
  page.replace(page.find(kDataMark), kDataMark.size(), script_json(report));
  return page;
}

}  // namespace framelane
