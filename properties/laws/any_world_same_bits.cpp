// Law:        final_state(run(s, W, L)) == final_state(run(s, 1 rank, fsdp2))
//             for every mesh W of shards and replicas and every layout L
// Sense:      bitwise, for `exact` gradients. Adam is element-wise, so a shard boundary may not
//             move a single bit, and sums that are exact have one result in any order.
// Not said:   that the bits are right (agrees_with_oracle.cpp).
// Must catch: bug `remainder_dropped`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

FinalState on(scenarios::Scenario scenario, scenarios::World const& world, scenarios::Layout layout,
              std::string const& bug) {
  scenario.microbatches = scenario.microbatch_count();  // the batch is the same in every world
  scenario.world = world;
  scenario.layout = layout;
  return execute(scenario, {.bug = bug}).state;
}

FinalState with_ranks(scenarios::Scenario const& scenario, std::int64_t ranks,
                      std::string const& bug) {
  return on(scenario, {.shard = ranks}, scenarios::Layout::fsdp2, bug);
}

std::string alone_and_shared(scenarios::Scenario const& scenario, std::string const& bug) {
  return first_difference(with_ranks(scenario, 1, bug),
                          on(scenario, scenario.world, scenario.layout, bug));
}

RC_GTEST_PROP(AnyWorld, EndsWithTheBitsOfOneRank, ()) {
  auto scenario = *scenarios::scenario_gen(exact_in_any_world()).as("scenario");
  scenario.world.shard = *rc::gen::inRange<std::int64_t>(1, 5).as("shards");
  scenario.world.replicate = *rc::gen::inRange<std::int64_t>(1, 4).as("replicas");
  scenario.world.outer = *rc::gen::element(Outer::none, Outer::optim).as("outer");
  scenario.layout =
      *rc::gen::element(LayoutKind::fsdp2, LayoutKind::flat, LayoutKind::bucketed).as("layout");
  classify(scenario);
  RC_CLASSIFY(scenario.world.replicate > 1 && scenario.world.outer == Outer::optim, "across");
  RC_ASSERT(alone_and_shared(scenario, "") == no_difference);
}

/// Two steps of one parameter, the second with an accumulated gradient.
scenarios::Scenario two_steps(std::int64_t rows) {
  scenarios::Scenario scenario;
  scenario.name = "two steps";
  scenario.params = {{.name = "w", .shape = {rows, 3}, .group = "", .precision = {}, .line = {}}};
  scenario.microbatches = 3;
  using namespace scenarios;
  for (Action const& action :
       {Action(Train{}), Action(Backward{}), Action(Backward{}), Action(Step{})})
    scenario.program.push_back({.action = action, .line = {}});
  return scenario;
}

class SmallWorlds : public testing::TestWithParam<std::int64_t> {};

TEST_P(SmallWorlds, EndWithTheBitsOfOneRank) {
  std::int64_t const rows = GetParam();
  FinalState const alone = with_ranks(two_steps(rows), 1, "");
  for (std::int64_t ranks = 2; ranks <= 8; ++ranks)
    EXPECT_EQ(first_difference(alone, with_ranks(two_steps(rows), ranks, "")), no_difference)
        << ranks << " ranks";
}

INSTANTIATE_TEST_SUITE_P(Rows, SmallWorlds, testing::Range<std::int64_t>(0, 9));

TEST(AnyWorld, CatchesARemainderThatIsDropped) {
  expect_caught(alone_and_shared, "remainder_dropped", exact_in_any_world());
}

}  // namespace
}  // namespace adamant::properties
