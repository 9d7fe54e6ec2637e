// Law:        final_state(run(s)) == final_state(run(s with a group split into two equal ones))
// Sense:      bitwise: a group is nothing but its settings and its counter. A capturable engine
//             uploads settings group by group, which moves a schedule's draws and with them the
//             order of sums; there gradients are exact.
// Not said:   that settings reach the parameters they are meant for (agrees_with_oracle.cpp).
// Must catch: bug `flashlight_143`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

/// Every other parameter moves to a twin of its group; those without a group to an empty one.
scenarios::Scenario split(scenarios::Scenario scenario) {
  auto const groups = scenario.groups;
  for (auto const& group : groups)
    scenario.groups.push_back({.name = group.name + "_twin", .settings = group.settings});
  scenario.groups.push_back({.name = "twin", .settings = {}});
  for (std::size_t p = 0; p < scenario.params.size(); p += 2) {
    std::string& group = scenario.params[p].group;
    group = group.empty() ? "twin" : group + "_twin";
  }
  return scenario;
}

std::string whole_and_split(scenarios::Scenario const& scenario, std::string const& bug) {
  return first_difference(execute(scenario, {.bug = bug}).state,
                          execute(split(scenario), {.bug = bug}).state);
}

RC_GTEST_PROP(EqualGroups, AreOneGroup, ()) {
  auto scenario = *scenarios::scenario_gen().as("scenario");
  if (scenario.optimizer.capturable) scenario.gradients = scenarios::GradientClass::exact;
  classify(scenario);
  RC_ASSERT(whole_and_split(scenario, "") == no_difference);
}

TEST(EqualGroups, CatchACounterThatAdvancesOnceAParameter) {
  expect_caught(whole_and_split, "flashlight_143", exact_gradients());
}

}  // namespace
}  // namespace adamant::properties
