#include "app/bench_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/stats_report.h"
#include "app/version.h"
#include "pipeline/cpu_cores.h"

namespace framelane {
namespace {

using Json = nlohmann::ordered_json;

double gigabytes_a_second(std::size_t bytes, double ms) { return static_cast<double>(bytes) / ms * 1e-6; }

std::string megabytes(std::size_t bytes) { return fmt::format("{:.2f} MB", static_cast<double>(bytes) * 1e-6); }

std::string chain_text(const BenchFacts& facts) {
  return facts.filters.empty() ? "no filter" : fmt::format("{}", fmt::join(facts.filters, ","));
}

/** Four digits of most frame times. */
std::string ms_text(double ms) {
  if (ms >= 10) return fmt::format("{:.2f}", ms);
  return ms >= 1 ? fmt::format("{:.3f}", ms) : fmt::format("{:.4f}", ms);
}

std::string spread_text(const MeasuredTime& time) {
  if (time.min_ms == time.max_ms) return ms_text(time.median_ms);
  return fmt::format("{} ({}-{})", ms_text(time.median_ms), ms_text(time.min_ms), ms_text(time.max_ms));
}

std::string heading(const BenchFacts& facts, const BenchFrames& frames) {
  std::string text = fmt::format("{} | {} | {}", describe(frames.format), chain_text(facts), facts.device);
  if (!frames.ceilings.copies) return text + "\n";
  const CopyBytes& bytes = frames.ceilings.bytes;
  return text + fmt::format(" | {} up, {} down\n", megabytes(bytes.up), megabytes(bytes.down));
}

std::string ceilings_text(const Ceilings& ceilings) {
  if (!ceilings.copies) {
    return fmt::format("ceiling: filters alone on {} cores {} ms a frame (memory is shared: nothing is copied)\n",
                       cpu_cores(), ms_text(ceilings.kernels.median_ms));
  }
  const auto copy = [](const char* name, const MeasuredTime& time, std::size_t bytes) {
    return fmt::format("{} {} ms ({:.1f} GB/s), ", name, ms_text(time.median_ms),
                       gigabytes_a_second(bytes, time.median_ms));
  };
  const auto& [bytes, copies, kernels] = ceilings;
  return "ceilings: " + copy("H2D alone", copies->up, bytes.up) + copy("D2H alone", copies->down, bytes.down) +
         copy("both at once", copies->both, bytes.up + bytes.down) +
         fmt::format("kernels alone {} ms; {} bind\n", ms_text(kernels.median_ms),
                     ceilings.copies_bind() ? "copies" : "kernels");
}

std::string mode_row(const ModeFigures& figures, const BenchMode& mode, int slots, const Ceilings& ceilings) {
  const auto rate = [&](std::size_t bytes) {
    return ceilings.copies ? fmt::format("{:.1f}", gigabytes_a_second(bytes, mode.frame_ms.median_ms)) : "-";
  };
  return fmt::format("{:<12}{:>6}{:>8}{:>27}{:>11.1f}{:>9}{:>11}{:>12.2f}\n", mode_name(figures.mode), slots,
                     mode.cuda_graphs ? "yes" : "no", spread_text(mode.frame_ms), figures.fps, rate(ceilings.bytes.up),
                     rate(ceilings.bytes.down), ceilings.binding_ms() / mode.frame_ms.median_ms);
}

Json versioned_head(const BenchFacts& facts) {
  return {{"framelane", program_version()},         {"command", "bench"},     {"device", facts.device},
          {"backend", backend_name(facts.backend)}, {"rounds", facts.rounds}, {"versions", versions_json()}};
}

/** A frame's place, and the table with what was measured beside it. `ceiling_ms`: what ratios refer to. */
Json case_json(const BenchFacts& facts, const FrameFormat& format, const BenchCase& one, double ceiling_ms) {
  Json json{{"size", fmt::format("{}x{}", format.width, format.height)},
            {"format", describe(format.pixel)},
            {"slots", one.slots},
            {"cuda_graphs", one.fastest().cuda_graphs}};
  json.update(table_json(one.table, facts.backend));
  for (std::size_t i = 0; i < one.modes.size(); ++i) {
    const MeasuredTime& time = one.modes[i].frame_ms;
    json["modes"][std::string(mode_name(one.table.modes[i].mode))].update(
        {{"frames", one.table.modes[i].records.size()},
         {"frame_ms_min", time.min_ms},
         {"frame_ms_max", time.max_ms},
         {"cuda_graphs", one.modes[i].cuda_graphs},
         {"ratio", ceiling_ms / time.median_ms}});
  }
  return json;
}

Json copies_json(const CopyTimes& times, const CopyBytes& bytes) {
  return {{"h2d_gbps", gigabytes_a_second(bytes.up, times.up.median_ms)},
          {"d2h_gbps", gigabytes_a_second(bytes.down, times.down.median_ms)},
          {"two_way_gbps", gigabytes_a_second(bytes.up + bytes.down, times.both.median_ms)},
          {"h2d_ms", times.up.median_ms},
          {"d2h_ms", times.down.median_ms},
          {"copy_ms", times.both.median_ms}};
}

Json ceilings_json(const Ceilings& ceilings, double fastest_ms) {
  Json json{{"h2d_gbps", nullptr}, {"d2h_gbps", nullptr}, {"two_way_gbps", nullptr},
            {"h2d_ms", nullptr},   {"d2h_ms", nullptr},   {"copy_ms", nullptr}};
  if (ceilings.copies) json.update(copies_json(*ceilings.copies, ceilings.bytes));
  json["kernels_ms"] = ceilings.kernels.median_ms;
  json["binding"] = ceilings.copies_bind() ? "copies" : "kernels";
  json["ratio"] = ceilings.binding_ms() / fastest_ms;
  return json;
}

Json frames_case_json(const BenchFacts& facts, const BenchFrames& frames, const BenchCase& one) {
  const Ceilings& ceilings = frames.ceilings;
  Json json = case_json(facts, frames.format, one, ceilings.binding_ms());
  for (Json& mode : json["modes"]) {
    const double ms = mode["frame_ms"];
    const auto rate = [&](std::size_t bytes) { return ceilings.copies ? Json(gigabytes_a_second(bytes, ms)) : Json(); };
    mode["h2d_gbps"] = rate(ceilings.bytes.up);
    mode["d2h_gbps"] = rate(ceilings.bytes.down);
  }
  json["ceilings"] = ceilings_json(ceilings, one.table.fastest().frame_ms);
  return json;
}

Json with_cases(Json head, Json cases) {
  if (cases.size() == 1) head.update(cases.front());
  head["cases"] = std::move(cases);
  return head;
}

std::string shape_name(const BenchShape& shape) {
  return fmt::format("{:g},{:g},{:g},{:g}", milliseconds(shape.preprocess), milliseconds(shape.h2d),
                     milliseconds(shape.kernels), milliseconds(shape.d2h));
}

/** The textbook's own figures: one without overlap, one with. */
std::string textbook_text(const ShapeFigures& figures, Mode mode) {
  if (mode == Mode::kAsync) return "-";
  return fmt::format("{:g}", mode == Mode::kSync ? figures.serial_ms : figures.textbook_overlap_ms);
}

std::string shape_row(const ShapeFigures& expected, const ModeFigures& figures, const BenchMode& mode, int slots) {
  const double compute_busy = figures.busy[static_cast<std::size_t>(Stage::kKernels)];
  return fmt::format("{:<12}{:>6}{:>27}{:>10g}{:>10}{:>17.3f}{:>16.1f}\n", mode_name(figures.mode), slots,
                     spread_text(mode.frame_ms), expected_ms(expected, figures.mode),
                     textbook_text(expected, figures.mode), mode.frame_ms.median_ms / expected.limit_ms,
                     100 * compute_busy);
}

std::string shape_frames_text(const BenchedShape& shape) {
  if (!shape.copies) return "";
  return fmt::format("Frames of {} up and {} down: pinned copies alone take {} and {} ms, both at once {} ms.\n",
                     megabytes(shape.bytes.up), megabytes(shape.bytes.down), ms_text(shape.copies->up.median_ms),
                     ms_text(shape.copies->down.median_ms), ms_text(shape.copies->both.median_ms));
}

Json shape_object(const BenchedShape& shape) {
  const ShapeFigures figures = shape_figures(shape.shape);
  const auto measured = [&](const MeasuredTime CopyTimes::*way) {
    return shape.copies ? Json(((*shape.copies).*way).median_ms) : Json();
  };
  return {{"preprocess_ms", milliseconds(shape.shape.preprocess)},
          {"h2d_ms", milliseconds(shape.shape.h2d)},
          {"kernels_ms", milliseconds(shape.shape.kernels)},
          {"d2h_ms", milliseconds(shape.shape.d2h)},
          {"serial_ms", figures.serial_ms},
          {"one_stream_ms", figures.one_stream_ms},
          {"textbook_overlap_ms", figures.textbook_overlap_ms},
          {"limit_ms", figures.limit_ms},
          {"simulated", !shape.copies.has_value()},
          {"h2d_bytes", shape.bytes.up},
          {"d2h_bytes", shape.bytes.down},
          {"measured_h2d_ms", measured(&CopyTimes::up)},
          {"measured_d2h_ms", measured(&CopyTimes::down)}};
}

}  // namespace

std::string frames_text(const BenchFacts& facts, const BenchFrames& frames) {
  std::string text = heading(facts, frames) + ceilings_text(frames.ceilings);
  text += fmt::format("{:<12}{:>6}{:>8}{:>27}{:>11}{:>9}{:>11}{:>12}\n", "mode", "slots", "graphs", "ms a frame", "fps",
                      "GB/s up", "GB/s down", "of ceiling");
  for (const BenchCase& one : frames.cases) {
    for (std::size_t i = 0; i < one.modes.size(); ++i) {
      text += mode_row(one.table.modes[i], one.modes[i], one.slots, frames.ceilings);
    }
  }
  const BenchCase& best =
      *std::ranges::min_element(frames.cases, {}, [](const BenchCase& one) { return one.table.fastest().frame_ms; });
  return text + table_advice(best.table, facts.backend) + "\n";
}

std::string shape_text(const BenchFacts& facts, const BenchedShape& shape) {
  const ShapeFigures figures = shape_figures(shape.shape);
  std::string text =
      fmt::format("shape {} ms (preprocessing, H2D, kernel, D2H) | {}\n", shape_name(shape.shape), facts.device);
  text += fmt::format("{:<12}{:>6}{:>27}{:>10}{:>10}{:>17}{:>16}\n", "mode", "slots", "ms a frame", "expected",
                      "textbook", "times the limit", "compute busy %");
  for (const BenchCase& one : shape.cases) {
    for (std::size_t i = 0; i < one.modes.size(); ++i) {
      text += shape_row(figures, one.table.modes[i], one.modes[i], one.slots);
    }
  }
  text += fmt::format(
      "Limit: {:g} ms, the slowest stage. Expected: sync the sum of all stages, async the GPU's three on one stream, "
      "multistream the limit. The textbook's overlap hides D2H and waits for H2D before each kernel: {:g} ms.\n",
      figures.limit_ms, figures.textbook_overlap_ms);
  return text + shape_frames_text(shape);
}

nlohmann::ordered_json frames_json(const BenchFacts& facts, const std::vector<BenchFrames>& all) {
  Json head = versioned_head(facts);
  head["filters"] = facts.filters;
  Json cases = Json::array();
  for (const BenchFrames& frames : all) {
    for (const BenchCase& one : frames.cases) cases.push_back(frames_case_json(facts, frames, one));
  }
  return with_cases(std::move(head), std::move(cases));
}

nlohmann::ordered_json shape_json(const BenchFacts& facts, const BenchedShape& shape) {
  const ShapeFigures figures = shape_figures(shape.shape);
  Json head = versioned_head(facts);
  head["shape"] = shape_object(shape);
  Json cases = Json::array();
  for (const BenchCase& one : shape.cases) {
    Json json = case_json(facts, shape.format, one, figures.limit_ms);
    for (const ModeFigures& mode : one.table.modes) {
      json["modes"][std::string(mode_name(mode.mode))]["expected_ms"] = expected_ms(figures, mode.mode);
    }
    cases.push_back(std::move(json));
  }
  return with_cases(std::move(head), std::move(cases));
}

nlohmann::ordered_json filters_json(const BenchFacts& facts, const std::vector<FilterBenchRow>& rows) {
  Json head = versioned_head(facts);
  head["kernels"] = filter_bench_json(rows);
  return head;
}

}  // namespace framelane
