// Law:        a backward after zero_grad to zeros == a backward after zero_grad to none
// Sense:      bitwise, for `exact` gradients, which are never -0: then 0 + g = g.
// Not said:   that the two are the same to a step; they are not, zeros decay moments.
// Must catch: bug `zero_grad_keeps_values`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using namespace scenarios;

Scenario with_zero_grad(Scenario scenario, bool set_to_none) {
  scenario.program.clear();
  for (Action const& action :
       {Action(Backward{}), Action(Step{}), Action(ZeroGrad{.set_to_none = set_to_none}),
        Action(Backward{}), Action(Step{})})
    scenario.program.push_back({.action = action, .line = {}});
  return scenario;
}

std::string none_and_zeros(Scenario const& scenario, std::string const& bug) {
  return first_difference(execute(with_zero_grad(scenario, true), {.bug = bug}).state,
                          execute(with_zero_grad(scenario, false), {.bug = bug}).state);
}

RC_GTEST_PROP(Zeros, AreNoGradientToTheNextBackward, ()) {
  auto const scenario = *scenario_gen(exact_gradients()).as("scenario");
  classify(scenario);
  RC_ASSERT(none_and_zeros(scenario, "") == no_difference);
}

TEST(Zeros, CatchGradientsThatKeepTheirValues) {
  expect_caught(none_and_zeros, "zero_grad_keeps_values", exact_gradients());
}

}  // namespace
}  // namespace adamant::properties
