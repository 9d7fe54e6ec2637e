// What is planned without an engine is what an engine then takes.
#include "scenarios/judge/memory_plan.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "scenarios/judge/budgets.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios {
namespace {

std::vector<PlannedMemory> plan_of(Scenario const& scenario) {
  return plan_memory(scenario).value();
}

BytesByPurpose planned_peak(Scenario const& scenario) {
  BytesByPurpose peak{};
  for (PlannedMemory const& planned : plan_of(scenario)) raise_to(peak, planned.peak);
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

TEST(MemoryPlan, OfMeshesInEveryLayout) {
  for (Layout const layout : {Layout::fsdp2, Layout::flat, Layout::bucketed})
    for (Outer const outer : {Outer::none, Outer::optim}) {
      Scenario scenario = small_scenario();
      scenario.world = {.shard = 2, .replicate = 3, .outer = outer};
      scenario.layout = layout;
      expect_as_planned(scenario);
    }
}

/// Budgets of these ranks, behind all of a program that has one world.
Budgets budgets_after(Scenario const& scenario, std::vector<int> const& ranks) {
  Budgets budgets(scenario);
  budgets.begin_world(scenario, parameter_specs(scenario), ranks, scenario.optimizer.clip);
  Program const program(scenario);
  ProgramWalk walk(program);
  while (auto const operation = walk.next()) budgets.follow(*operation);
  return budgets;
}

/// Is the entry what a rank needs? REQUIRES: pinned memory that stays.
void expect_peak(PlannedMemory const& planned, oracle::Budget const& budget) {
  for (std::size_t i = 0; i < purpose_count; ++i) {
    auto const purpose = static_cast<Purpose>(i);
    std::int64_t const pinned = budget.pinned_bytes(purpose);
    EXPECT_EQ(planned.peak[i].pinned, pinned) << purpose_names[i];
    EXPECT_EQ(planned.peak[i].device, budget.peak_bytes(purpose) - pinned) << purpose_names[i];
  }
}

/// Each rank is in one entry, which has what that rank needs.
void expect_plan_of_all(Scenario const& scenario) {
  std::vector<int> ranks;
  for (int rank = 0; rank < mesh_of(scenario.world).rank_count(); ++rank) ranks.push_back(rank);
  Budgets const budgets = budgets_after(scenario, ranks);
  std::vector<int> entries(ranks.size(), 0);
  for (PlannedMemory const& planned : plan_of(scenario))
    for (RankBlock const& block : planned.ranks)
      for (int replica = block.replicas.first; replica <= block.replicas.last; ++replica)
        for (int shard = block.shards.first; shard <= block.shards.last; ++shard) {
          auto const rank = static_cast<std::size_t>(replica * planned.mesh.shards + shard);
          SCOPED_TRACE(testing::Message() << "rank " << rank);
          ++entries.at(rank);
          expect_peak(planned, budgets.of(rank));
        }
  EXPECT_EQ(entries, std::vector<int>(ranks.size(), 1));
}

void expect_plans_on_all_meshes(Scenario scenario) {
  for (Layout const layout : {Layout::fsdp2, Layout::flat, Layout::bucketed})
    for (Outer const outer : {Outer::none, Outer::optim})
      for (int shards = 1; shards <= 5; ++shards)
        for (int replicas = 1; replicas <= 4; ++replicas) {
          scenario.world = {.shard = shards, .replicate = replicas, .outer = outer};
          scenario.layout = layout;
          SCOPED_TRACE(testing::Message() << static_cast<int>(layout) << static_cast<int>(outer)
                                          << ": " << shards << " x " << replicas);
          expect_plan_of_all(scenario);
        }
}

TEST(MemoryPlan, OfEveryRankOfAnyMeshInEveryLayout) {
  Scenario scenario = small_scenario();
  expect_plans_on_all_meshes(scenario);
  scenario.order = ParamOrder::reversed;
  scenario.precision.param = ParamType::bf16;
  scenario.optimizer.decoupled_grad = false;
  expect_plans_on_all_meshes(scenario);
  scenario.offload = OffloadedStates{};
  expect_plans_on_all_meshes(scenario);
}

// Borders of ranks lie elsewhere in a buffer whose parameters stand the other way round.
TEST(MemoryPlan, OfEveryRankWhateverTheOrderInABuffer) {
  Scenario scenario = small_scenario();
  scenario.groups = {};
  scenario.params = {parameter("v", {9}), parameter("w", {5, 3}), parameter("x", {40})};
  scenario.program = {operation(Train{2})};
  for (ParamOrder const order : {ParamOrder::listed, ParamOrder::reversed}) {
    scenario.order = order;
    for (Offload const& offload :
         {Offload(), Offload(OffloadedStates{}), Offload(HybridOffload{})}) {
      scenario.offload = offload;
      expect_plans_on_all_meshes(scenario);
    }
  }
  scenario.offload = {};
  scenario.precision.param = ParamType::bf16;
  scenario.precision.exp_avg = StateType::fp8;
  scenario.optimizer.decoupled_grad = false;
  scenario.optimizer.capturable = true;
  expect_plans_on_all_meshes(scenario);
}

TEST(MemoryPlan, OfALoadAndOfAReplayIsThatOfWhatTheyDo) {
  auto const gradients_after = [](std::vector<Operation> program) {
    Scenario scenario = small_scenario();
    scenario.program = std::move(program);
    return budgets_after(scenario, {0}).of(0).device_bytes(Purpose::gradients);
  };
  EXPECT_GT(gradients_after({operation(Save{"a"}), operation(Backward{})}), 0);
  EXPECT_EQ(
      gradients_after({operation(Save{"a"}), operation(Backward{}), operation(Load{.from = "a"})}),
      0);
  Operation const capture = operation(Capture{.body = {operation(Backward{})}});
  EXPECT_EQ(gradients_after({capture}), 0);
  EXPECT_GT(gradients_after({capture, operation(Replay{1})}), 0);
}

// Each of the two has one of the parameters.
TEST(MemoryPlan, OfRanksThatNeedTheSameIsOneEntry) {
  Scenario scenario = small_scenario();
  scenario.world = {.shard = 2, .replicate = 2};
  scenario.layout = Layout::flat;
  scenario.groups = {};
  scenario.params = {parameter("v", {8}), parameter("w", {8})};
  scenario.program = {operation(Train{1})};
  auto const plan = plan_of(scenario);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan.front().ranks, (std::vector<RankBlock>{{.shards = {0, 1}, .replicas = {0, 1}}}));
}

TEST(MemoryPlan, OfAParameterThatNeverHasAGradient) {
  Scenario scenario = small_scenario();
  scenario.program = {operation(Backward{.without = {"h.1.weight"}}), operation(Step{})};
  expect_as_planned(scenario);
}

// From the load on, what is left out, which is the largest, has another number.
TEST(MemoryPlan, OfParametersInAnotherOrder) {
  Scenario scenario = small_scenario();
  Load load;
  load.from = "a";
  load.world = World{.shard = 3};
  load.order = ParamOrder::reversed;
  scenario.params.front().shape = {40, 3};
  scenario.program = {operation(Save{"a"}), operation(load),
                      operation(Backward{.without = {"embed.weight"}}), operation(Step{})};
  expect_as_planned(scenario);
}

// A new world has what it takes if the checkpoint says so, whatever held in the old one.
TEST(MemoryPlan, OfScalingThatACheckpointBrings) {
  Scenario scenario = small_scenario();
  SettingsChange scaled;
  scaled.loss_scale = LossScale{.kind = LossScale::Kind::fixed, .value = 2.0F};
  Load load;
  load.world = World{.shard = 2};
  auto const scaling_after = [&](std::string const& from) {
    load.from = from;
    scenario.program = {operation(Save{"plain"}), operation(Set{scaled}), operation(Save{"scaled"}),
                        operation(load), operation(Train{1})};
    expect_as_planned(scenario);
    return plan_of(scenario).back().peak[static_cast<std::size_t>(Purpose::scaling)].device;
  };
  EXPECT_GT(scaling_after("scaled"), 0);
  EXPECT_EQ(scaling_after("plain"), 0);
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
  auto const plan = plan_of(resharded());
  ASSERT_GE(plan.size(), 2U);
  EXPECT_EQ(plan.front().from_operation, 0);
  EXPECT_EQ(plan.front().mesh.shards, 4);
  EXPECT_EQ(plan.back().from_operation, 2);
  EXPECT_EQ(plan.back().mesh.shards, 2);
}

TEST(MemoryPlan, TellsStartFromGradients) {
  PlannedMemory const planned = plan_of(small_scenario()).front();
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
  for (PlannedMemory const& planned : plan_of(scenario))
    for (RankBlock const& block : planned.ranks)
      ranks += block.shards.last - block.shards.first + 1;
  EXPECT_EQ(ranks, 1 << 20);
}

// Of so many ranks each has other parts, and each operation would be followed on all of them.
TEST(MemoryPlan, ThatWouldTakeMinutesIsNotMade) {
  Scenario scenario = small_scenario();
  scenario.world.shard = 4000;
  for (int i = 0; i < 4000; ++i)
    scenario.params.push_back(parameter("h." + std::to_string(i + 2) + ".w", {i + 1, 2}));
  EXPECT_FALSE(plan_memory(scenario));
  scenario.world.shard = 1;
  EXPECT_TRUE(plan_memory(scenario));
  scenario.program.assign(400'000, operation(Step{}));
  EXPECT_FALSE(plan_memory(scenario));
}

}  // namespace
}  // namespace adamant::scenarios
