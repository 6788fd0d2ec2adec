#include "app/bench_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <sstream>
#include <string_view>
#include <utility>

#include "app/declarations.h"
#include "app/measure_options.h"
#include "app/option_values.h"
#include "app/run_options.h"
#include "kernels/edit_distance.h"
#include "kernels/errors.h"
#include "pipeline/pixel_format.h"

extern "C" {
#include <libavutil/parseutils.h>
#include <libavutil/pixdesc.h>
}

namespace framelane {
namespace {

/** Light: copies bind on a GPU, as they do for most of what people run. */
constexpr const char* kDefaultChain = "eq=contrast=1.1";
constexpr std::array kDefaultSizes{BenchSize{1280, 720}, BenchSize{1920, 1080}, BenchSize{3840, 2160},
                                   BenchSize{7680, 4320}};
constexpr int kLargestSide = 16384;
constexpr double kLongestStage_ms = 1000;
/** What a copy and a kernel take at least: launching them alone takes a tenth of it. */
constexpr double kShortestGpuStage_ms = 0.1;

void for_each_word(const std::string& text, const std::function<void(const std::string&)>& take) {
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) take(word);
  if (text.empty() || text.ends_with(',')) take("");
}

/** The width of "1080p" in 16:9, made even; 0 for other words. */
int width_of_height_name(const std::string& text, int& height) {
  const char* end = text.data() + text.size();
  const auto [tail, error] = std::from_chars(text.data(), end, height);
  if (error != std::errc{} || std::string_view(tail, end) != "p" || height < 1 || height > kLargestSide) return 0;
  return static_cast<int>(std::lround(height * 8 / 9.0)) * 2;
}

BenchSize parse_size(const std::string& text) {
  BenchSize size;
  size.width = width_of_height_name(text, size.height);
  if (size.width == 0 && av_parse_video_size(&size.width, &size.height, text.c_str()) < 0) {
    throw UsageError(
        fmt::format("'{}' is not a size: write 1280x720, 720p, 1080p, 2160p, 4320p or one of ffmpeg's names (hd1080, "
                    "uhd2160; 4k is 4096x2160)",
                    text));
  }
  if (std::max(size.width, size.height) > kLargestSide) {
    throw UsageError(fmt::format("{} is out of range: at most {} on each side", text, kLargestSide));
  }
  return size;
}

std::string nearest_planar_format(const std::string& name) {
  std::string nearest;
  for (const AVPixFmtDescriptor* entry = av_pix_fmt_desc_next(nullptr); entry != nullptr;
       entry = av_pix_fmt_desc_next(entry)) {
    if (!planar_format(av_pix_fmt_desc_get_id(entry))) continue;
    if (nearest.empty() || edit_distance(name, entry->name) < edit_distance(name, nearest)) nearest = entry->name;
  }
  return nearest;
}

BenchPixels parse_pixels(const std::string& name) {
  const AVPixelFormat id = av_get_pix_fmt(name.c_str());
  if (id == AV_PIX_FMT_NONE) {
    throw UsageError(fmt::format("unknown pixel format '{}': did you mean {}?", name, nearest_planar_format(name)));
  }
  const std::optional<PixelFormat> pixel = planar_format(id);
  if (!pixel) {
    const char* arrival = av_get_pix_fmt_name(static_cast<AVPixelFormat>(arrival_format(id)));
    throw UsageError(fmt::format(
        "{} is no format that filters take: {}", name,
        arrival == nullptr ? "use a planar one, such as yuv420p" : fmt::format("frames of it become {}", arrival)));
  }
  const bool full = pixel->model == ColorModel::kGbr || name.starts_with("yuvj");
  return {*pixel, full ? ColorRange::kFull : ColorRange::kLimited};
}

std::chrono::microseconds parse_stage_ms(const std::string& text, double least_ms) {
  const double ms = parse_number(text, 0, kLongestStage_ms);
  if (ms < least_ms) throw UsageError(fmt::format("{}: copies and kernel take {} ms at least", text, least_ms));
  return std::chrono::round<std::chrono::microseconds>(std::chrono::duration<double, std::milli>(ms));
}

BenchShape parse_shape(const std::string& text) {
  std::vector<std::string> times;
  for_each_word(text, [&](const std::string& word) { times.push_back(word); });
  if (times.size() != 4) {
    throw UsageError(
        fmt::format("'{}' is not four times in ms: write PREPROCESS,H2D,KERNEL,D2H, such as 8,3,12,3", text));
  }
  return {parse_stage_ms(times[0], 0), parse_stage_ms(times[1], kShortestGpuStage_ms),
          parse_stage_ms(times[2], kShortestGpuStage_ms), parse_stage_ms(times[3], kShortestGpuStage_ms)};
}

std::vector<int> parse_slots(const std::string& text) {
  std::vector<int> slots;
  for_each_word(text, [&](const std::string& word) { slots.push_back(static_cast<int>(parse_integer(word, 1, 64))); });
  return slots;
}

std::vector<FrameFormat> make_formats(const std::vector<BenchSize>& sizes, const std::vector<BenchPixels>& pixels) {
  std::vector<FrameFormat> formats;
  for (const BenchSize& size : sizes) {
    for (const BenchPixels& each : pixels) {
      formats.push_back({.pixel = each.pixel,
                         .width = size.width,
                         .height = size.height,
                         .matrix = guess_matrix(size.width, size.height),
                         .range = each.range});
    }
  }
  return formats;
}

/** Options that mean nothing beside another are refused: whoever gave them expects something of them. */
void check_alone(const char* option, std::initializer_list<std::pair<const char*, bool>> others, const char* why) {
  for (const auto& [other, given] : others) {
    if (given) throw UsageError(fmt::format("{}: does not go with {}, which {}", other, option, why));
  }
}

}  // namespace

