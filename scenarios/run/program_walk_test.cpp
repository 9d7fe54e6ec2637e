#include "scenarios/run/program_walk.h"

#include <gtest/gtest.h>

#include "scenarios/run/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

using Kind = Primitive::Kind;

std::vector<Kind> kinds_of(Program const& program) {
  std::vector<Kind> kinds;
  ProgramWalk walk(program);
  while (auto const primitive = walk.next()) kinds.push_back(primitive->kind);
  return kinds;
}

Scenario with_program(std::vector<Operation> program) {
  Scenario scenario = small_scenario();
  scenario.program = std::move(program);
  return scenario;
}

TEST(ProgramWalk, TrainIsBackwardStepZeroGradAsOftenAsItSays) {
  Program const program(with_program({operation(Train{2}), operation(Check{})}));
  EXPECT_EQ(kinds_of(program),
            (std::vector{Kind::backward, Kind::step, Kind::zero_grad, Kind::backward, Kind::step,
                         Kind::zero_grad, Kind::check}));
}

TEST(ProgramWalk, EveryPrimitiveKnowsItsEntryAndBackwardsCountOn) {
  Program const program(with_program({operation(Train{1}), operation(Backward{})}));
  ProgramWalk walk(program);
  for (int const entry : {0, 0, 0}) EXPECT_EQ(walk.next()->entry, entry);
  auto const backward = walk.next();
  EXPECT_EQ(backward->entry, 1);
  EXPECT_EQ(backward->backward_index, 1);
  EXPECT_FALSE(walk.next());
}

TEST(ProgramWalk, NamesBecomeNumbers) {
  Program const program(
      with_program({operation(Backward{.without = {"h.1.weight", "h.0.weight"}})}));
  ProgramWalk walk(program);
  auto const backward = walk.next();
  EXPECT_EQ(std::vector<int>(backward->without.begin(), backward->without.end()),
            (std::vector{1, 3}));
}

TEST(ProgramWalk, SettingsAddUpAndAGroupsOwnValueWins) {
  SettingsChange rate;
  rate.adam.lr = 0.5F;
  SettingsChange decay;
  decay.adam.weight_decay = 0.25F;
  Program const program(with_program({operation(Set{rate}), operation(Set{decay})}));
  ProgramWalk walk(program);
  walk.next();
  auto const second = walk.next();
  ASSERT_EQ(second->groups.size(), 2U);
  EXPECT_EQ(second->groups[0].learning_rate, 0.5F);
  EXPECT_EQ(second->groups[0].weight_decay, 0.25F);
  EXPECT_EQ(second->groups[1].learning_rate, 0.5F);
  EXPECT_EQ(second->groups[1].weight_decay, 0.0F);
}

}  // namespace
}  // namespace adamant::scenarios
