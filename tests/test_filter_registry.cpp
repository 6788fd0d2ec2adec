// Every filter's declaration is whole: what parser, help, conformance tests and benchmark read is there and fits.
#include "kernels/filter_registry.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels/edit_distance.h"
#include "kernels/filter_chain.h"

namespace framelane::testing {
namespace {

bool is_identifier(std::string_view name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                              std::string_view::npos;
}

TEST(FilterRegistry, NamesAreUnique) {
  std::set<std::string_view> names{"null", "copy"};  // the parser's own
  for (const FilterDescriptor* filter : all_filters()) {
    EXPECT_TRUE(is_identifier(filter->name)) << filter->name;
    EXPECT_TRUE(names.insert(filter->name).second) << filter->name;
    for (const std::string_view alias : filter->aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
  }
}

TEST(FilterRegistry, FindsEachFilterByNameAndAlias) {
  for (const FilterDescriptor* filter : all_filters()) {
    EXPECT_EQ(find_filter(filter->name), filter);
    for (const std::string_view alias : filter->aliases) EXPECT_EQ(find_filter(alias), filter);
  }
  EXPECT_EQ(find_filter("no such filter"), nullptr);
  EXPECT_EQ(find_filter(""), nullptr);
}

TEST(FilterRegistry, DeclarationsAreComplete) {
  for (const FilterDescriptor* filter : all_filters()) {
    SCOPED_TRACE(filter->name);
    EXPECT_FALSE(filter->help.empty());
    EXPECT_EQ(filter->help.find('\n'), std::string_view::npos);
    EXPECT_FALSE(filter->oracle.empty());
    EXPECT_FALSE(filter->tolerance.empty());
    EXPECT_FALSE(filter->conformance_settings.empty());
    ASSERT_NE(filter->create, nullptr);
    ASSERT_NE(filter->spatial_radius, nullptr);
    ASSERT_NE(filter->temporal_reach, nullptr);
    ASSERT_NE(filter->cost, nullptr);
  }
}

TEST(FilterRegistry, ParametersAreComplete) {
  for (const FilterDescriptor* filter : all_filters()) {
    std::set<std::string_view> names{"enable"};  // every filter's own
    for (const Parameter& parameter : filter->parameters) {
      SCOPED_TRACE(std::string(filter->name) + " " + std::string(parameter.name));
      EXPECT_TRUE(is_identifier(parameter.name));
      EXPECT_TRUE(names.insert(parameter.name).second);
      if (!parameter.alias.empty()) {
        EXPECT_TRUE(is_identifier(parameter.alias));
        EXPECT_TRUE(names.insert(parameter.alias).second);
      }
      EXPECT_FALSE(parameter.help.empty());
      const bool numeric = parameter.type == ParameterType::kNumber || parameter.type == ParameterType::kInteger;
      if (numeric) {
        EXPECT_LT(parameter.min, parameter.max);
      }
      EXPECT_EQ(parameter.type == ParameterType::kChoice, !parameter.choices.empty());
      if (parameter.odd) {
        EXPECT_EQ(parameter.type, ParameterType::kInteger);
      }
    }
  }
}

TEST(FilterRegistry, DefaultsAreWithinTheirRanges) {
  for (const FilterDescriptor* filter : all_filters()) {
    const ParameterValues values = bind_parameters(*filter, "");  // checks them as if the user had written them
    for (const Parameter& parameter : filter->parameters) {
      EXPECT_FALSE(values.is_set(parameter.name)) << filter->name << ' ' << parameter.name;
    }
  }
}

TEST(FilterRegistry, EveryConformanceSettingMakesAFilter) {
  for (const FilterDescriptor* filter : all_filters()) {
    for (const std::string_view settings : filter->conformance_settings) {
      SCOPED_TRACE(std::string(filter->name) + "=" + std::string(settings));
      const ParameterValues values = bind_parameters(*filter, settings);
      EXPECT_NE(filter->create(values), nullptr);
      EXPECT_GE(filter->spatial_radius(values), -1);
      EXPECT_GE(filter->temporal_reach(values), -1);
      if (filter->kind != FilterKind::kTemporal) {
        EXPECT_EQ(filter->temporal_reach(values), 0);
      }
      EXPECT_GE(filter->cost(values).bytes, 1);
      EXPECT_GE(filter->cost(values).operations, 0);
    }
  }
}

TEST(FilterRegistry, SuggestsTheNearestName) {
  EXPECT_EQ(nearest_filter_name("glbur"), "gblur");
  EXPECT_EQ(nearest_filter_name("scal"), "scale");
  EXPECT_EQ(nearest_filter_name("hqdn"), "hqdn3d");
  EXPECT_EQ(nearest_filter_name("usharp"), "unsharp");
}

TEST(EditDistance, CountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("", "ab"), 2U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2U);
}

}  // namespace
}  // namespace framelane::testing
