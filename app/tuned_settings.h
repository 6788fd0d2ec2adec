// What `framelane tune` found, kept for `run --tuned`: tuned.json in the user's configuration folder.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/filter_chain.h"
#include "pipeline/device.h"
#include "pipeline/media_input.h"
#include "pipeline/mode.h"

namespace framelane {

/** What is tuned. */
struct RunSettings {
  Mode mode = Mode::kMultistream;
  int slots = 1;
  int decoder_threads = 1;
  bool cuda_graphs = false;
  auto operator<=>(const RunSettings&) const = default;
};

/** "multistream, 6 slots, 16 decoder threads", and ", CUDA graphs" where they are used. */
std::string describe(const RunSettings& settings);

/** What a choice holds for. */
struct TuningKey {
  std::string device;  ///< Device::name()
  std::string frame;   ///< "1920x1080 yuv420p"
  std::string chain;   ///< canonical_chain()
  bool operator==(const TuningKey&) const = default;
};

/** A chain's filters with the parameters that are not at their defaults, in declared order: the same text for
 *  "gblur=2" and "gblur=sigma=2.0". Empty for no filter. */
std::string canonical_chain(const std::vector<FilterUse>& filters);

struct TunedEntry {
  TuningKey key;
  RunSettings settings;
  double fps = 0;
  double gain = 1;      ///< over the defaults
  std::string date;     ///< ISO 8601, UTC
  std::string version;  ///< the framelane that measured it
};

/** The file. Thread: any; two programs that store at once may lose one of the two entries, never the file. */
class TunedStore {
 public:
  explicit TunedStore(std::filesystem::path file) : file_(std::move(file)) {}
  /** $XDG_CONFIG_HOME/framelane/tuned.json, by default in ~/.config. Throws OutputError without a home. */
  static TunedStore of_user();

  const std::filesystem::path& file() const { return file_; }
  /** The entry for `key`. Nothing, with a warning, where the file or the entry cannot be understood. Throws OutputError
   *  where the file cannot be read. */
  std::optional<TunedEntry> find(const TuningKey& key) const;
  /** Throws OutputError now where store() would: creates the folder. */
  void prepare() const;
  /** Adds or replaces one entry and keeps the others; the file is replaced at once or not at all. A damaged file is
   *  kept beside it as tuned.json.bad, with a warning. Throws OutputError. */
  void store(const TunedEntry& entry) const;

 private:
  std::filesystem::path file_;
};

/** False for what cannot be opened twice: standard input, pipes, cameras, network streams. Throws InputError where
 *  there is no such input. */
bool can_be_reopened(const MediaInputOptions& input);

/** Opens the input, decodes its first frame, and tells the format that a pipeline would see. Throws InputError. */
FrameFormat probe_format(const MediaInputOptions& input, const std::shared_ptr<Device>& device);

}  // namespace framelane
