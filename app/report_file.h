// Where reports (--stats, --trace, --json …) go: a file, which is replaced, or standard output.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace framelane {

/** A report that is written piece by piece.
 *  Thread: one. Owns: the open file; standard output stays open. */
class ReportFile {
 public:
  /** Opens a file, which it empties, or standard output ("-"). Throws OutputError, as all calls do. */
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
