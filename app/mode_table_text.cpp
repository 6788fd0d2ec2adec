// A ModeTable as text for people and as JSON for programs.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "app/mode_table.h"

namespace framelane {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLabelWidth = 20;
constexpr std::size_t kColumnGap = 2;
constexpr std::size_t kColumnWidth = 17 + kColumnGap;  // "1.42x (1.39-1.45)"
/** Below it a stage hands something over and does no work worth a figure. */
constexpr double kNothing_ms = 1e-6;

using Cell = std::function<std::string(const ModeFigures&)>;

std::string speedup(const ModeFigures& mode) {
  if (mode.speedup_min == mode.speedup_max) return fmt::format("{:.2f}x", mode.speedup);
  return fmt::format("{:.2f}x ({:.2f}-{:.2f})", mode.speedup, mode.speedup_min, mode.speedup_max);
}

/** Of all columns; no cell is longer than the longest speed-up. */
std::size_t column_width(const ModeTable& table) {
  std::size_t width = kColumnWidth;
  for (const ModeFigures& mode : table.modes) width = std::max(width, speedup(mode).size() + kColumnGap);
  return width;
}

std::string row(const ModeTable& table, std::string_view label, const Cell& cell) {
  std::string text = fmt::format("{:<{}}", label, kLabelWidth);
  for (const ModeFigures& mode : table.modes) text += fmt::format("{:>{}}", cell(mode), column_width(table));
  return text + "\n";
}

std::string_view stage_label(Stage stage) {
  switch (stage) {
    case Stage::kH2d:
      return "H2D";
    case Stage::kD2h:
      return "D2H";
    default:
      return stage_name(stage);
  }
}

/** Three digits or more of a frame's time. */
int decimals_for(double frame_ms) { return frame_ms >= 1 ? 2 : frame_ms >= 0.1 ? 3 : 4; }

std::string stage_rows(const ModeTable& table, int decimals) {
  std::string text;
  for (const Stage stage : kStages) {
    text += row(table, stage_label(stage), [&](const ModeFigures& mode) {
      return mode.stage(stage) < kNothing_ms ? "-" : fmt::format("{:.{}f}", mode.stage(stage), decimals);
    });
  }
  return text;
}

std::string busy_rows(const ModeTable& table, Backend backend) {
  const auto busy_row = [&](std::string_view label, Stage stage) {
    return row(table, label, [stage](const ModeFigures& mode) {
      return fmt::format("{:.1f} %", 100 * mode.busy[static_cast<std::size_t>(stage)]);
    });
  };
  if (backend == Backend::kCpu) return busy_row("filters busy", Stage::kKernels);
  return busy_row("GPU busy: H2D", Stage::kH2d) + busy_row("GPU busy: compute", Stage::kKernels) +
         busy_row("GPU busy: D2H", Stage::kD2h);
}

std::string bounds_row(const ModeTable& table) {
  return row(table, table.ideal_ms > 0 ? "times the ideal" : "times the bound", [&](const ModeFigures& mode) {
    return table.bound_ms() > 0 ? fmt::format("{:.2f}", mode.frame_ms / table.bound_ms()) : "-";
  });
}

std::string bounds_line(const ModeTable& table, int decimals) {
  std::string text =
      fmt::format("bounds: serial {:.{}f} ms (all stages, one after the other)", table.serial_ms, decimals);
  if (table.ideal_ms > 0) {
    text += fmt::format(", ideal {:.{}f} ms ({} alone)", table.ideal_ms, decimals, stage_label(table.bound_by));
  } else if (table.cores_ms > 0) {
    text += fmt::format(", cores {:.{}f} ms (CPU time over {})", table.cores_ms, decimals, table.cores);
  }
  return text + "\n";
}

Json mode_json(const ModeFigures& mode) {
  Json stages = Json::object();
  for (const Stage stage : kStages) stages[fmt::format("{}_ms", stage_name(stage))] = mode.stage(stage);
  const auto busy = [&](Stage stage) { return mode.busy[static_cast<std::size_t>(stage)]; };
  return {{"frame_ms", mode.frame_ms},
          {"fps", mode.fps},
          {"speedup", mode.speedup},
          {"speedup_min", mode.speedup_min},
          {"speedup_max", mode.speedup_max},
          {"cpu_ms", mode.cpu_ms > 0 ? Json(mode.cpu_ms) : Json()},
          {"submit_ms", mode.submit_ms},
          {"overlap", mode.overlap},
          {"stages", std::move(stages)},
          {"busy", {{"h2d", busy(Stage::kH2d)}, {"compute", busy(Stage::kKernels)}, {"d2h", busy(Stage::kD2h)}}}};
}

}  // namespace

std::string table_text(const ModeTable& table, Backend backend) {
  const int decimals = decimals_for(table.fastest().frame_ms);
  const auto ms = [decimals](double value) { return fmt::format("{:.{}f}", value, decimals); };
  std::string text =
      row(table, "ms a frame", [](const ModeFigures& mode) { return std::string(mode_name(mode.mode)); });
  text += stage_rows(table, decimals);
  text += "\n";
  text += row(table, "frame time", [&](const ModeFigures& mode) { return ms(mode.frame_ms); });
  text += row(table, "fps", [](const ModeFigures& mode) { return fmt::format("{:.1f}", mode.fps); });
  text += row(table, "CPU time", [&](const ModeFigures& mode) { return mode.cpu_ms > 0 ? ms(mode.cpu_ms) : "-"; });
  text += busy_rows(table, backend);
  text += row(table, "speed-up", speedup);
  return text + bounds_row(table) + bounds_line(table, decimals);
}

nlohmann::ordered_json table_json(const ModeTable& table, Backend backend) {
  Json modes = Json::object();
  for (const ModeFigures& mode : table.modes) modes[std::string(mode_name(mode.mode))] = mode_json(mode);
  return {{"modes", std::move(modes)},
          {"bounds",
           {{"serial_ms", table.serial_ms},
            {"ideal_ms", table.bound_ms() > 0 ? Json(table.bound_ms()) : Json()},
            {"cores_ms", table.cores_ms > 0 ? Json(table.cores_ms) : Json()}}},
          {"bound_by", stage_name(table.bound_by)},
          {"advice", table_advice(table, backend)}};
}

}  // namespace framelane
