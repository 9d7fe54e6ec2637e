// Law:        final_state(run(s, W)) == final_state(run(s, 1))     for every W >= 1
// Sense:      bitwise, for `exact` gradients. Adam is element-wise, so a shard boundary may not
//             move a single bit, and sums that are exact have one result in any order.
// Not said:   that the bits are right (agrees_with_oracle.cpp).
// Must catch: bug `remainder_dropped`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

FinalState with_ranks(scenarios::Scenario scenario, std::int64_t ranks, std::string const& bug) {
  scenario.microbatches = scenario.microbatch_count();  // the batch is the same in every world
  scenario.world.shard = ranks;
  return execute(scenario, {.bug = bug}).state;
}

std::string alone_and_shared(scenarios::Scenario const& scenario, std::string const& bug) {
  return first_difference(with_ranks(scenario, 1, bug),
                          with_ranks(scenario, scenario.world.rank_count(), bug));
}

RC_GTEST_PROP(AnyWorld, EndsWithTheBitsOfOneRank, ()) {
  auto scenario = *scenarios::scenario_gen(exact_in_any_world()).as("scenario");
  scenario.world.shard = *rc::gen::inRange<std::int64_t>(2, 9).as("ranks");
  classify(scenario);
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
