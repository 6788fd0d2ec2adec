#include "app/tuned_settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "kernels/errors.h"
#include "pipeline/host_pool.h"
#include "pipeline/input_source.h"
#include "pipeline/preprocess.h"

namespace framelane {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFileVersion = 1;
constexpr int kMostSlots = 64;
constexpr int kMostDecoderThreads = 1024;

// ---- chains

/** Where a value holds a character of the grammar, it cannot be mistaken for it. */
std::string quoted(const std::string& value) {
  return value.find_first_of(":,;=' \\[]") == std::string::npos ? value : fmt::format("'{}'", value);
}

std::string canonical_filter(const FilterUse& use) {
  const ParameterValues defaults = bind_parameters(*use.descriptor, "");
  std::vector<std::string> settings;
  for (const Parameter& parameter : use.descriptor->parameters) {
    const std::string& value = use.values.text(parameter.name);
    if (value != defaults.text(parameter.name)) settings.push_back(fmt::format("{}={}", parameter.name, quoted(value)));
  }
  if (!use.enable.empty()) settings.push_back(fmt::format("enable={}", quoted(use.enable)));
  return fmt::format("{}{}{}", use.descriptor->name, settings.empty() ? "" : "=", fmt::join(settings, ":"));
}

// ---- entries

Json entry_json(const TunedEntry& entry) {
  return {{"device", entry.key.device},
          {"frame", entry.key.frame},
          {"chain", entry.key.chain},
          {"mode", mode_name(entry.settings.mode)},
          {"slots", entry.settings.slots},
          {"decoder_threads", entry.settings.decoder_threads},
          {"cuda_graphs", entry.settings.cuda_graphs},
          {"fps", entry.fps},
          {"gain", entry.gain},
          {"date", entry.date},
          {"framelane", entry.version}};
}

TuningKey entry_key(const Json& json) {
  const auto text = [&](const char* name) { return json.value(name, std::string()); };
  if (!json.is_object()) return {};
  return {text("device"), text("frame"), text("chain")};
}

int whole_number(const Json& json, const char* name, int most) {
  const auto number = json.at(name).get<std::int64_t>();
  if (number < 1 || number > most) throw UsageError(fmt::format("{} {}: out of range [1 - {}]", name, number, most));
  return static_cast<int>(number);
}

/** Throws nlohmann's errors, or UsageError. */
TunedEntry parse_entry(const Json& json) {
  return {entry_key(json),
          {parse_mode(json.at("mode").get<std::string>()), whole_number(json, "slots", kMostSlots),
           whole_number(json, "decoder_threads", kMostDecoderThreads), json.at("cuda_graphs").get<bool>()},
          json.at("fps").get<double>(),
          json.at("gain").get<double>(),
          json.at("date").get<std::string>(),
          json.at("framelane").get<std::string>()};
}

// ---- the file

Json empty_file() { return {{"version", kFileVersion}, {"entries", Json::array()}}; }

/** The file's content, empty_file() where there is none; nothing where it is damaged. Throws OutputError where it
 *  cannot be read. */
std::optional<Json> read_entries(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error) && !error) return empty_file();
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw OutputError(fmt::format("{}: {}", file.string(), std::generic_category().message(errno)));
  Json json = Json::parse(stream, nullptr, false);
  const bool understood = json.is_object() && json.contains("entries") && json["entries"].is_array() &&
                          json.contains("version") && json["version"] == kFileVersion;
  return understood ? std::optional(std::move(json)) : std::nullopt;
}

[[noreturn]] void cannot_store(const fs::path& file, int error) {
  throw OutputError(
      fmt::format("{}: cannot store the tuned settings: {}", file.string(), std::generic_category().message(error)));
}

/** A new file in the folder of `target` that takes its name once it is whole. */
class Replacement {
 public:
  explicit Replacement(const fs::path& target) : target_(target), name_(target.string() + ".XXXXXX") {
    descriptor_ = mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0) cannot_store(target_, errno);
  }
  ~Replacement() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!done_) unlink(name_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno != EINTR) cannot_store(target_, errno);
      text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
  }
  /** On disk before it has the name: a crash leaves the old file or the new one. */
  void take_place() {
    if (fsync(descriptor_) != 0 || rename(name_.c_str(), target_.c_str()) != 0) cannot_store(target_, errno);
    done_ = true;
  }

 private:
  const fs::path target_;
  std::string name_;
  int descriptor_ = -1;
  bool done_ = false;
};

