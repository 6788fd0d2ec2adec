// What bounds the fastest mode of a ModeTable, in words.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include "app/mode_table.h"

namespace framelane {
namespace {

/** Stages this near the slowest are as slow. */
constexpr double kLevel = 0.9;
/** All cores count as busy from here on: the rest goes to the system and other programs. */
constexpr double kCoresBusy = 0.9;
/** A mode this near its bound is at it. */
constexpr double kAtTheBound = 1.15;
/** The submitter that is at work for this share of the time is what all others wait for. */
constexpr double kSubmitterBusy = 0.85;

struct StageWords {
  std::string_view doing;            ///< as a subject, for the middle of a sentence
  std::string_view what_would_help;  ///< likewise
};

StageWords words(Stage stage, Backend backend) {
  switch (stage) {
    case Stage::kDecode:
      return {"decoding", "more or faster cores, or a codec that decodes faster,"};
    case Stage::kPreprocess:
      return {"preprocessing on the CPU",
              "frames that kernels take as they are (planar YUV or RGB, all of one format)"};
    case Stage::kH2d:
      return {"copying to the GPU (H2D)", "a faster PCIe link, or frames of fewer bytes (8 bits, 4:2:0),"};
    case Stage::kKernels:
      if (backend == Backend::kCpu) return {"filtering", "a lighter chain, more cores or a GPU"};
      return {"the GPU's work on kernels", "a lighter chain or a faster GPU"};
    case Stage::kD2h:
      return {"copying from the GPU (D2H)", "a faster PCIe link, or a chain that ends in frames of fewer bytes,"};
    case Stage::kEncode:
      return {"encoding", "a faster --preset, another codec or more cores"};
  }
  return {};
}

/** Before a comma or a full stop. */
std::string_view without_comma(std::string_view text) {
  if (text.ends_with(',')) text.remove_suffix(1);
  return text;
}

std::string capitalized(std::string_view text) {
  std::string result(text);
  if (!result.empty()) result[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(result[0])));
  return result;
}

class Advice {
 public:
  Advice(const ModeTable& table, Backend backend)
      : table_(table), backend_(backend), fastest_(table.fastest()), decimals_(fastest_.frame_ms >= 0.1 ? 2 : 4) {}

  std::string text() const {
    if (only_sync()) return sync_text();
    if (cores_bind()) return cores_text();
    if (table_.ideal_ms == 0 || fastest_.frame_ms > kAtTheBound * table_.ideal_ms) {
      if (submitter_binds()) return submitter_text();
      return table_.shares_cores ? open_cores_text() : open_text();
    }
    if (const std::optional<Stage> second = level_stage()) return level_text(*second);
    return stage_text();
  }

 private:
  std::string ms(double value) const { return fmt::format("{:.{}f}", value, decimals_); }
  double alone(Stage stage) const { return table_.alone_ms[static_cast<std::size_t>(stage)]; }
  bool on_gpu() const { return backend_ == Backend::kCuda; }
  static bool on_cpu(Stage stage) {
    return stage == Stage::kDecode || stage == Stage::kPreprocess || stage == Stage::kEncode;
  }

  bool only_sync() const { return table_.modes.size() == 1 && fastest_.mode == Mode::kSync; }
  bool cores_bind() const {
    return (!on_gpu() || on_cpu(table_.bound_by)) && table_.cores_ms >= kCoresBusy * fastest_.frame_ms;
  }
  bool submitter_binds() const {
    return fastest_.mode != Mode::kSync && fastest_.submit_ms >= kSubmitterBusy * fastest_.frame_ms;
  }
  static bool is_decoder(Stage stage) { return stage == Stage::kDecode || stage == Stage::kPreprocess; }
  /** One thread decodes and preprocesses. */
  double stage_ms(Stage stage) const {
    return is_decoder(stage) ? alone(Stage::kDecode) + alone(Stage::kPreprocess) : alone(stage);
  }
  /** The slowest of the others that are as slow as the slowest. */
  std::optional<Stage> level_stage() const {
    std::optional<Stage> second;
    for (const Stage stage : kStages) {
      const bool same = stage == table_.bound_by || (is_decoder(stage) && is_decoder(table_.bound_by));
      if (same || stage_ms(stage) < kLevel * table_.ideal_ms) continue;
      if (!second || stage_ms(stage) > stage_ms(*second)) second = stage;
    }
    return second;
  }

  /** "0.62 ms of multistream's 0.64 ms a frame (1.03 times the ideal)" */
  std::string of_the_fastest() const {
    return fmt::format("{} ms of {}'s {} ms a frame ({:.2f} times the ideal)", ms(table_.ideal_ms),
                       mode_name(fastest_.mode), ms(fastest_.frame_ms), fastest_.frame_ms / table_.ideal_ms);
  }
  std::string stage_text() const {
    const auto [doing, help] = words(table_.bound_by, backend_);
    std::string text = fmt::format("{} bounds this machine: {}", capitalized(doing), of_the_fastest());
    if (table_.bound_by != Stage::kKernels) text += room_for_filters();
    text += fmt::format(". {} would help", capitalized(help));
    if (on_gpu() && table_.bound_by != Stage::kKernels) {
      text += fmt::format("; more GPU filters cost nothing until kernels reach {} ms", ms(table_.ideal_ms));
    }
    return text + ".";
  }