void declare_bench(CLI::App& command, ParsedValues& values) {
  Declarations declare(command);
  BenchValues& bench = values.bench;
  declare.group("Frames");
  declare.values(
      "--size", "SIZE",
      [&](const std::string& text) {
        for_each_word(text, [&](const std::string& word) { bench.sizes.push_back(parse_size(word)); });
      },
      "1280x720, 1080p, uhd2160, ... (720p, 1080p, 2160p and 4320p)");
  declare.values(
      "--format", "FORMAT",
      [&](const std::string& text) {
        for_each_word(text, [&](const std::string& word) { bench.pixels.push_back(parse_pixels(word)); });
      },
      "pixel format by ffmpeg's name, planar (yuv420p)");
  declare.group("Filtering");
  declare_chain(declare, values.chains);
  declare_device(declare, bench.options.device);
  declare_modes(declare, bench.modes);
  declare.value(
      "--slots", "K,K", [&](const std::string& text) { bench.slots = parse_slots(text); },
      "frames in flight, one or several depths to try (the device's choice)");
  declare.value(
      "--cuda-graphs", "auto|on|off", [&](const std::string& text) { bench.cuda_graphs = parse_cuda_graphs(text); },
      "launch a frame's work as one captured graph (auto: where that is faster)");
  declare.group("Measurement");
  declare.value(
      "--shape", "MS,MS,MS,MS", [&](const std::string& text) { bench.options.shape = parse_shape(text); },
      "timed work: CPU preprocessing, H2D, kernel, D2H of each frame; the textbook's is 8,3,12,3");
  declare.flag("--filters", bench.options.filters, "each filter alone, beside a copy of as many bytes and NPP");
  declare_rounds(declare, bench.options.rounds);
  declare_frames_a_round(declare, bench.options.frames);
  declare_console(declare, values);
  declare_json(declare, bench.options.json);
}

BenchOptions finish_bench(ParsedValues& values) {
  BenchValues& bench = values.bench;
  BenchOptions options = std::move(bench.options);
  const bool has_frames = !bench.sizes.empty() || !bench.pixels.empty();
  if (options.shape) {
    check_alone("--shape",
                {{"--size", !bench.sizes.empty()},
                 {"--format", !bench.pixels.empty()},
                 {"--vf", !values.chains.empty()},
                 {"--filters", options.filters}},
                "has frames and kernels of its own");
  }
  if (options.filters) {
    check_alone("--filters",
                {{"--modes", !bench.modes.empty()},
                 {"--slots", bench.slots.has_value()},
                 {"--cuda-graphs", bench.cuda_graphs.has_value()},
                 {"--frames", options.frames.has_value()}},
                "measures kernels alone");
  }
  if (!bench.modes.empty()) options.modes = std::move(bench.modes);
  options.slots = std::move(bench.slots).value_or(std::move(options.slots));
  options.cuda_graphs = bench.cuda_graphs.value_or(options.cuda_graphs);
  const bool own_chain = options.filters || options.shape;
  options.chain = values.chains.empty() && !own_chain ? kDefaultChain : join_chains(std::move(values.chains));
  if (options.shape || (options.filters && !has_frames)) return options;
  if (bench.sizes.empty()) bench.sizes.assign(kDefaultSizes.begin(), kDefaultSizes.end());
  if (bench.pixels.empty()) bench.pixels.emplace_back();
  options.formats = make_formats(bench.sizes, bench.pixels);
  return options;
}

}  // namespace framelane
