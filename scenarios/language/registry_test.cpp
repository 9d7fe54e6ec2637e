// Law:        names, parameters and places of registration are told apart, and each leads to the
//             others.
// Must catch: a tied name that is counted as a parameter, units of the file's order in a reversed
//             world.
#include "scenarios/language/registry.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

Scenario tied_scenario() {
  Scenario scenario;
  scenario.params = {{.name = "a", .shape = {4, 2}, .parts = {"gate", "up"}},
                     {.name = "h.0.b", .shape = {3}},
                     {.name = "c", .tied = "a"},
                     {.name = "h.0.d", .shape = {5}},
                     {.name = "e", .shape = {1}},
                     {.name = "f", .tied = "e"},
                     {.name = "g", .tied = "a"}};
  return scenario;
}

std::vector<std::string> names_in(std::vector<ParameterSpec> const& specs) {
  std::vector<std::string> names;
  for (ParameterSpec const& spec : specs) names.push_back(spec.name);
  return names;
}

std::vector<int> units_in(std::vector<ParameterSpec> const& specs) {
  std::vector<int> units;
  for (ParameterSpec const& spec : specs) units.push_back(spec.unit);
  return units;
}

TEST(Registry, KnowsWhichParameterEachNameIsOf) {
  Registry const registry = registry_of(tied_scenario().params);
  EXPECT_EQ(registry.parameter, (std::vector<int>{0, 1, 0, 2, 3, 3, 0}));
  EXPECT_EQ(registry.names, (std::vector<std::vector<int>>{{0, 2, 6}, {1}, {3}, {4, 5}}));
}

TEST(Registry, AParameterHasNoGradientWhereAllOfItsNamesAreLeftOut) {
  Registry const registry = registry_of(tied_scenario().params);
  auto const without = [&](std::vector<int> const& names) {
    return registry.without_gradient(names);
  };
  EXPECT_EQ(without({}), std::vector<int>{});
  EXPECT_EQ(without({0, 1, 2}), std::vector<int>{1});
  EXPECT_EQ(without({0, 2, 6}), std::vector<int>{0});
  EXPECT_EQ(without({3, 4, 5}), (std::vector<int>{2, 3}));
}

TEST(Registry, ATiedNameIsNoParameterAndEndsNoUnit) {
  auto const specs = parameter_specs(tied_scenario());
  EXPECT_EQ(names_in(specs), (std::vector<std::string>{"a", "h.0.b", "h.0.d", "e"}));
  EXPECT_EQ(units_in(specs), (std::vector<int>{0, 1, 1, 2}));
  EXPECT_EQ(specs.front().parts, (std::vector<std::string>{"gate", "up"}));
}

TEST(Registry, AReversedWorldRegistersFromTheLastToTheFirst) {
  Scenario scenario = tied_scenario();
  EXPECT_EQ(registered_specs(scenario), parameter_specs(scenario));
  EXPECT_EQ(order_of(scenario).place_of(1), 1);
  scenario.order = ParamOrder::reversed;
  auto const specs = registered_specs(scenario);
  EXPECT_EQ(names_in(specs), (std::vector<std::string>{"e", "h.0.d", "h.0.b", "a"}));
  EXPECT_EQ(units_in(specs), (std::vector<int>{0, 1, 1, 2}));
  RegisteredOrder const order = order_of(scenario);
  for (int number = 0; number < 4; ++number) {
    auto const place = static_cast<std::size_t>(order.place_of(number));
    EXPECT_EQ(specs[place].name, parameter_specs(scenario)[static_cast<std::size_t>(number)].name);
    EXPECT_EQ(order.number_at(static_cast<int>(place)), number);
  }
}

}  // namespace
}  // namespace adamant::scenarios