  std::string room_for_filters() const {
    const double busy = 100 * fastest_.busy[static_cast<std::size_t>(Stage::kKernels)];
    if (on_gpu()) return fmt::format("; the GPU's kernels are busy {:.0f} %", busy);
    if (table_.cores_ms <= 0) return fmt::format("; filters are busy {:.0f} %", busy);
    return fmt::format("; {:.1f} of {} cores are busy", fastest_.cpu_ms / fastest_.frame_ms, table_.cores);
  }

  std::string level_text(Stage second) const {
    const StageWords first = words(table_.bound_by, backend_);
    const StageWords other = words(second, backend_);
    return fmt::format(
        "Two stages bound this machine alike: {}, {}, and {}, {} ms. Making one faster gains little; for "
        "the one, {} would help, for the other {}.",
        first.doing, of_the_fastest(), other.doing, ms(stage_ms(second)), without_comma(first.what_would_help),
        without_comma(other.what_would_help));
  }

  std::string cores_text() const {
    return fmt::format(
        "The CPU's cores bound this machine: {} ms of CPU time a frame keep {} cores busy for {} of {}'s {} ms{}. "
        "{} would help.",
        ms(fastest_.cpu_ms), table_.cores, ms(table_.cores_ms), mode_name(fastest_.mode), ms(fastest_.frame_ms),
        slowest_alone(), capitalized(cores_help()));
  }
  /** As a clause; on shared cores not all stages are known, so that no one is called the slowest. */
  std::string slowest_alone() const {
    const std::string_view doing = words(table_.bound_by, backend_).doing;
    const double slowest_ms = stage_ms(table_.bound_by);
    if (slowest_ms == 0) return "";
    if (table_.shares_cores) return fmt::format("; {} alone takes {} ms", doing, ms(slowest_ms));
    return fmt::format("; the slowest stage, {}, alone would take {} ms", doing, ms(slowest_ms));
  }
  std::string_view cores_help() const {
    return on_gpu() ? words(table_.bound_by, backend_).what_would_help
                    : "more cores, a lighter chain, a codec that decodes faster or a GPU";
  }

  std::string submitter_text() const {
    return fmt::format(
        "Handing work to the device bounds this machine: that takes {} ms of {}'s {} ms a frame{}. {} would help.",
        ms(fastest_.submit_ms), mode_name(fastest_.mode), ms(fastest_.frame_ms), slowest_alone(),
        on_gpu() ? "--cuda-graphs on, or larger frames," : "Larger frames");
  }

  std::string open_text() const {
    return fmt::format(
        "No stage alone bounds this machine: the slowest ({}) takes {}; the rest is hand-overs and {}.{}",
        stage_name(table_.bound_by), of_the_fastest(), waiting(), untried());
  }
  /** Which stage is the slowest is not known: what can be told is how long each was under way, waits for cores
   *  included. */
  std::string open_cores_text() const {
    const auto under_way = [&](Stage stage) { return 100 * fastest_.busy[static_cast<std::size_t>(stage)]; };
    return fmt::format(
        "The CPU's cores alone do not bound this machine: their work fills {} of {}'s {} ms a frame. Decoding is under "
        "way for {:.0f} % of that time, filtering for {:.0f} %, encoding for {:.0f} %; where none is near 100 %, the "
        "rest is hand-overs and waiting.{}",
        ms(table_.cores_ms), mode_name(fastest_.mode), ms(fastest_.frame_ms), under_way(Stage::kDecode),
        under_way(Stage::kKernels), under_way(Stage::kEncode), untried());
  }

  /** Filters on the CPU share its cores with everything else. */
  std::string waiting() const {
    if (on_gpu() || table_.cores_ms <= 0) return "waiting";
    return fmt::format("waiting, also for cores ({:.1f} of {} were at work for it)",
                       fastest_.cpu_ms / fastest_.frame_ms, table_.cores);
  }
  std::string_view untried() const {
    if (std::ranges::find(table_.modes, Mode::kMultistream, &ModeFigures::mode) == table_.modes.end()) {
      return " Multistream mode may help.";
    }
    return on_gpu() && fastest_.mode == Mode::kMultistream ? " More --slots may help." : "";
  }

  std::string sync_text() const {
    if (table_.ideal_ms == 0) {
      return fmt::format(
          "In sync mode each stage waits for the one before: of {} ms a frame, {} cores are needed for {}. Other modes "
          "overlap the stages on this machine.",
          ms(fastest_.frame_ms), table_.cores, ms(table_.cores_ms));
    }
    return fmt::format(
        "In sync mode each stage waits for the one before: the slowest ({}) takes {}. Other modes overlap "
        "them.",
        stage_name(table_.bound_by), of_the_fastest());
  }

  const ModeTable& table_;
  const Backend backend_;
  const ModeFigures& fastest_;
  const int decimals_;
};

}  // namespace

std::string table_advice(const ModeTable& table, Backend backend) { return Advice(table, backend).text(); }

}  // namespace framelane
