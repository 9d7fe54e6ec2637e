#include "scenarios/language/state_location.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

StateLocation behind(Scenario const& scenario, std::vector<Action> const& actions) {
  StateLocation states(scenario);
  for (Action const& action : actions) states.follow(action);
  return states;
}

Scenario of_two_ranks(Offload const& offload = {}) {
  Scenario scenario;
  scenario.world.shard = 2;
  scenario.offload = offload;
  return scenario;
}

TEST(StateLocation, StatesLeaveAndComeBackWhenAsked) {
  EXPECT_FALSE(behind(of_two_ranks(), {}).away());
  EXPECT_TRUE(behind(of_two_ranks(), {OffloadStates{}}).away());
  EXPECT_FALSE(behind(of_two_ranks(), {OffloadStates{}, ReloadStates{}}).away());
  EXPECT_FALSE(behind(of_two_ranks(), {OffloadStates{}, Step{}}).away());
}

TEST(StateLocation, OffloadedStatesAreAwayButForTheStep) {
  Scenario const scenario = of_two_ranks(OffloadedStates{});
  EXPECT_TRUE(behind(scenario, {}).away());
  EXPECT_FALSE(behind(scenario, {ReloadStates{}}).away());
  EXPECT_TRUE(behind(scenario, {ReloadStates{}, Train{.count = 1}}).away());
}

TEST(StateLocation, ALoadMovesNothingInTheSameWorld) {
  EXPECT_TRUE(behind(of_two_ranks(), {OffloadStates{}, Load{.from = "a"}}).away());
  Load const same{.from = "a", .world = World{.shard = 2}};
  EXPECT_TRUE(behind(of_two_ranks(), {OffloadStates{}, same}).away());
}

TEST(StateLocation, ANewWorldBeginsAsItsOffloadSays) {
  Load const other{.from = "a", .world = World{.shard = 3}};
  EXPECT_FALSE(behind(of_two_ranks(), {OffloadStates{}, other}).away());
  Load const states{.from = "a", .offload = OffloadedStates{}};
  EXPECT_TRUE(behind(of_two_ranks(), {states}).away());
  Load const hybrid{.from = "a", .offload = HybridOffload{}};
  EXPECT_TRUE(behind(of_two_ranks(), {hybrid}).with_cpu());
  EXPECT_FALSE(
      behind(of_two_ranks(HybridOffload{}), {Load{.from = "a", .offload = Offload{}}}).with_cpu());
}

}  // namespace
}  // namespace adamant::scenarios
