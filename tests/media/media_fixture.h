// Files made and read by the ffmpeg programs, and a run from MediaInput to MediaOutput with nothing between.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/media_input.h"
#include "pipeline/media_output.h"
#include "tests/stamped_clip.h"

namespace framelane::testing {

/** Each test has a folder of its own; file names without a slash are in it. */
class MediaTest : public ::testing::Test {
 protected:
  void SetUp() override;

  std::string file(const std::string& name) const { return folder_.file(name); }
  /** Runs the ffmpeg program in the folder; fails the test where it fails. */
  void ffmpeg(const std::string& arguments) const;
  /** ffprobe's values of one stream ("v:0", "a", "V"), in ffprobe's own order, separated by spaces. */
  std::string stream(const std::string& name, const std::string& selector, const std::string& keys) const;
  /** ffprobe's value of one entry of the file, such as "format_tags=title". */
  std::string entry(const std::string& name, const std::string& entries) const;
  /** Decodable frames of the main video. */
  int frame_count(const std::string& name) const;
  /** The first frame in another pixel format, as raw bytes. */
  std::string pixels(const std::string& name, const std::string& pixel_format) const;
  std::string shell(const std::string& command) const;
  void write_text(const std::string& name, const std::string& text) const;

  MediaInputOptions input(const std::string& name) const;
  MediaOutputOptions output(const std::string& name) const;

  /** Decodes, and encodes at once. At most `frame_limit` frames; then it ends as a stopped run does. */
  struct Result {
    std::vector<double> pts_s;
    OutputTotals totals;
    InputDamage damage;
    std::string description;
  };
  Result transcode(const MediaInputOptions& from, const MediaOutputOptions& to, int frame_limit = INT32_MAX) const;
  Result transcode(const std::string& from, const std::string& to) const { return transcode(input(from), output(to)); }

  /** The message of the error of type `Error` that opening or reading an input, or the run, ends with; fails the test
   *  where there is none, or the message has more than one line or does not name the file. */
  template <typename Error, typename Body>
  static std::string error_of(const std::string& name, const Body& body) {
    try {
      body();
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      EXPECT_NE(message.find(name), std::string::npos) << message;
      return message;
    }
    ADD_FAILURE() << name << ": no error";
    return {};
  }

  TemporaryFolder folder_;
};

/** A pool on the CPU device. */
std::shared_ptr<HostPool> make_pool();

/** Collects what spdlog is told at level info and above while it lives. */
class LogRecorder {
 public:
  LogRecorder();
  ~LogRecorder();
  LogRecorder(const LogRecorder&) = delete;
  LogRecorder& operator=(const LogRecorder&) = delete;
  /** True when a line holds `text`. */
  bool contains(const std::string& text) const { return lines_->find(text) != std::string::npos; }
  const std::string& lines() const { return *lines_; }

 private:
  std::shared_ptr<std::string> lines_;
  struct Previous;
  std::unique_ptr<Previous> previous_;
};

}  // namespace framelane::testing
