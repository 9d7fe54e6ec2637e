#include "scenarios/runner/admission.h"

#include <gtest/gtest.h>

#include "scenarios/language/laws.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

Capabilities const& simulation = capabilities_of_simulation();
Capabilities const& unchecked = capabilities_of_unchecked_simulation();

TEST(Admission, ScenariosCanExpectTheRefusalOfTooManyMicrobatches) {
  Scenario scenario = small_scenario();
  scenario.microbatches = 1 << 24;
  EXPECT_FALSE(refuse_to_run(scenario, simulation));

  scenario.microbatches = (1 << 24) + 1;
  scenario.lines.note("microbatches", {11});
  auto const refusal = refuse_to_run(scenario, simulation);
  ASSERT_TRUE(refusal);
  EXPECT_TRUE(is_known(refusal->id, refusal_reasons())) << refusal->id;
  EXPECT_EQ(refusal->line, 11);
}

TEST(Admission, ShortGradientsCarryFewerMicrobatches) {
  Scenario scenario = small_scenario();
  for (auto const gradients : {GradientClass::exact, GradientClass::normal}) {
    scenario.gradients = gradients;
    scenario.precision.grad = GradType::bf16;
    scenario.microbatches = 256;
    EXPECT_FALSE(refuse_to_run(scenario, simulation));
    scenario.microbatches = 257;
    EXPECT_EQ(refuse_to_run(scenario, simulation)->id, "unsupported.microbatches");
    scenario.precision.grad = GradType::fp16;
    EXPECT_FALSE(refuse_to_run(scenario, simulation));
    scenario.microbatches = 2049;
    EXPECT_EQ(refuse_to_run(scenario, simulation)->id, "unsupported.microbatches");
  }
}

TEST(Admission, MicrobatchesAreAlsoSummedInTheTypeOfAnAutograd) {
  Capabilities autograd = simulation;
  autograd.gradient_type = GradientType::param;
  Scenario scenario = small_scenario();
  scenario.microbatches = 257;
  EXPECT_FALSE(refuse_to_run(scenario, autograd));
  scenario.precision.param = ParamType::bf16;
  EXPECT_FALSE(refuse_to_run(scenario, simulation));
  EXPECT_EQ(refuse_to_run(scenario, autograd)->id, "unsupported.microbatches");
}

TEST(Admission, WhatThisMachineHasNoMemoryForIsRefusedWithAListedReason) {
  Scenario scenario = small_scenario();
  scenario.params.front().shape = {1 << 20, 1 << 20, 1 << 20};
  auto const refusal = refuse_to_run(scenario, simulation);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->id, "out_of_memory");
  EXPECT_TRUE(is_known(refusal->id, refusal_reasons()));
}

/// One small parameter on so many ranks.
Scenario wide(std::int64_t ranks) {
  Scenario scenario = small_scenario();
  scenario.world.shard = ranks;
  scenario.params = {parameter("w", {8})};
  scenario.program = {operation(Train{.count = 1})};
  return scenario;
}

constexpr double gibibyte = 1 << 30;

// Measured: 2.8 GiB unchecked at 16,384 ranks; checked, 1,024 ranks with 48 parameters and three
// backwards took 14.7.
TEST(Admission, PairsOfRanksTakeMemoryInEveryEngine) {
  EXPECT_GT(bytes_needed(wide(16'384), unchecked), 2.8 * gibibyte);
  EXPECT_LT(bytes_needed(wide(16'384), unchecked), 8 * gibibyte);
  EXPECT_GT(bytes_needed(wide(1 << 18), unchecked), 512 * gibibyte);
  EXPECT_GT(bytes_needed(wide(16'384), simulation), 64 * gibibyte);
}

TEST(Admission, AUnitIsGatheredWhole) {
  Scenario scenario = wide(2);
  scenario.params = {parameter("h.0.a", {1 << 27}), parameter("h.1.a", {1 << 27})};
  double const apart = bytes_needed(scenario, unchecked);
  scenario.params.back().name = "h.0.b";
  EXPECT_GT(bytes_needed(scenario, unchecked), apart + 2 * gibibyte);
}

TEST(Admission, PaddingOfABufferCounts) {
  Scenario scenario = wide(1);
  scenario.params = {parameter("a", {1, 46'341}), parameter("b", {1, 46'337})};
  double const rows = bytes_needed(scenario, unchecked);
  Scenario reached_by_a_load = scenario;
  scenario.layout = Layout::bucketed;  // a chunk is the product of both
  EXPECT_GT(bytes_needed(scenario, unchecked), rows + 40 * gibibyte);
  reached_by_a_load.program.push_back(operation(Load{.from = "a", .layout = Layout::bucketed}));
  EXPECT_GT(bytes_needed(reached_by_a_load, unchecked), rows + 40 * gibibyte);
}

TEST(Admission, EveryKindOfTensorCountsInItsFormat) {
  Scenario scenario = wide(1);
  scenario.params = {parameter("w", {1 << 28})};
  double const plain = bytes_needed(scenario, unchecked);
  scenario.precision.param = ParamType::bf16;
  scenario.precision.grad = GradType::bf16;
  double const shorter = bytes_needed(scenario, unchecked);
  constexpr double numel = 1 << 28;
  EXPECT_EQ(plain - shorter, 4 * (numel + 1)) << "two bytes less for weight and gradient";
  scenario.precision.main = MainType::fp32;
  EXPECT_EQ(bytes_needed(scenario, unchecked) - shorter, 4 * (numel + 1) + 4 * numel)
      << "also in the oracle";
  scenario.offload = OffloadedStates{};
  EXPECT_GT(bytes_needed(scenario, unchecked), plain + 4 * gibibyte);
}

TEST(Admission, CheckpointsAndTheWorldsOfLoadsCount) {
  Scenario scenario = wide(2);
  scenario.params = {parameter("w", {1 << 28})};
  double const without = bytes_needed(scenario, unchecked);
  scenario.program.push_back(operation(Save{"a"}));
  double const saved = bytes_needed(scenario, unchecked);
  EXPECT_GE(saved, without + 9 * gibibyte) << "three copies of weight and moments";
  scenario.program.push_back(operation(Save{"a"}));
  EXPECT_EQ(bytes_needed(scenario, unchecked), saved);
  scenario.program.push_back(operation(Load{.from = "a", .world = World{.shard = 4}}));
  EXPECT_GT(bytes_needed(scenario, unchecked), saved);
}

TEST(Admission, CheckedWorldsKeepClocksOfEveryGather) {
  Scenario scenario = wide(1024);
  scenario.params.assign(48, parameter("w", {8}));
  scenario.program = {operation(Train{.count = 3})};
  EXPECT_GT(bytes_needed(scenario, simulation), 14.7 * gibibyte);
  double const three = bytes_needed(scenario, simulation);
  scenario.program = {operation(Train{.count = 1'000'000'000})};
  EXPECT_EQ(bytes_needed(scenario, simulation), three);
}

}  // namespace
}  // namespace adamant::scenarios
