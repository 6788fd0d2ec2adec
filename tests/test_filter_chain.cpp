#include "kernels/filter_chain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/errors.h"
#include "tests/plane_fixture.h"

namespace framelane::testing {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

FrameFormat input_format() { return make_format(pixel_format("yuv420p"), 64, 48); }

FilterChain make_chain(const std::string& text, const FrameFormat& input = input_format()) {
  return {parse_filter_chain(text), input, Backend::kCpu};
}

std::vector<std::string> labels(const FilterPlan& plan) {
  std::vector<std::string> found;
  for (const PlanStep& step : plan.steps) found.push_back(step.label);
  return found;
}

using Labels = std::vector<std::string>;

/** `frame` through the steps of a plan without temporal filters. */
HostFrame run_plan(const FilterPlan& plan, HostFrame frame) {
  for (const PlanStep& step : plan.steps) {
    EXPECT_EQ(step.src_format, frame.format());
    frame = run_compiled(*step.filter, {frame}, step.dst_format, Backend::kCpu).front();
  }
  return frame;
}

TEST(FilterChain, OfNothingHasNoStep) {
  FilterChain chain = make_chain("");
  EXPECT_TRUE(chain.plan(kAll).steps.empty());
  EXPECT_EQ(chain.output_format(), input_format());
  EXPECT_EQ(chain.intermediate_bytes(), 0U);
  EXPECT_EQ(chain.scratch_bytes(), 0U);
}

TEST(FilterChain, FusesNeighbouringColourFilters) {
  FilterChain chain = make_chain("eq=contrast=1.1,negate,gblur=2,negate,eq=gamma=1.2,eq=saturation=0.5");
  EXPECT_EQ(labels(chain.plan(kAll)), (Labels{"eq+negate", "gblur", "negate+eq+eq"}));
}

TEST(FilterChain, FusesAcrossAFilterThatIsSwitchedOff) {
  FilterChain chain = make_chain("negate,gblur=2,eq=contrast=1.1");
  EXPECT_EQ(labels(chain.plan(kAll)), (Labels{"negate", "gblur", "eq"}));
  EXPECT_EQ(labels(chain.plan(0b101)), (Labels{"negate+eq"}));
  EXPECT_EQ(labels(chain.plan(0b010)), (Labels{"gblur"}));
  EXPECT_TRUE(chain.plan(0).steps.empty());
}

TEST(FilterChain, AFusedRunDoesWhatItsFiltersDo) {
  // Two times negated is the frame itself; one negation between filters that do nothing is one negation.
  const HostFrame frame(input_format(), Content::kRandom, 5);
  FilterChain twice = make_chain("negate,eq,negate");
  EXPECT_EQ(max_difference(run_plan(twice.plan(kAll), frame), frame), 0);
  const HostFrame negative = run_plan(twice.plan(0b011), frame);
  EXPECT_EQ(negative.sample(0, 3, 4), 255 - frame.sample(0, 3, 4));
}

TEST(FilterChain, KnowsTheFormatBetweenFilters) {
  FilterChain chain = make_chain("hflip,scale=32:20,gblur=2,transpose=clock");
  EXPECT_EQ(chain.input_format(), input_format());
  EXPECT_EQ(chain.output_format().width, 20);
  EXPECT_EQ(chain.output_format().height, 32);
  const FilterPlan& plan = chain.plan(kAll);
  ASSERT_EQ(plan.steps.size(), 4U);
  EXPECT_EQ(plan.steps[1].src_format, input_format());
  EXPECT_EQ(plan.steps[1].dst_format.width, 32);
  EXPECT_EQ(plan.steps[2].src_format, plan.steps[1].dst_format);
  EXPECT_EQ(plan.steps[3].src_format, plan.steps[2].dst_format);
  EXPECT_EQ(plan.steps[3].dst_format, chain.output_format());
}

TEST(FilterChain, NeverSwitchesOffWhatChangesTheFormat) {
  FilterChain chain = make_chain("gblur=2,scale=32:20,hflip");
  EXPECT_TRUE(chain.can_toggle(0));
  EXPECT_FALSE(chain.can_toggle(1));
  EXPECT_TRUE(chain.can_toggle(2));
  EXPECT_EQ(chain.enabled_at(0, 0, 0), 0b010U);
  EXPECT_EQ(labels(chain.plan(0)), (Labels{"scale"}));
}

TEST(FilterChain, GivesTheSamePlanForTheSameSet) {
  FilterChain chain = make_chain("negate,gblur=2,eq=contrast=1.1");
  const FilterPlan* all = &chain.plan(kAll);
  const FilterPlan* some = &chain.plan(0b101);
  const CompiledFilter* fused = some->steps[0].filter;
  EXPECT_EQ(&chain.plan(0b111), all);
  EXPECT_EQ(&chain.plan(0b101), some);
  EXPECT_EQ(&chain.plan(0b1101), some) << "bits beyond the chain mean nothing";
  EXPECT_EQ(chain.plan(0b101).steps[0].filter, fused);
}

TEST(FilterChain, EvaluatesEnableForEachFrame) {
  const FilterChain chain = make_chain(
      "negate=enable='between(t,2,5)',hflip=enable='gte(n,10)',vflip=enable='not(mod(n,2))',"
      "gblur=enable='eq(w,64)*eq(h,48)',unsharp=enable='isnan(pos)',eq");
  EXPECT_EQ(chain.enabled_at(kAll, 0, 0.0), 0b111100U);
  EXPECT_EQ(chain.enabled_at(kAll, 1, 2.0), 0b111001U);
  EXPECT_EQ(chain.enabled_at(kAll, 10, 5.0), 0b111111U);
  EXPECT_EQ(chain.enabled_at(kAll, 11, 5.1), 0b111010U);
  EXPECT_EQ(chain.enabled_at(0b010000, 10, 3.0), 0b010000U) << "the user's switch and the expression must both be on";
  EXPECT_EQ(chain.enabled_at(kAll, 3, std::nan("")), 0b111000U) << "a frame without a time";
}

TEST(FilterChain, GivesEveryTemporalFilterAStateOfItsOwn) {
  FilterChain chain = make_chain("tmix=frames=4,gblur=2,hqdn3d,tmix=frames=2");
  ASSERT_EQ(chain.state_bytes().size(), 3U);
  EXPECT_GE(chain.state_bytes()[0], 4U * 64 * 48 * 3 / 2);
  EXPECT_GE(chain.state_bytes()[1], 2U * 64 * 48 * 3 / 2);
  const FilterPlan& all = chain.plan(kAll);
  EXPECT_EQ(all.steps[0].state, 0);
  EXPECT_EQ(all.steps[1].state, -1);
  EXPECT_EQ(all.steps[2].state, 1);
  EXPECT_EQ(all.steps[3].state, 2);
  EXPECT_EQ(chain.plan(0b1000).steps[0].state, 2) << "switching others off does not move it";
}

TEST(FilterChain, ReservesWhatAnyOfItsPlansNeeds) {
  FilterChain chain = make_chain("scale=128:96,hqdn3d,scale=16:16,negate");
  EXPECT_GE(chain.intermediate_bytes(), frame_layout(make_format(pixel_format("yuv420p"), 128, 96)).bytes);
  for (std::uint64_t enabled = 0; enabled < 16; ++enabled) {
    const FilterPlan& plan = chain.plan(enabled);
    for (const PlanStep& step : plan.steps) {
      EXPECT_LE(step.filter->scratch_bytes(), chain.scratch_bytes());
      if (&step != &plan.steps.back()) {
        EXPECT_LE(frame_layout(step.dst_format).bytes, chain.intermediate_bytes());
      }
    }
  }
  EXPECT_EQ(make_chain("negate,eq=contrast=1.1,negate").intermediate_bytes(), 0U);
}

TEST(FilterChain, RefusesWhatItCannotDo) {
  EXPECT_THROW(make_chain("scale=32:20:enable=1"), UsageError);
  EXPECT_THROW(make_chain("gblur=enable='between(t,2'"), UsageError);
  EXPECT_THROW(make_chain("gblur=enable=in_w"), UsageError);
  EXPECT_THROW(make_chain("crop=100:100"), UsageError) << "larger than the frame";
  EXPECT_NO_THROW(make_chain("hflip=enable=0"));
}

TEST(FilterChain, HoldsSixtyFourFilters) {
  std::string text = "hflip";
  for (int i = 1; i < 64; ++i) text += ",hflip";
  FilterChain chain = make_chain(text);
  EXPECT_EQ(chain.plan(kAll).steps.size(), 64U);
  EXPECT_EQ(chain.plan(std::uint64_t{1} << 63).steps.size(), 1U);
  EXPECT_EQ(chain.enabled_at(std::uint64_t{1} << 63, 0, 0), std::uint64_t{1} << 63);
  EXPECT_THROW(make_chain(text + ",hflip"), UsageError);
}

}  // namespace
}  // namespace framelane::testing
