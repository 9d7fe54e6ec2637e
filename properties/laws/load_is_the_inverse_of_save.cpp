// Law:        final_state(s; save; load on W1; save; load on W2; …) == final_state(s; zero_grad)
//             final_state(s; save; load on W; t) == final_state(s; zero_grad; t)
// Sense:      bitwise, for `exact` gradients: a checkpoint keeps all that training goes on from, on
//             whatever path of meshes, layouts, orders of registration and offloads it passes; so a
//             path of several steps is as good as the direct one.
// Not said:   that the files are what others read, nor what a crash leaves (crash_is_atomic.cpp).
// Must catch: bugs `te_2795`, `skyrl_1403` and `areal_1468`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::Scenario;

/// Where to load.
struct Hop {
  scenarios::World world;
  scenarios::Layout layout;
  scenarios::Offload offload;
  scenarios::ParamOrder order;
};

void save_and_load(Scenario& scenario, Hop const& hop) {
  add(scenario, scenarios::Save{.checkpoint = "kept"});
  add(scenario, scenarios::Load{.from = "kept",
                                .world = hop.world,
                                .layout = hop.layout,
                                .offload = hop.offload,
                                .order = hop.order});
}

/// A path that starts where the scenario ends; it follows from its seed.
std::vector<Hop> path_of(Scenario const& scenario) {
  scenarios::Offload const offloads[] = {{},
                                         scenarios::OffloadedStates{},
                                         scenarios::OffloadedStates{.moments = false},
                                         scenarios::HybridOffload{.fraction = 0.5}};
  std::uint64_t draws = scenario.seed.value_or(0);
  auto const draw = [&](std::uint64_t count) {
    std::uint64_t const drawn = draws % count;
    draws /= count;
    return drawn;
  };
  bool const capturable = scenario.optimizer.capturable;  // states of a graph do not move
  std::vector<Hop> path;
  for (int i = 0; i < 3; ++i) {
    scenarios::World const world = {.shard = 1 + static_cast<std::int64_t>(draw(4)),
                                    .replicate = 1 + static_cast<std::int64_t>(draw(3)),
                                    .outer = draw(2) == 0 ? Outer::none : Outer::optim};
    auto const layout = static_cast<LayoutKind>(draw(3));
    auto const order = static_cast<scenarios::ParamOrder>(draw(2));
    std::uint64_t const offload = draw(4);
    path.push_back({.world = world,
                    .layout = layout,
                    .offload = offloads[capturable ? 0 : offload],
                    .order = order});
  }
  return path;
}

void train_on(Scenario& scenario) {
  add(scenario, scenarios::Backward{});
  add(scenario, scenarios::Step{});
  add(scenario, scenarios::Train{});
}

scenarios::GenerateOptions that_can_move() {
  return exact_in_any_world();
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
