// From the text of --vf to the passes that run on each frame: parse, bind parameters, plan.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/expression.h"
#include "kernels/filter.h"

namespace framelane {

/** One filter of a chain as the user wrote it. */
struct FilterUse {
  const FilterDescriptor* descriptor = nullptr;
  ParameterValues values;
  std::string text;    ///< as written: "gblur=sigma=2"
  std::string enable;  ///< ffmpeg's timeline expression, or empty
};

/** Parses ffmpeg's filter grammar: `name=v1:v2:k=v,next`, with `\` and '…' quoting at both levels, positional values
 *  before named ones, `enable=…`, and `/name=path` that reads a value from a file. "" and "null" give an empty chain.
 *  Throws UsageError that names the filter, the parameter, the allowed range and the nearest known name. */
std::vector<FilterUse> parse_filter_chain(std::string_view text);

/** All defaults of `descriptor`, with `settings` ("sigma=2:planes=1") on top; throws UsageError. */
ParameterValues bind_parameters(const FilterDescriptor& descriptor, std::string_view settings);

/** One pass over a frame. */
struct PlanStep {
  const CompiledFilter* filter = nullptr;
  FrameFormat src_format;
  FrameFormat dst_format;
  int state = -1;     ///< which of FilterChain::state_bytes() it uses; -1: none
  std::string label;  ///< "gblur", or "eq+negate" for a fused run
};

struct FilterPlan {
  std::vector<PlanStep> steps;  ///< empty: the frame goes through unchanged
};

/** A chain for frames of one format on one backend.
 *  Thread: one at a time (the submitter). Owns: the compiled filters and their tables. */
class FilterChain {
 public:
  /** Compiles every filter; throws UsageError where one cannot take what comes to it, where `enable` is no expression
   *  or stands at a filter that cannot be switched off, and for more than 64 filters. */
  FilterChain(std::vector<FilterUse> uses, const FrameFormat& input, Backend backend);
  ~FilterChain();

  const std::vector<FilterUse>& uses() const { return uses_; }
  const FrameFormat& input_format() const { return formats_.front(); }
  const FrameFormat& output_format() const { return formats_.back(); }
  /** Filters that may be switched off while running, by key or by `enable`: those that keep the frame's format. */
  bool can_toggle(std::size_t use) const;

  /** Bit i set: filter i works on this frame, by `toggled_on` (bit i, the user's keys) and its enable expression. */
  std::uint64_t enabled_at(std::uint64_t toggled_on, std::int64_t frame_index, double time_s) const;

  /** The passes for a set of enabled filters. Cached: a set seen before allocates nothing. Neighbouring colour
   *  filters are one pass, also when a switched-off filter stands between them. The reference stays valid as long as
   *  the chain. */
  const FilterPlan& plan(std::uint64_t enabled);

  /** Bytes of memory that each temporal filter keeps between frames, in PlanStep::state order. */
  const std::vector<std::size_t>& state_bytes() const { return state_bytes_; }
  /** What any plan of this chain needs of a slot: the largest frame between two passes, the largest scratch. */
  std::size_t intermediate_bytes() const { return intermediate_bytes_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  void add(const FilterUse& use);
  bool is_color(std::size_t use) const;
  const CompiledFilter& color_run(std::uint64_t members);
  PlanStep color_step(std::uint64_t members);
  PlanStep step(std::size_t use) const;
  FilterPlan make_plan(std::uint64_t enabled);

  std::vector<FilterUse> uses_;
  std::vector<FrameFormat> formats_;  ///< before filter i; the last: after all
  Backend backend_;
  std::vector<std::unique_ptr<Filter>> filters_;
  std::vector<std::unique_ptr<CompiledFilter>> compiled_;  ///< null for colour filters
  std::vector<std::unique_ptr<Expression>> enable_;        ///< null: always on
  std::vector<int> state_of_;                              ///< index into state_bytes_, or -1
  std::vector<std::size_t> state_bytes_;
  std::map<std::uint64_t, std::unique_ptr<CompiledFilter>> color_runs_;  ///< by their set of filters
  std::map<std::uint64_t, FilterPlan> plans_;                            ///< by the set of enabled filters
  std::size_t intermediate_bytes_ = 0;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace framelane
