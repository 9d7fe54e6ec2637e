// Law:        replays of a capture == the same operations, executed one by one
// Sense:      bitwise, for `exact` gradients, any part of an iteration, any number of replays and
//             whatever happens between them.
// Not said:   which of the two is right; see agrees_with_oracle.
// Must catch: bugs `graph_hands_out_its_gradient` and `second_capture_ignored`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using namespace scenarios;

Scenario eager(Scenario scenario) {
  std::vector<Operation> program;
  std::vector<Operation> captured;
  for (Operation const& operation : scenario.program) {
    auto const* capture = std::get_if<Capture>(&operation.action);
    auto const* replay = std::get_if<Replay>(&operation.action);
    if (capture != nullptr) captured = capture->body;
    for (std::int64_t i = 0; replay != nullptr && i < replay->count; ++i)
      program.insert(program.end(), captured.begin(), captured.end());
    if (capture == nullptr && replay == nullptr) program.push_back(operation);
  }
  scenario.program = std::move(program);
  scenario.program.push_back({.action = Check{}, .line = {}});  // a program is never empty
  return scenario;
}

Scenario uncapturable(Scenario scenario) {
  scenario.optimizer.capturable = false;
  return scenario;
}

std::string replayed_and_eager(Scenario const& scenario, std::string const& bug) {
  return first_difference(execute(eager(scenario)).state, execute(scenario, {.bug = bug}).state);
}

RC_GTEST_PROP(Replays, EqualEagerExecution, ()) {
  auto const scenario = *scenario_gen(exact_gradients()).as("scenario");
  classify(scenario);
  RC_ASSERT(replayed_and_eager(scenario, "") == no_difference);
}

RC_GTEST_PROP(Replays, EqualExecutionByAnEngineThatCannotCapture, ()) {
  auto const scenario = *scenario_gen(exact_gradients()).as("scenario");
  RC_ASSERT(first_difference(execute(uncapturable(eager(scenario))).state,
                             execute(scenario).state) == no_difference);
}

TEST(Replays, CatchABufferThatIsHandedOut) {
  expect_caught(replayed_and_eager, "graph_hands_out_its_gradient", exact_gradients());
}

TEST(Replays, CatchAGraphThatIsNotReplaced) {
  expect_caught(replayed_and_eager, "second_capture_ignored", exact_gradients());
}

}  // namespace
}  // namespace adamant::properties
