#include "app/report_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "kernels/errors.h"
#include "pipeline/media_name.h"

namespace framelane {
namespace {

constexpr const char* kStandardOutput = "-";
constexpr const char* kStandardError = "pipe:2";

/** One name for each place, whether there is a file yet or not. */
std::string place_of(const std::string& target) {
  if (is_standard_output(target)) return kStandardOutput;
  if (is_standard_error(target)) return kStandardError;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(target, error);  // else new files stay relative
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(absolute, error);
  return (error ? absolute.lexically_normal() : canonical).string();
}

/** Empty for a camera, a URL and "null", which are no files. */
std::string video_place(const std::string& url, const char* standard_stream) {
  if (url == "-") return standard_stream;
  if (url.empty() || url == "null") return "";
  const std::optional<std::string> path = local_path(url);
  return path ? place_of(*path) : "";
}

/** Hard links have two names, too. */
bool same_place(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

/** An errno; 0 where a file can be written there. */
int why_not_writable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return access(path.c_str(), W_OK) == 0 ? 0 : errno;
  }
  if (errno != ENOENT) return errno;
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  return access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

void check_can_be_written(const ReportTarget& report) {
  const std::string& target = report.target;
  if (is_standard_output(target) || is_standard_error(target)) return;
  if (target.starts_with("pipe:")) {
    throw UsageError(fmt::format("{} {}: no such pipe; use -, pipe:1 or pipe:2", report.option, target));
  }
  if (const int error = why_not_writable(target); error != 0) {
    throw OutputError(fmt::format("{} {}: {}", report.option, target, std::strerror(error)));
  }
}

std::FILE* open_target(const std::string& target) {
  if (is_standard_output(target)) return stdout;
  if (is_standard_error(target)) return stderr;
  return std::fopen(target.c_str(), "w");
}

std::string dump(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

bool is_standard_output(const std::string& target) {
  return target == kStandardOutput || target == "pipe:" || target == "pipe:1";
}

bool is_standard_error(const std::string& target) { return target == kStandardError; }

void check_reports(const std::vector<ReportTarget>& reports, const std::string& input, const std::string& output) {
  struct Taken {
    std::string place;
    std::string what;
  };
  std::vector<Taken> all{{video_place(input, ""), "the video comes from"},
                         {video_place(output, kStandardOutput), "the video goes"}};
  for (const ReportTarget& report : reports) {
    if (report.target.empty()) continue;
    const std::string place = place_of(report.target);
    for (const Taken& taken : all) {
      if (!same_place(place, taken.place)) continue;
      throw UsageError(fmt::format("{} {}: that is where {}", report.option, report.target, taken.what));
    }
    check_can_be_written(report);
    all.push_back({place, fmt::format("{} goes", report.option)});
  }
}

std::string json_line(const nlohmann::ordered_json& json) { return dump(json, -1); }

std::string json_text(const nlohmann::ordered_json& json) { return dump(json, 2) + "\n"; }

void ReportFile::Closer::operator()(std::FILE* file) const {
  if (file != stdout && file != stderr) std::fclose(file);
}

ReportFile::ReportFile(const std::string& path) : path_(path), file_(open_target(path)) {
  if (!file_) fail();
}

void ReportFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
}

void ReportFile::finish() {
  if (std::fflush(file_.get()) != 0) fail();
}

void ReportFile::fail() const {
  throw OutputError(fmt::format("{}: cannot write the report: {}", path_, std::strerror(errno)));
}

void write_report(const std::string& path, const std::string& text) {
  ReportFile file(path);
  file.write(text);
  file.finish();
}

}  // namespace framelane
