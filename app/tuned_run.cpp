#include "app/tuned_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string>
#include <string_view>

#include "kernels/errors.h"

namespace framelane {
namespace {

/** As one word of a shell's command line. */
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/** The command that would find the settings for this run. */
std::string tune_command(const RunOptions& options) {
  std::string command = fmt::format("framelane tune {}", shell_word(options.pipeline.input.url));
  if (!options.pipeline.input.format.empty()) {
    command += fmt::format(" --input-format {}", shell_word(options.pipeline.input.format));
  }
  for (const auto& [key, value] : options.pipeline.input.demuxer_options) {
    command += fmt::format(" --demuxer-opt {}", shell_word(key + "=" + value));
  }
  if (!options.chain.empty()) command += fmt::format(" --vf {}", shell_word(options.chain));
  if (options.device != "auto") command += fmt::format(" --device {}", options.device);
  return command;
}

/** A file that cannot be read is no reason not to run. */
std::optional<TunedEntry> stored_entry(const TuningKey& key, const RunOptions& options) {
  try {
    std::optional<TunedEntry> entry = TunedStore::of_user().find(key);
    if (!entry) {
      spdlog::warn("--tuned: nothing is stored for {} with this chain on this device, going on with the defaults: {}",
                   key.frame, tune_command(options));
    }
    return entry;
  } catch (const OutputError& error) {
    spdlog::warn("--tuned: {}: going on with the defaults", error.what());
    return std::nullopt;
  }
}

}  // namespace

std::optional<TunedEntry> use_tuned_settings(PipelineOptions& run, const RunOptions& options) {
  if (!can_be_reopened(run.input)) {
    spdlog::warn("--tuned: no tuned settings for live input or standard input: going on with the defaults");
    return std::nullopt;
  }
  const TuningKey key{run.device->name(), describe(probe_format(run.input, run.device)), canonical_chain(run.filters)};
  const std::optional<TunedEntry> entry = stored_entry(key, options);
  if (!entry) return std::nullopt;
  const RunSettings& settings = entry->settings;
  if (!options.given.mode) run.mode = settings.mode;
  if (!options.given.slots) run.slots = settings.slots;
  if (!options.given.decoder_threads) run.input.decoder_threads = settings.decoder_threads;
  if (!options.given.cuda_graphs) run.cuda_graphs = settings.cuda_graphs ? CudaGraphs::kOn : CudaGraphs::kOff;
  return entry;
}

}  // namespace framelane
