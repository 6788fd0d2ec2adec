#include "app/ffmpeg_habits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/edit_distance.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

enum class Takes : std::uint8_t { kNothing, kValue };

/** An option of ffmpeg's and what it is here. */
struct Habit {
  std::string_view theirs;
  Takes takes = Takes::kValue;
  std::string_view ours;          ///< the long option it becomes; empty: dropped, it asks for what happens anyway
  std::string_view key = {};      ///< put in front of the value: "tune=" for --encoder-opt
  std::string_view refusal = {};  ///< why it cannot be, and what would do
};

constexpr std::string_view kCopied = "audio and other streams are copied as they are; framelane cannot change them yet";
constexpr std::string_view kOneVideo = "framelane takes the best video stream and everything else along";

constexpr std::array kHabits{
    Habit{"vf", Takes::kValue, "vf"},
    Habit{"filter:v", Takes::kValue, "vf"},
    Habit{"ss", Takes::kValue, "start"},
    Habit{"t", Takes::kValue, "duration"},
    Habit{"c:v", Takes::kValue, "video-codec"},
    Habit{"codec:v", Takes::kValue, "video-codec"},
    Habit{"vcodec", Takes::kValue, "video-codec"},
    Habit{"b:v", Takes::kValue, "bitrate"},
    Habit{"vb", Takes::kValue, "bitrate"},
    Habit{"frames:v", Takes::kValue, "frames"},
    Habit{"vframes", Takes::kValue, "frames"},
    Habit{"loglevel", Takes::kValue, "log-level"},
    Habit{"re", Takes::kNothing, "realtime"},
    Habit{"nostdin", Takes::kNothing, "no-keys"},
    Habit{"tune", Takes::kValue, "encoder-opt", "tune="},
    Habit{"profile:v", Takes::kValue, "encoder-opt", "profile="},
    Habit{"level", Takes::kValue, "encoder-opt", "level="},
    Habit{"g", Takes::kValue, "encoder-opt", "g="},
    Habit{"bf", Takes::kValue, "encoder-opt", "bf="},
    Habit{"qp", Takes::kValue, "encoder-opt", "qp="},
    Habit{"maxrate", Takes::kValue, "encoder-opt", "maxrate="},
    Habit{"bufsize", Takes::kValue, "encoder-opt", "bufsize="},
    Habit{"x264-params", Takes::kValue, "encoder-opt", "x264-params="},
    Habit{"x265-params", Takes::kValue, "encoder-opt", "x265-params="},
    Habit{"movflags", Takes::kValue, "muxer-opt", "movflags="},
    Habit{"video_size", Takes::kValue, "demuxer-opt", "video_size="},
    Habit{"framerate", Takes::kValue, "demuxer-opt", "framerate="},
    Habit{"pixel_format", Takes::kValue, "demuxer-opt", "pixel_format="},
    Habit{"hide_banner", Takes::kNothing, ""},
    Habit{"help", Takes::kNothing, "help"},
    Habit{"version", Takes::kNothing, "version"},
    Habit{"c", Takes::kValue, "", "", "the video is always encoded: choose how with --video-codec"},
    Habit{"codec", Takes::kValue, "", "", "the video is always encoded: choose how with --video-codec"},
    Habit{"to", Takes::kValue, "", "", "write --start and --duration"},
    Habit{"r", Takes::kValue, "", "", "frames keep their times; framelane does not change the rate"},
    Habit{"s", Takes::kValue, "", "", "write --vf scale=W:H"},
    Habit{"aspect", Takes::kValue, "", "", "the input's aspect ratio is kept"},
    Habit{"pix_fmt", Takes::kValue, "", "", "the output keeps the input's pixel format"},
    Habit{"q:v", Takes::kValue, "", "", "write --crf, or --encoder-opt for the encoder's own"},
    Habit{"qscale:v", Takes::kValue, "", "", "write --crf, or --encoder-opt for the encoder's own"},
    Habit{"threads", Takes::kValue, "", "", "write --decoder-threads or --encoder-threads"},
    Habit{"stats", Takes::kNothing, "", "", "progress is shown anyway; --stats FILE writes a report"},
    Habit{"nostats", Takes::kNothing, "", "", "write --quiet"},
    Habit{"filter_complex", Takes::kValue, "", "", "graphs with several inputs are not supported: write --vf"},
    Habit{"lavfi", Takes::kValue, "", "", "write --vf, or lavfi:GRAPH as the input"},
    Habit{"map", Takes::kValue, "", "", kOneVideo},
    Habit{"vn", Takes::kNothing, "", "", "framelane is for video"},
    Habit{"an", Takes::kNothing, "", "", kCopied},
    Habit{"sn", Takes::kNothing, "", "", kCopied},
    Habit{"dn", Takes::kNothing, "", "", kCopied},
    Habit{"af", Takes::kValue, "", "", kCopied},
    Habit{"filter:a", Takes::kValue, "", "", kCopied},
    Habit{"b:a", Takes::kValue, "", "", kCopied},
    Habit{"hwaccel", Takes::kValue, "", "", "decoding is on the CPU; filters run on --device"},
};

/** "-c:a copy" and its like: understood, because streams other than the video are copied. */
constexpr std::array kCopyCodecs{"c:a", "codec:a", "acodec", "c:s", "codec:s", "scodec", "c:d", "c:t"};

bool looks_like_option(std::string_view argument) { return argument.size() > 1 && argument.front() == '-'; }

