// Where reports (--stats, --trace, --json …) go: a file, which is replaced, or standard output.
#pragma once

#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace framelane {

/** Whether a report's target is standard output: "-", or ffmpeg's "pipe:" and "pipe:1". */
bool is_standard_output(const std::string& target);
/** ffmpeg's "pipe:2". */
bool is_standard_error(const std::string& target);

/** Where the report goes that an option asks for. */
struct ReportTarget {
  const char* option;
  std::string target;  ///< file, standard output, standard error, or empty: no report
};

/** Before anything is opened: no report goes over the video, into it or over another one, by whatever names, and each
 *  can be written. `input` and `output` as the user named them; empty: none. Throws UsageError or OutputError that
 *  name the option. */
void check_reports(const std::vector<ReportTarget>& reports, const std::string& input, const std::string& output);

/** On one line, and as a file: indented, with a newline at the end. Names and paths may hold any bytes; what is not
 *  UTF-8 is replaced by U+FFFD. */
std::string json_line(const nlohmann::ordered_json& json);
std::string json_text(const nlohmann::ordered_json& json);

/** A report that is written piece by piece.
 *  Thread: one. Owns: the open file; standard output and standard error stay open. */
class ReportFile {
 public:
  /** Opens a file, which it empties, or standard output or error. Throws OutputError, as all calls do. */
  explicit ReportFile(const std::string& path);

  void write(std::string_view text);
  /** Once, after the last write(): a full disk is told of here at the latest. */
  void finish();

 private:
  struct Closer {
    void operator()(std::FILE* file) const;
  };

  [[noreturn]] void fail() const;

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

/** A whole report at once. Throws OutputError. */
void write_report(const std::string& path, const std::string& text);

}  // namespace framelane
