#include "app/report_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "kernels/errors.h"

namespace framelane {

void ReportFile::Closer::operator()(std::FILE* file) const {
  if (file != stdout) std::fclose(file);
}

ReportFile::ReportFile(const std::string& path)
    : path_(path), file_(path == "-" ? stdout : std::fopen(path.c_str(), "w")) {
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