std::string_view strip_dashes(std::string_view argument) {
  return argument.substr(argument.substr(0, 2) == "--" ? 2 : 1);
}

std::string dashed(std::string_view name) { return fmt::format("{}{}", name.size() == 1 ? "-" : "--", name); }

/** " did you mean --mode?", where a known option is near enough. */
std::string suggestion(const CommandDescription& command, std::string_view name) {
  std::string nearest;
  std::size_t least = name.size() / 2 + 1;
  for (const OptionDescription& option : command.options) {
    for (const std::string& known : option.long_names) {
      const std::size_t distance = edit_distance(name, known);
      if (distance >= least) continue;
      least = distance;
      nearest = known;
    }
  }
  return nearest.empty() ? "" : fmt::format(" did you mean {}?", dashed(nearest));
}

[[noreturn]] void throw_unknown(const CommandDescription& command, std::string_view argument) {
  const std::string_view name = strip_dashes(argument.substr(0, argument.find('=')));
  if (find_option(command, name.substr(0, 1)) != nullptr && argument[1] != '-' &&
      !find_option(command, name.substr(0, 1))->value.empty()) {
    throw UsageError(fmt::format("unknown option '{}' (a short option's value is a word of its own: -{} {})", argument,
                                 name.substr(0, 1), name.substr(1)));
  }
  throw UsageError(fmt::format("unknown option '{}':{} (framelane {} --help lists all)", argument,
                               suggestion(command, name), command.name));
}

/** One walk over the arguments. */
class Rewriter {
 public:
  Rewriter(const CommandDescription& command, const std::vector<std::string>& arguments)
      : command_(command), arguments_(arguments) {}

  std::vector<std::string> rewrite() {
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      if (argument == "--" && !options_ended_) {
        options_ended_ = true;
      } else if (looks_like_option(argument) && !options_ended_) {
        rewrite_option(argument);
      } else {
        add_bare(argument);
      }
    }
    return std::move(result_);
  }

 private:
  void rewrite_option(const std::string& argument) {
    const bool is_long = argument[1] == '-';
    if (!is_long && rewrite_habit(argument)) return;
    const std::string name(strip_dashes(argument.substr(0, argument.find('='))));
    const OptionDescription* option = find_option(command_, name);
    if (option == nullptr || (is_long && name.size() == 1)) throw_unknown(command_, argument);
    // "-crf" is "--crf" to an ffmpeg user.
    const bool has_value = argument.find('=') != std::string::npos;
    if (has_value && option->value.empty()) throw UsageError(fmt::format("{} takes no value", dashed(name)));
    result_.push_back(is_long || name.size() == 1 ? argument : "-" + argument);
    if (!option->value.empty() && !has_value) result_.push_back(take_value(argument));
  }

  bool rewrite_habit(const std::string& argument) {
    const std::string_view name = strip_dashes(argument);
    if (command_.name != "run" && command_.name != "compare") return false;
    if (name == "f") {
      add(names_input() ? "input-format" : "format", take_value(argument));
      return true;
    }
    if (std::ranges::find(kCopyCodecs, name) != kCopyCodecs.end()) {
      if (take_value(argument) != "copy") throw UsageError(fmt::format("'{}': {}", argument, kCopied));
      return true;
    }
    const auto habit = std::ranges::find(kHabits, name, &Habit::theirs);
    if (habit == kHabits.end()) return false;
    if (!habit->refusal.empty()) throw UsageError(fmt::format("'{}': {}", argument, habit->refusal));
    if (habit->ours.empty()) return true;
    if (find_option(command_, habit->ours) == nullptr) return false;
    std::optional<std::string> value;
    if (habit->takes == Takes::kValue) value = std::string(habit->key) + take_value(argument);
    add(habit->ours, value);
    return true;
  }

  /** As its option's value, a word stays as it is: CLI11 would look for commands and lists in it. */
  void add_bare(const std::string& argument) {
    if (!command_.bare_words.empty()) {
      add(command_.bare_words, argument);
    } else {
      result_.push_back(argument);
    }
  }

  void add(std::string_view name, std::optional<std::string> value) {
    result_.push_back(fmt::format("--{}", name));
    if (value) result_.push_back(std::move(*value));
  }

  std::string take_value(const std::string& argument) {
    if (next_ == arguments_.size() || is_our_long_option(arguments_[next_])) {
      throw UsageError(fmt::format("{} needs a value", argument));
    }
    return arguments_[next_++];
  }

  bool is_our_long_option(std::string_view argument) const {
    return argument.starts_with("--") && find_option(command_, argument.substr(2)) != nullptr;
  }

  /** ffmpeg's -f belongs to the file that comes next: an input, where "-i" is still to come and "-o" is too. */
  bool names_input() const {
    const auto rest = arguments_.begin() + static_cast<std::ptrdiff_t>(next_);
    return std::find(rest, arguments_.end(), "-i") != arguments_.end() &&
           std::find(arguments_.begin(), rest, "-o") == rest;
  }

  const CommandDescription& command_;
  const std::vector<std::string>& arguments_;
  std::size_t next_ = 0;
  bool options_ended_ = false;
  std::vector<std::string> result_;
};

}  // namespace

std::vector<std::string> understand_habits(const CommandDescription& command,
                                           const std::vector<std::string>& arguments) {
  return Rewriter(command, arguments).rewrite();
}

}  // namespace framelane
