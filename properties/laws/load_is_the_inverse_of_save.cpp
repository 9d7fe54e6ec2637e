// Law:        final_state(s; save; load on W1; save; load on W2; …) == final_state(s; zero_grad)
//             final_state(s; save; load on W; t) == final_state(s; zero_grad; t)
// Sense:      bitwise, for `exact` gradients: a checkpoint keeps all that training goes on from, on
//             whatever path of worlds and offloads it passes.
// Not said:   that the files are what others read, nor what a crash leaves (crash_is_atomic.cpp).
// Must catch: bugs `te_2795`, `skyrl_1403` and `areal_1468`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::Scenario;

/// A world to load in.
struct Hop {
  std::int64_t ranks = 1;
  scenarios::Offload offload;
};

void save_and_load(Scenario& scenario, Hop const& hop) {
  add(scenario, scenarios::Save{.checkpoint = "kept"});
  add(scenario,
      scenarios::Load{
          .from = "kept", .world = scenarios::World{.shard = hop.ranks}, .offload = hop.offload});
}

/// The worlds of a path that starts where the scenario ends; they follow from its seed.
std::vector<Hop> path_of(Scenario const& scenario) {
  scenarios::Offload const offloads[] = {{},
                                         scenarios::OffloadedStates{},
                                         scenarios::OffloadedStates{.moments = false},
                                         scenarios::HybridOffload{.fraction = 0.5}};
  std::uint64_t draws = scenario.seed.value_or(0);
  std::vector<Hop> path;
  for (int i = 0; i < 3; ++i, draws /= 36)
    path.push_back(
        {.ranks = 1 + static_cast<std::int64_t>(draws % 9), .offload = offloads[draws / 9 % 4]});
  return path;
}

void train_on(Scenario& scenario) {
  add(scenario, scenarios::Backward{});
  add(scenario, scenarios::Step{});
  add(scenario, scenarios::Train{});
}

scenarios::GenerateOptions that_can_move() {
  auto options = exact_in_any_world();
  options.off |= scenarios::set_of(scenarios::Feature::capturable);
  return options;
}

std::string passed_on(Scenario const& scenario, std::string const& bug) {
  Scenario kept = scenario;
  Scenario passed = scenario;
  add(kept, scenarios::ZeroGrad{});
  for (Hop const& hop : path_of(scenario)) save_and_load(passed, hop);
  return first_difference(execute(kept, {}).state, execute(passed, {.bug = bug}).state);
}

std::string continued(Scenario const& scenario, std::string const& bug) {
  Scenario straight = scenario;
  Scenario loaded = scenario;
  add(straight, scenarios::ZeroGrad{});
  save_and_load(loaded, path_of(scenario).front());
  train_on(straight);
  train_on(loaded);
  return first_difference(execute(straight, {}).state, execute(loaded, {.bug = bug}).state);
}

RC_GTEST_PROP(SaveThenLoad, IsTheIdentityOnAnyPathOfWorlds, ()) {
  auto const scenario = *scenarios::scenario_gen(that_can_move()).as("scenario");
  classify(scenario);
  RC_ASSERT(passed_on(scenario, "") == no_difference);
}

RC_GTEST_PROP(SaveThenLoad, GoesOnAsIfNothingHadHappened, ()) {
  auto const scenario = *scenarios::scenario_gen(that_can_move()).as("scenario");
  classify(scenario);
  RC_ASSERT(continued(scenario, "") == no_difference);
}

TEST(SaveThenLoad, CatchesAShardThatIsTakenForTheWholeTensor) {
  expect_caught(passed_on, "te_2795", that_can_move());
}

TEST(SaveThenLoad, CatchesCountersThatAreNotRestored) {
  expect_caught(continued, "skyrl_1403", that_can_move());
}

TEST(SaveThenLoad, CatchesMomentsThatAreNotRestored) {
  expect_caught(continued, "areal_1468", that_can_move());
}

}  // namespace
}  // namespace adamant::properties
