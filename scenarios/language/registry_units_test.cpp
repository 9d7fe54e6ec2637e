#include "scenarios/language/registry.h"

#include <gtest/gtest.h>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {
namespace {

TEST(Units, ABlockEndsWithTheFirstNumberInAName) {
  EXPECT_EQ(block_of("h.11.attn.c_attn.weight"), "h.11");
  EXPECT_EQ(block_of("model.layers.0.mlp.experts.3.w1"), "model.layers.0");
  EXPECT_EQ(block_of("0"), "0");
  EXPECT_EQ(block_of("wte.weight"), "");
  EXPECT_EQ(block_of("h1.weight"), "");
  EXPECT_EQ(block_of("a.1x.2.b"), "a.1x.2");
  EXPECT_EQ(block_of(""), "");
  EXPECT_EQ(block_of("a."), "");
}

TEST(Units, ConsecutiveParametersOfABlockAreOneUnit) {
  std::vector<std::string> const names{"wte",   "wpe",   "h.0.a", "h.0.b",
                                       "h.1.a", "h.0.c", "ln",    "head"};
  EXPECT_EQ(assign_units(names), (std::vector<int>{0, 0, 1, 1, 2, 3, 4, 4}));
  EXPECT_TRUE(assign_units({}).empty());
}

TEST(Units, SpecificationsCarryGroupAndUnit) {
  Scenario scenario;
  scenario.groups = {{"first", {}}, {"second", {}}};
  scenario.params = {{.name = "a", .shape = {4, 2}},
                     {.name = "h.0.b", .shape = {3}, .group = "second"},
                     {.name = "h.1.b", .shape = {3}, .group = "first"}};
  auto const specs = parameter_specs(scenario);
  ASSERT_EQ(specs.size(), 3U);
  EXPECT_EQ(specs[0], (ParameterSpec{"a", {4, 2}, 0, 0}));
  EXPECT_EQ(specs[1], (ParameterSpec{"h.0.b", {3}, 2, 1}));
  EXPECT_EQ(specs[2], (ParameterSpec{"h.1.b", {3}, 1, 2}));
  EXPECT_EQ(adam_configs(scenario).size(), 3U);
}

}  // namespace
}  // namespace adamant::scenarios
