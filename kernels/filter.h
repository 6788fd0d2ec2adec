// What a filter is. A filter is declared once, as a FilterDescriptor; parser, help, documentation, conformance
// tests and benchmark read that declaration. A use of it in a chain is a Filter (its parameters bound); a Filter
// compiled for one frame format and one backend is a CompiledFilter, which does the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/frame.h"

struct CUstream_st;  // CUDA's stream, so that no CUDA header is needed here

namespace framelane {

class ColorProgram;

enum class Backend : std::uint8_t { kCpu, kCuda };

/** False in a build without a CUDA compiler: `if constexpr (kHasCuda)` keeps calls into .cu files out of it. */
inline constexpr bool kHasCuda = FRAMELANE_HAS_CUDA != 0;

enum class FilterKind : std::uint8_t { kSpatial, kColor, kGeometry, kTemporal };
/** What a filter's arithmetic is done in: stored codes, R'G'B' in the stream's own transfer, or linear light. */
enum class WorkingSpace : std::uint8_t { kCodes, kRgb, kLinear };
/** Samples outside the plane: none needed, edge sample repeated, mirrored with the edge sample, mirrored without. */
enum class BorderRule : std::uint8_t { kNone, kReplicate, kReflect, kReflect101 };

enum class ParameterType : std::uint8_t { kNumber, kInteger, kBoolean, kChoice, kExpression, kText };

/** One parameter, in ffmpeg's name. Every value arrives as text; numbers are checked against [min, max]. */
struct Parameter {
  std::string_view name;
  std::string_view help;  ///< one line, unit included
  ParameterType type = ParameterType::kNumber;
  std::string_view default_value;  ///< as the user would write it
  double min = 0;
  double max = 0;
  std::string_view alias = {};                 ///< a second name, or empty
  std::vector<std::string_view> choices = {};  ///< kChoice: the allowed names
  bool odd = false;                            ///< kInteger: even values are refused
  bool live = false;                           ///< may change while running (keys + and -)
};

/** A filter's parameters, all present (defaults filled in), checked and in plain form: numbers in decimal, booleans
 *  "0" or "1", choices by their declared name. Getters throw std::logic_error for a name
 *  that the descriptor does not declare. */
class ParameterValues {
 public:
  double number(std::string_view name) const;
  int integer(std::string_view name) const;
  bool flag(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  /** True when the user gave it, false when the default stands. */
  bool is_set(std::string_view name) const;
  void set(std::string_view name, std::string value, bool by_user);

 private:
  struct Value {
    std::string text;
    bool by_user = false;
  };
  const Value& at(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
};

/** One frame's work. `dst`, `src` and `scratch` belong to the frame's slot and are in the backend's memory;
 *  `state` belongs to the filter and is shared by all frames, touched by the ordered pass alone. */
struct FilterArguments {
  FrameView dst;
  FrameView src;
  std::byte* scratch = nullptr;  ///< scratch_bytes() of this frame's own, 256-byte aligned, content undefined
  std::byte* state = nullptr;    ///< state_bytes() kept from frame to frame, 256-byte aligned, zero at the start
  std::int64_t frame_index = 0;  ///< how many frames this filter has seen before this one
};

/** A filter ready for frames of one format on one backend. Immutable after construction: all calls may come from
 *  several threads at once, for different frames. Allocates no device memory after construction. */
class CompiledFilter {
 public:
  virtual ~CompiledFilter() = default;
  virtual std::size_t scratch_bytes() const { return 0; }
  virtual std::size_t state_bytes() const { return 0; }

  /** Filters one frame (a filter with an ordered pass: does what needs no other frame).
   *  CPU: done on return; `stream` is null. CUDA: enqueued on `stream`; returns at once, throws DeviceError if a
   *  launch fails. */
  virtual void run(const FilterArguments& arguments, CUstream_st* stream) const = 0;

  /** True for temporal filters: after run(), the ordered pass of frame n runs once that of frame n-1 has ended. */
  virtual bool has_ordered_pass() const { return false; }
  virtual void run_ordered(const FilterArguments&, CUstream_st* /*stream*/) const {}
};

/** A filter with its parameters bound. */
class Filter {
 public:
  virtual ~Filter() = default;
  /** The format that comes out for `input`; throws UsageError where the parameters do not fit it. */
  virtual FrameFormat output_format(const FrameFormat& input) const { return input; }
  /** For `input` frames on `backend`; uploads weights and tables (blocking, on the current CUDA device). Not called
   *  for colour filters: the default throws std::logic_error. */
  virtual std::unique_ptr<CompiledFilter> compile(const FrameFormat& input, Backend backend) const;
  /** Colour filters add their operation here; the planner compiles a run of them into one pass. The default throws
   *  std::logic_error. */
  virtual void append_to(ColorProgram& program, const FrameFormat& format) const;
};

/** What a filter costs per output sample, for `tune`, benchmarks and the overlay. */
struct FilterCost {
  double bytes = 2;       ///< device memory traffic a sample of 8 bits: read and written
  double operations = 1;  ///< arithmetic operations
};

struct FilterDescriptor {
  std::string_view name;
  std::vector<std::string_view> aliases;
  std::string_view help;  ///< one line
  FilterKind kind = FilterKind::kSpatial;
  WorkingSpace space = WorkingSpace::kCodes;
  BorderRule border = BorderRule::kNone;
  std::vector<Parameter> parameters;
  std::string_view oracle;     ///< what the tests compare with
  std::string_view tolerance;  ///< how closely, and why not closer
  /** Settings ("sigma=2.5") that the conformance tests and the benchmark run, the typical one first. */
  std::vector<std::string_view> conformance_settings;
  std::unique_ptr<Filter> (*create)(const ParameterValues& values) = nullptr;
  /** Samples on each side that an output sample depends on; -1: all of them. */
  int (*spatial_radius)(const ParameterValues& values) = nullptr;
  /** Earlier frames that an output frame depends on; -1: all of them. */
  int (*temporal_reach)(const ParameterValues& values) = nullptr;
  FilterCost (*cost)(const ParameterValues& values) = nullptr;
};

/** Bit mask parameter shared by plane-wise filters: true where bit `plane` of `planes` is set. */
constexpr bool plane_selected(int planes, int plane) { return (planes >> plane & 1) != 0; }

}  // namespace framelane
