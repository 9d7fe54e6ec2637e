// Law:        final_state(run(s, sim)) == final_state(run(s, sim-unchecked))
// Sense:      bitwise: an instrumented access costs time, never a bit. Only where chunks of a step
//             on the CPU are agents, which they are in checked worlds alone, a schedule's draws
//             fall otherwise and sums may be added in another order; there gradients are exact.
// Not said:   that vector units and plain loops agree on a GPU.
// Must catch: bug `fused_multiply_add` in one of the two builds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"
#include "scenarios/language/rounding_scale.h"

namespace adamant::properties {
namespace {

std::string in_both_builds(scenarios::Scenario const& scenario, std::string const& bug) {
  return first_difference(execute(scenario, {.bug = bug}).state,
                          execute(scenario, {.engine = "sim-unchecked"}).state);
}

RC_GTEST_PROP(Checked, EndsWithTheBitsOfTheUncheckedBuild, ()) {
  auto scenario = *scenarios::scenario_gen().as("scenario");
  if (scenarios::hybrid_config(scenario.offload)) {
    RC_PRE(!scenarios::any_scale_rounds(scenario));
    scenario.gradients = scenarios::GradientClass::exact;
  }
  classify(scenario);
  RC_ASSERT(in_both_builds(scenario, "") == no_difference);
}

TEST(Checked, CatchesAMultiplicationThatOneBuildFuses) {
  expect_caught(in_both_builds, "fused_multiply_add");
}

}  // namespace
}  // namespace adamant::properties
