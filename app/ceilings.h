// What a device's engines allow for frames of one format: the copies alone, the kernels alone. Measured in rounds, so
// that they can take turns with what they are compared with.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/filter_chain.h"
#include "pipeline/device.h"

namespace framelane {

/** A time in ms, over rounds. */
struct MeasuredTime {
  double median_ms = 0;
  double min_ms = 0;
  double max_ms = 0;
};
/** All 0 for no times. */
MeasuredTime measured_time(std::vector<double> times_ms);

/** Bytes that a frame's copies move, one way each. */
struct CopyBytes {
  std::size_t up = 0;    ///< host to device
  std::size_t down = 0;  ///< device to host
};

/** What a frame's copies take. */
struct CopyTimes {
  MeasuredTime up;    ///< H2D alone
  MeasuredTime down;  ///< D2H alone
  MeasuredTime both;  ///< both at once, on two streams: a frame's bytes each way
};

/** Bounds of the time between frames. */
struct Ceilings {
  CopyBytes bytes;
  std::optional<CopyTimes> copies;  ///< nothing where the device shares the host's memory
  MeasuredTime kernels;             ///< the chain alone

  bool copies_bind() const { return copies && copies->both.median_ms > kernels.median_ms; }
  double binding_ms() const { return copies_bind() ? copies->both.median_ms : kernels.median_ms; }
};

/** Work that is repeated until it has lasted long enough to be timed. `batch` does it so many times and returns the ms
 *  that all took together. */
class RepeatedWork {
 public:
  /** Runs a first round, which is not counted: it finds how many times make a batch. */
  explicit RepeatedWork(std::function<double(int times)> batch);

  void add_round();
  MeasuredTime result() const { return measured_time(rounds_ms_); }

 private:
  double round();

  std::function<double(int times)> batch_;
  int times_ = 1;
  std::vector<double> rounds_ms_;
};

/** Copies between pinned host memory and the device, back to back: up, down, and both ways at once. The blocks
 * alternate, so that no cache holds them all. For a device with memory of its own. Thread: one, which has called
 * Device::use_in_this_thread(). Owns: its memory, streams and events. */
class CopyMeter {
 public:
  CopyMeter(Device& device, const CopyBytes& bytes);
  ~CopyMeter();
  CopyMeter(const CopyMeter&) = delete;
  CopyMeter& operator=(const CopyMeter&) = delete;

  void add_round();
  CopyTimes result() const { return {up_.result(), down_.result(), both_.result()}; }

 private:
  struct Blocks {
    std::vector<MemoryBlock> host;
    std::vector<MemoryBlock> device;
  };
  struct Lane {
    std::unique_ptr<Stream> stream;
    std::unique_ptr<TimedEvent> end;
    Blocks blocks;
    std::size_t bytes = 0;
  };
  static Lane make_lane(Device& device, std::size_t bytes);
  void copy_up(int pass);
  void copy_down(int pass);
  double time(int times, bool up, bool down);

  Lane up_lane_;
  Lane down_lane_;
  std::unique_ptr<TimedEvent> begin_;
  RepeatedWork up_;
  RepeatedWork down_;
  RepeatedWork both_;
};

/** A chain's passes over frames in device memory, back to back. On a device with memory of its own on one stream; else
 *  on a stream a core, each with frames of its own and its filters on one thread, as in multistream mode: the time is
 *  then that between frames of all cores together.
 *  Thread: one, which has called Device::use_in_this_thread(). Owns: memory, streams and events. Throws UsageError
 * where the chain does not take the format. */
class ChainMeter {
 public:
  ChainMeter(Device& device, const std::vector<FilterUse>& filters, const FrameFormat& format);
  ~ChainMeter();
  ChainMeter(const ChainMeter&) = delete;
  ChainMeter& operator=(const ChainMeter&) = delete;

  void add_round() { work_.add_round(); }
  MeasuredTime result() const { return work_.result(); }
  const FrameFormat& output_format() const;

 private:
  class Lane;
  static std::vector<std::unique_ptr<Lane>> make_lanes(Device& device, const std::vector<FilterUse>& filters,
                                                       const FrameFormat& format);
  double time_on_device(int times);
  double time_on_cores(int times);

  Device& device_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<TimedEvent> begin_;
  std::unique_ptr<TimedEvent> end_;
  RepeatedWork work_;
};

/** Both meters for one format and chain. */
class CeilingMeter {
 public:
  CeilingMeter(Device& device, const std::vector<FilterUse>& filters, const FrameFormat& format);

  void add_round();
  Ceilings result() const;
  const FrameFormat& output_format() const { return chain_.output_format(); }

  /** Host memory that one takes on `device`, without the picture that it begins with. */
  static std::size_t host_bytes(const Device& device, const FilterChain& chain);

 private:
  CopyBytes bytes_;
  ChainMeter chain_;
  std::optional<CopyMeter> copies_;
};

}  // namespace framelane
