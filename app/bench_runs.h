// The runs of `framelane bench`: kept frames through ring and device in every mode, in turns, round after round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/ceilings.h"
#include "app/mode_table.h"
#include "kernels/filter_chain.h"
#include "pipeline/device.h"
#include "pipeline/transport.h"

namespace framelane {

/** What all runs have in common. */
struct BenchSetup {
  std::shared_ptr<Device> device;
  std::vector<FilterUse> filters;
  std::vector<Mode> modes;
  std::vector<int> slots;  ///< ring depths; 0: the device's default
  CudaGraphs cuda_graphs = CudaGraphs::kAuto;
  int rounds = 5;
  std::optional<std::int64_t> frames;  ///< to count in each run; nothing: as many as take a while
  HostMemory sync_memory = HostMemory::kPageable;
  SimulatedWork work;
  std::function<void(const std::string&)> progress;  ///< told of each run; may be empty
  std::function<bool()> stop;                        ///< polled; may be empty
};

/** One mode of a case, beside its figures in the table. */
struct BenchMode {
  MeasuredTime frame_ms;
  bool cuda_graphs = false;
};

/** All modes at one depth of the ring. */
struct BenchCase {
  int slots = 0;
  ModeTable table;
  std::vector<BenchMode> modes;  ///< in the table's order

  const BenchMode& fastest() const { return modes[static_cast<std::size_t>(&table.fastest() - table.modes.data())]; }
};

/** Frames of one format: a case for each depth of the ring. */
struct BenchFrames {
  FrameFormat format;
  Ceilings ceilings;
  std::vector<BenchCase> cases;
};

/** How many frames of `format` to keep: more bytes than a CPU's cache holds and more frames than `slots`, unless that
 *  were more than half a gigabyte; at least 2. */
int kept_frame_count(const FrameFormat& format, int slots);

/** Runs every mode at every depth of the ring, and `before_round` (may be empty) once a round. A trial of each finds
 * the number of frames, and whether CudaGraphs::kAuto means graphs. Blocking; nothing when stopped. Throws DeviceError
 * and UsageError. Thread: main. */
std::optional<std::vector<BenchCase>> bench_cases(const BenchSetup& setup, const KeptFrames& kept,
                                                  const std::function<void()>& before_round);

/** bench_cases() of synthetic frames, with the ceilings measured between the rounds. */
std::optional<BenchFrames> bench_frames(const BenchSetup& setup, const FrameFormat& format);

/** Throws UsageError that begins with `what` where `bytes` of host memory are more than this machine can give. */
void check_host_memory(const std::string& what, double bytes);

/** Host memory that bench_frames() takes, about. `chain`: the setup's filters for those frames. */
double host_bytes_needed(const BenchSetup& setup, const FilterChain& chain);

}  // namespace framelane
