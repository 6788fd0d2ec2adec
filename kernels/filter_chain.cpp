#include "kernels/filter_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kernels/color/color_program.h"
#include "kernels/errors.h"

namespace framelane {
namespace {

constexpr std::size_t kMaxFilters = 64;  // one bit each in a set of enabled filters

constexpr std::uint64_t bit(std::size_t use) { return std::uint64_t{1} << use; }
constexpr std::size_t first_of(std::uint64_t members) { return static_cast<std::size_t>(std::countr_zero(members)); }
constexpr std::size_t last_of(std::uint64_t members) { return static_cast<std::size_t>(std::bit_width(members)) - 1; }

/** ffmpeg's timeline variables. `pos`, the byte position in the input, is not known to us: NaN, as in ffmpeg. */
std::vector<std::string> timeline_variables() { return {"t", "n", "pos", "w", "h"}; }

}  // namespace

FilterChain::FilterChain(std::vector<FilterUse> uses, const FrameFormat& input, Backend backend)
    : uses_(std::move(uses)), formats_{input}, backend_(backend) {
  if (uses_.size() > kMaxFilters) {
    throw UsageError(fmt::format("{} filters in one chain: {} at most", uses_.size(), kMaxFilters));
  }
  for (const FilterUse& use : uses_) add(use);
  const FilterPlan& everything = plan(~std::uint64_t{0});
  for (const PlanStep& step : everything.steps) scratch_bytes_ = std::max(scratch_bytes_, step.filter->scratch_bytes());
  // Colour filters that toggling brings together are fused, so only a chain of those alone never has two passes.
  if (everything.steps.size() < 2) return;
  for (std::size_t i = 1; i < uses_.size(); ++i) {
    intermediate_bytes_ = std::max(intermediate_bytes_, frame_layout(formats_[i]).bytes);
  }
}

FilterChain::~FilterChain() = default;

void FilterChain::add(const FilterUse& use) {
  const FrameFormat input = formats_.back();
  filters_.push_back(use.descriptor->create(use.values));
  formats_.push_back(filters_.back()->output_format(input));
  const bool color = use.descriptor->kind == FilterKind::kColor;
  compiled_.push_back(color ? nullptr : filters_.back()->compile(input, backend_));
  const std::size_t state_bytes = color ? 0 : compiled_.back()->state_bytes();
  state_of_.push_back(state_bytes == 0 ? -1 : static_cast<int>(state_bytes_.size()));
  if (state_bytes != 0) state_bytes_.push_back(state_bytes);

  if (use.enable.empty()) {
    enable_.push_back(nullptr);
  } else if (can_toggle(filters_.size() - 1)) {
    enable_.push_back(std::make_unique<Expression>(use.enable, timeline_variables()));
  } else {
    throw UsageError(fmt::format("filter '{}' makes {} of {}: it cannot be switched on and off by 'enable'",
                                 use.descriptor->name, describe(formats_.back()), describe(input)));
  }
}

bool FilterChain::can_toggle(std::size_t use) const { return formats_[use] == formats_[use + 1]; }

bool FilterChain::is_color(std::size_t use) const { return uses_[use].descriptor->kind == FilterKind::kColor; }

std::uint64_t FilterChain::enabled_at(std::uint64_t toggled_on, std::int64_t frame_index, double time_s) const {
  std::uint64_t enabled = 0;
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    bool on = (toggled_on & bit(i)) != 0 || !can_toggle(i);
    if (on && enable_[i]) {
      on = enable_[i]->evaluate({time_s, static_cast<double>(frame_index), std::numeric_limits<double>::quiet_NaN(),
                                 static_cast<double>(formats_[i].width), static_cast<double>(formats_[i].height)}) != 0;
    }
    if (on) enabled |= bit(i);
  }
  return enabled;
}

const FilterPlan& FilterChain::plan(std::uint64_t enabled) {
  for (std::size_t i = 0; i < kMaxFilters; ++i) {
    if (i >= uses_.size()) {
      enabled &= ~bit(i);
    } else if (!can_toggle(i)) {
      enabled |= bit(i);
    }
  }
  const auto found = plans_.find(enabled);
  return found != plans_.end() ? found->second : plans_.emplace(enabled, make_plan(enabled)).first->second;
}

FilterPlan FilterChain::make_plan(std::uint64_t enabled) {
  FilterPlan made;
  std::uint64_t run = 0;  // colour filters collected so far
  const auto end_run = [&] {
    if (run != 0) made.steps.push_back(color_step(run));
    run = 0;
  };
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    if ((enabled & bit(i)) == 0) continue;
    if (is_color(i)) {
      run |= bit(i);
    } else {
      end_run();
      made.steps.push_back(step(i));
    }
  }
  end_run();
  return made;
}

PlanStep FilterChain::step(std::size_t use) const {
  return {compiled_[use].get(), formats_[use], formats_[use + 1], state_of_[use],
          std::string(uses_[use].descriptor->name)};
}

PlanStep FilterChain::color_step(std::uint64_t members) {
  std::string label;
  for (std::uint64_t rest = members; rest != 0; rest &= rest - 1) {
    if (!label.empty()) label += '+';
    label += uses_[first_of(rest)].descriptor->name;
  }
  return {&color_run(members), formats_[first_of(members)], formats_[last_of(members) + 1], -1, label};
}

const CompiledFilter& FilterChain::color_run(std::uint64_t members) {
  std::unique_ptr<CompiledFilter>& run = color_runs_[members];
  if (!run) {
    ColorProgram program;
    for (std::uint64_t rest = members; rest != 0; rest &= rest - 1) {
      filters_[first_of(rest)]->append_to(program, formats_[first_of(rest)]);
    }
    run = compile_color_program(program, formats_[first_of(members)], backend_);
    if (run->scratch_bytes() != 0) throw std::logic_error("a colour pass needs no scratch: slots have none for it");
  }
  return *run;
}

}  // namespace framelane
