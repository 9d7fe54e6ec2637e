// Law:        final_state(run(s, loop-back)) == final_state(run(s, NCCL))
// Sense:      bitwise, for `exact` gradients: who carries the collectives may not matter.
// Not said:   anything about order: sums that round may differ in their last bits; nor about
// graphs,
//             which the loop-back does not capture.
// Must catch: bug `mean_by_reciprocal` on one of the two sides.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

scenarios::GenerateOptions exact_without_graphs() {
  auto options = exact_gradients();
  options.off |= scenarios::set_of(scenarios::Feature::capture);
  return options;
}

std::string carried_by_both(scenarios::Scenario const& scenario, std::string const& bug) {
  return first_difference(execute(scenario).state,
                          execute(scenario, {.bug = bug, .loopback = true}).state);
}

RC_GTEST_PROP(Loopback, EndsWithTheBitsOfNccl, ()) {
  auto const scenario = *scenarios::scenario_gen(exact_without_graphs()).as("scenario");
  classify(scenario);
  RC_ASSERT(carried_by_both(scenario, "") == no_difference);
}

RC_GTEST_PROP(Loopback, RaisesNoAlarm, ()) {
  auto const scenario = *scenarios::scenario_gen(exact_without_graphs()).as("scenario");
  auto const end = execute(scenario, {.loopback = true}).end;
  RC_ASSERT(end.violations.size() == 0U);
  RC_ASSERT(!end.failure);
}

TEST(Loopback, CatchesAMeanThatIsAProduct) {
  expect_caught(carried_by_both, "mean_by_reciprocal", exact_without_graphs());
}

}  // namespace
}  // namespace adamant::properties
