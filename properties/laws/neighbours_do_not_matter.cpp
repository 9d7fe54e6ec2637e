// Law:        final_state(run(s)) == final_state(run(s + one more parameter)), without that one
// Sense:      bitwise: a parameter knows nothing of those that share its buffers, units and kernel.
// Not said:   anything about what couples parameters: a clipped global norm, skipped steps.
// Must catch: bug `last_piece_dropped`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

scenarios::Scenario with_neighbour(scenarios::Scenario scenario) {
  scenario.params.push_back(
      {.name = "neighbour", .shape = {5, 3}, .group = "", .precision = {}, .line = {}});
  return scenario;
}

std::string alone_and_beside(scenarios::Scenario const& scenario, std::string const& bug) {
  FinalState const alone = execute(scenario, {.bug = bug}).state;
  FinalState beside = execute(with_neighbour(scenario), {.bug = bug}).state;
  beside.tensors.resize(alone.tensors.size());
  beside.steps.resize(alone.steps.size());
  return first_difference(alone, beside);
}

RC_GTEST_PROP(Neighbours, DoNotMatter, ()) {
  auto const scenario = *scenarios::scenario_gen(uncoupled_parameters()).as("scenario");
  classify(scenario);
  RC_ASSERT(alone_and_beside(scenario, "") == no_difference);
}

TEST(Neighbours, CatchAPieceThatIsForgottenAtTheEnd) {
  expect_caught(alone_and_beside, "last_piece_dropped", uncoupled_parameters());
}

}  // namespace
}  // namespace adamant::properties