void keep_damaged(const fs::path& file) {
  const fs::path kept = file.string() + ".bad";
  spdlog::warn("{}: not understood, starting anew; the old file is kept as {}", file.string(), kept.string());
  std::error_code error;
  fs::copy_file(file, kept, fs::copy_options::overwrite_existing, error);
  if (error) throw OutputError(fmt::format("{}: {}", kept.string(), error.message()));
}

/** Behind a symbolic link (configuration folders often are full of them): what it points to. */
fs::path link_target(const fs::path& file) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(file, error);
  return error ? file : target;
}

}  // namespace

std::string describe(const RunSettings& settings) {
  return fmt::format("{}, {} slot{}, {} decoder thread{}{}", mode_name(settings.mode), settings.slots,
                     settings.slots == 1 ? "" : "s", settings.decoder_threads, settings.decoder_threads == 1 ? "" : "s",
                     settings.cuda_graphs ? ", CUDA graphs" : "");
}

std::string canonical_chain(const std::vector<FilterUse>& filters) {
  std::vector<std::string> texts;
  std::ranges::transform(filters, std::back_inserter(texts), canonical_filter);
  return fmt::format("{}", fmt::join(texts, ","));
}

TunedStore TunedStore::of_user() {
  const auto folder_of = [](const char* variable) {
    const char* value = std::getenv(variable);
    return fs::path(value == nullptr ? "" : value);
  };
  fs::path folder = folder_of("XDG_CONFIG_HOME");
  if (!folder.is_absolute()) {  // by the XDG specification, others are to be ignored
    const fs::path home = folder_of("HOME");
    if (!home.is_absolute()) throw OutputError("no place for tuned settings: set XDG_CONFIG_HOME or HOME");
    folder = home / ".config";
  }
  return TunedStore(folder / "framelane" / "tuned.json");
}

std::optional<TunedEntry> TunedStore::find(const TuningKey& key) const {
  const std::optional<Json> json = read_entries(file_);
  if (!json) {
    spdlog::warn("{}: not understood, and not used", file_.string());
    return std::nullopt;
  }
  for (const Json& entry : json->at("entries")) {
    try {
      if (entry_key(entry) == key) return parse_entry(entry);
    } catch (const std::exception& error) {  // nlohmann's, or ours about a value
      spdlog::warn("{}: an entry is not understood, and not used: {}", file_.string(), error.what());
    }
  }
  return std::nullopt;
}

void TunedStore::prepare() const {
  std::error_code error;
  const fs::path folder = file_.parent_path();
  fs::create_directories(folder, error);
  if (error) cannot_store(file_, error.value());
  if (access(folder.c_str(), W_OK | X_OK) != 0) cannot_store(file_, errno);
}

void TunedStore::store(const TunedEntry& entry) const {
  prepare();
  std::optional<Json> json = read_entries(file_);
  if (!json) keep_damaged(file_);
  if (!json) json = empty_file();
  Json& entries = json->at("entries");
  const auto same_key = [&](const Json& other) {
    try {
      return entry_key(other) == entry.key;
    } catch (const Json::exception&) {
      return false;  // one that a newer or an older framelane may understand
    }
  };
  const auto place = std::ranges::find_if(entries, same_key);
  if (place == entries.end()) {
    entries.push_back(entry_json(entry));
  } else {
    *place = entry_json(entry);
  }
  Replacement replacement(link_target(file_));
  // Device and file names may hold any bytes; what is not UTF-8 is replaced.
  replacement.write(json->dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  replacement.take_place();
}

bool can_be_reopened(const MediaInputOptions& input) {
  constexpr std::array<std::string_view, 10> kOnce{
      "rtsp:", "rtsps:", "rtp:", "udp:", "srt:", "rtmp", "tcp:", "unix:", "pipe:", "fd:"};
  const SourceKind kind = find_source(input).kind;
  if (kind == SourceKind::kPipe || kind == SourceKind::kCamera) return false;
  return kind != SourceKind::kUrl ||
         std::ranges::none_of(kOnce, [&](std::string_view scheme) { return input.url.starts_with(scheme); });
}

FrameFormat probe_format(const MediaInputOptions& input, const std::shared_ptr<Device>& device) {
  const auto pool = std::make_shared<HostPool>(device);
  pool->set_kind(HostMemory::kPageable);  // nothing is copied to the device
  MediaInputOptions unhurried = input;
  unhurried.realtime = false;
  MediaInput opened(unhurried, pool);
  const AvFrame first = opened.read_frame();
  if (!first) throw InputError(fmt::format("{}: no frame could be decoded", input.url));
  return Preprocess::stream_format(*first);
}

}  // namespace framelane
