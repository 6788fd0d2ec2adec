// --report's page from outside its script: whole, self-contained, and safe with any name.
#include "app/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace framelane {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kOpen = R"(<script type="application/json" id="report-data">)";
constexpr std::string_view kClose = "</script>";

/** What a browser takes for the data: all up to the first end tag. */
std::string embedded_text(const std::string& page) {
  const std::size_t begin = page.find(kOpen) + kOpen.size();
  return page.substr(begin, page.find(kClose, begin) - begin);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

Json report_of(const std::string& input) {
  return {{"framelane", "0.1.0"}, {"input", input}, {"end_to_end", {{"modes", Json::object()}}}};
}

TEST(ReportHtml, HoldsTheDataUnchanged) {
  Json report = report_of("clip.mp4");
  report["end_to_end"]["modes"]["sync"] = {{"frame_ms", 0.881}, {"frame_times_ms", {0.88, 0.8825, 1e-7}}};
  EXPECT_EQ(Json::parse(embedded_text(report_html(report))), report);
}

TEST(ReportHtml, AnEndTagInANameDoesNotEndTheData) {
  const Json report = report_of("a</script><script>alert(1)</script>.mp4");
  const std::string page = report_html(report);
  EXPECT_EQ(Json::parse(embedded_text(page)), report);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_EQ(count(page, kClose), count(report_html(report_of("clip.mp4")), kClose));
}

TEST(ReportHtml, ACommentInANameDoesNotHideTheRest) {
  const Json report = report_of("<!--<script>");
  const std::string page = report_html(report);
  EXPECT_EQ(Json::parse(embedded_text(page)), report);
  EXPECT_THAT(embedded_text(page), Not(HasSubstr("<")));
}

TEST(ReportHtml, BytesThatAreNotUtf8AreReplaced) {
  const auto data = Json::parse(embedded_text(report_html(report_of("caf\xe9.mp4"))));
  EXPECT_EQ(data["input"], "caf\xef\xbf\xbd.mp4");
}

TEST(ReportHtml, TheDataMarkInANameStaysAName) {
  EXPECT_EQ(Json::parse(embedded_text(report_html(report_of("REPORT_DATA")))), report_of("REPORT_DATA"));
}

TEST(ReportHtml, IsOneWholePage) {
  const std::string page = report_html(report_of("clip.mp4"));
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_THAT(page, HasSubstr("drawPage(JSON.parse("));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme"));
  EXPECT_THAT(page, HasSubstr("@media print"));
  for (const char* mark : {"@REPORT_CSS@", "@REPORT_JS@", ">REPORT_DATA<"}) EXPECT_THAT(page, Not(HasSubstr(mark)));
}

TEST(ReportHtml, AsksTheNetworkForNothing) {
  const std::string page = report_html(report_of("clip.mp4"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* source : {"src=", "@import", "url(", "fetch(", "XMLHttpRequest", "href=\"http"}) {
    EXPECT_THAT(page, Not(HasSubstr(source)));
  }
}

}  // namespace
}  // namespace framelane
