// Law:        verdict(run(scenario), oracle(scenario)) is silent   for every supported scenario
// Sense:      bitwise for parameters, moments and step counters; gradients bitwise if they are
//             `exact`, else inside the bound of any order of summation.
// Not said:   that the oracle is right (oracle/golden says so, against PyTorch).
// Must catch: bug `square_first`, which moves the last bit of a second moment now and then.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "properties/laws/law.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"

namespace adamant::properties {
namespace {

std::string agrees(scenarios::Scenario const& scenario, std::string const& bug) {
  scenarios::RunOptions options;
  options.bug = bug;
  auto const result = scenarios::run_scenario(scenario, options);
  if (result.outcome == scenarios::Outcome::pass) return no_difference;
  if (result.violations.empty()) return result.reason + ": " + message_of(result);
  return in_one_line(result.violations.front());
}

/// A bug to be made on purpose, to see what a failure looks like and that it fails the build.
std::string canary() {
  char const* const bug = std::getenv("ADAMANT_CANARY");
  return bug == nullptr ? "" : bug;
}

RC_GTEST_PROP(AgreesWithOracle, EveryScenarioEndsWithTheBitsOfWholeTensors, ()) {
  auto const scenario = *scenarios::scenario_gen().as("scenario");
  classify(scenario);
  RC_ASSERT(agrees(scenario, canary()) == no_difference);
}

TEST(AgreesWithOracle, CatchesTwoFactorsMultipliedInTheOtherOrder) {
  expect_caught(agrees, "square_first");
}

}  // namespace
}  // namespace adamant::properties
