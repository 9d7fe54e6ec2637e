// What is planned without an engine is what an engine then takes.
#include "scenarios/judge/memory_plan.h"

#include <gtest/gtest.h>

#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

BytesByPurpose planned_peak(Scenario const& scenario) {
  BytesByPurpose peak{};
  for (PlannedMemory const& planned : plan_memory(scenario)) raise_to(peak, planned.peak);
  return peak;
}

/// Neither has what a checkpoint takes while it is written or read.
void expect_as_planned(Scenario const& scenario) {
  RunResult const result = run_scenario(scenario);
  ASSERT_EQ(result.outcome, Outcome::pass) << result.message;
  BytesByPurpose const peak = planned_peak(scenario);
  for (std::size_t i = 0; i < purpose_count; ++i) {
    if (static_cast<Purpose>(i) == Purpose::checkpoint) continue;
    EXPECT_EQ(peak[i].device, result.peak_bytes[i].device) << purpose_names[i];
    EXPECT_EQ(peak[i].pinned, result.peak_bytes[i].pinned) << purpose_names[i];
  }
}

TEST(MemoryPlan, OfAPlainProgram) {
  expect_as_planned(small_scenario());
}

TEST(MemoryPlan, OfScalingThatComesLate) {
  Scenario scenario = small_scenario();
  SettingsChange clipped;
  clipped.clip = Clip(1.0F);
  scenario.program = {operation(Train{1}), operation(Set{clipped}), operation(Train{1})};
  expect_as_planned(scenario);
}

TEST(MemoryPlan, OfStatesThatLeave) {
  Scenario scenario = small_scenario();
  scenario.offload = OffloadedStates{};
  scenario.program = {operation(Train{3})};
  expect_as_planned(scenario);
  scenario.offload = {};
  scenario.program = {operation(Train{1}), operation(OffloadStates{}), operation(Train{1})};
  expect_as_planned(scenario);
}

TEST(MemoryPlan, OfAHybridStep) {
  Scenario scenario = small_scenario();
  scenario.offload = HybridOffload{};
  expect_as_planned(scenario);
}

TEST(MemoryPlan, OfAGraph) {
  Scenario scenario = small_scenario();
  scenario.optimizer.capturable = true;
  scenario.program = {operation(Capture{.body = {operation(Train{1})}}), operation(Replay{3})};
  expect_as_planned(scenario);
}

Scenario resharded() {
  Scenario scenario = small_scenario();
  Load load;
  load.from = "a";
  load.world = World{.shard = 2};
  scenario.program = {operation(Train{1}), operation(Save{"a"}), operation(load),
                      operation(Train{1})};
  return scenario;
}

TEST(MemoryPlan, OfOneWorldAfterTheOther) {
  expect_as_planned(resharded());
  auto const plan = plan_memory(resharded());
  ASSERT_GE(plan.size(), 2U);
  EXPECT_EQ(plan.front().from_operation, 0);
  EXPECT_EQ(plan.front().mesh.shards, 4);
  EXPECT_EQ(plan.back().from_operation, 2);
  EXPECT_EQ(plan.back().mesh.shards, 2);
}

TEST(MemoryPlan, TellsStartFromGradients) {
  PlannedMemory const planned = plan_memory(small_scenario()).front();
  auto const gradients = static_cast<std::size_t>(Purpose::gradients);
  EXPECT_EQ(planned.at_start[gradients].device, 0);
  EXPECT_GT(planned.between[gradients].device, 0);
  auto const gathered = static_cast<std::size_t>(Purpose::unsharded_parameters);
  EXPECT_EQ(planned.between[gathered].device, 0);
  EXPECT_GT(planned.peak[gathered].device, 0);
}

// Time is what is tested, and that no tensor exists.
TEST(MemoryPlan, OfAMillionRanksAndALongProgram) {
  Scenario scenario = small_scenario();
  scenario.world.shard = 1 << 20;
  for (int i = 0; i < 300; ++i)
    scenario.params.push_back(
        parameter("h." + std::to_string(i + 2) + ".w", {4096 + 64 * i, 4096}));
  scenario.program = {operation(Train{1'000'000'000'000})};
  std::int64_t ranks = 0;
  for (PlannedMemory const& planned : plan_memory(scenario))
    for (RankBlock const& block : planned.ranks)
      ranks += block.shards.last - block.shards.first + 1;
  EXPECT_EQ(ranks, 1 << 20);
}

}  // namespace
}  // namespace adamant::scenarios
