#include "oracle/budget/budget.h"

#include <gtest/gtest.h>

namespace adamant::oracle {
namespace {

// On 4 ranks: w has chunks of 3 rows, 9 elements stored as 12 (48 bytes), whole 4*3*3*4 = 144
// bytes; b has chunks of 2, stored as 4 (16 bytes), whole 32 bytes; h has chunks of 1 row of 2,
// stored as 4 (16 bytes), whole 32 bytes.
std::vector<ParameterSpec> three_parameters() {
  return {{.name = "w", .shape = {10, 3}, .unit = 0},
          {.name = "b", .shape = {5}, .unit = 0},
          {.name = "h", .shape = {3, 2}, .unit = 1}};
}

/// A rank of so many shards, in fsdp2.
struct Place {
  int rank = 0;
  int shards = 1;
};

Budget budget_of(std::vector<ParameterSpec> const& parameters, Place place,
                 Offload const& offload = {}, Residence residence = {}) {
  return {LayoutKind::fsdp2, parameters, {.shards = place.shards}, place.rank, offload, residence};
}

TEST(Budget, ConstructionAllocatesShardsMomentsAndTables) {
  auto const budget = budget_of(three_parameters(), {0, 4});
  for (auto const purpose : {Purpose::parameters, Purpose::exp_avg, Purpose::exp_avg_sq}) {
    EXPECT_EQ(budget.device_bytes(purpose), 48 + 16 + 16);
    EXPECT_EQ(budget.peak_bytes(purpose), 48 + 16 + 16);
    EXPECT_EQ(budget.pinned_bytes(purpose), 0);
  }
  EXPECT_EQ(budget.device_bytes(Purpose::step_table), 3 * 48);
  EXPECT_EQ(budget.pinned_bytes(Purpose::step_table), 3 * 48);
  EXPECT_EQ(budget.peak_bytes(Purpose::step_table), 2 * 3 * 48);
  EXPECT_EQ(budget.device_bytes(Purpose::gradients), 0);
}

// A state of 64 bytes, and for each block of 65,536 elements of a shard 22 words and a flag, of
// this rank and of all; and a copy of the state on the host.
TEST(Budget, ScalingTakesBlocksByTheSizeOfAShardOnceItIsUsed) {
  auto small = budget_of(three_parameters(), {3, 4});
  EXPECT_EQ(small.device_bytes(Purpose::scaling), 0);
  small.use_scaling();
  small.use_scaling();
  EXPECT_EQ(small.device_bytes(Purpose::scaling), 64 + 2 * (22 * 8 + 4));
  EXPECT_EQ(small.pinned_bytes(Purpose::scaling), 64);
  EXPECT_EQ(small.peak_bytes(Purpose::scaling), 64 + 2 * (22 * 8 + 4) + 64);
  auto large = budget_of({{.name = "w", .shape = {3, 65536}}}, {0, 2});
  large.use_scaling();
  EXPECT_EQ(large.device_bytes(Purpose::scaling), 64 + 2 * 2 * (22 * 8 + 4));
}

TEST(Budget, EveryRankStoresTheSamePaddedShards) {
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(budget_of(three_parameters(), {rank, 4}).device_bytes(Purpose::parameters), 80);
}

// Rank 3 owns a row of w and nothing of b or h.
TEST(Budget, WorkListHasPiecesForOwnElementsOnly) {
  EXPECT_EQ(budget_of(three_parameters(), {0, 4}).device_bytes(Purpose::work_list), 3 * 56);
  EXPECT_EQ(budget_of(three_parameters(), {3, 4}).device_bytes(Purpose::work_list), 1 * 56);
}

TEST(Budget, PiecesHoldAtMost65536Elements) {
  auto const pieces = [](std::int64_t numel) {
    return budget_of({{.name = "w", .shape = {numel}}}, {0, 1}).device_bytes(Purpose::work_list) /
           56;
  };
  EXPECT_EQ(pieces(0), 0);
  EXPECT_EQ(pieces(1), 1);
  EXPECT_EQ(pieces(65536), 1);
  EXPECT_EQ(pieces(65537), 2);
  EXPECT_EQ(pieces(200'000), 4);
}

// 65,537 rows on 2 ranks: 32,769 elements stored as 32,772, but a piece covers no padding; and 3
// ranks' last shard of 131,074 rows ends inside its second piece on no rank.
TEST(Budget, PaddingMakesNoPiece) {
  auto const bytes = [](std::int64_t rows, Place place) {
    return budget_of({{.name = "w", .shape = {rows}}}, place).device_bytes(Purpose::work_list);
  };
  EXPECT_EQ(bytes(131'069, {0, 2}), 56);  // 65,535 elements, stored as 65,536
  EXPECT_EQ(bytes(131'072, {1, 2}), 56);
  EXPECT_EQ(bytes(131'073, {0, 2}), 2 * 56);
  EXPECT_EQ(bytes(131'073, {1, 2}), 56);
}

TEST(Budget, GradientsLiveFromTheFirstBackwardToZeroGrad) {
  auto budget = budget_of(three_parameters(), {1, 4});
  budget.backward({});
  EXPECT_EQ(budget.device_bytes(Purpose::gradients), 80);
  budget.zero_grad(false);
  EXPECT_EQ(budget.device_bytes(Purpose::gradients), 80);
  budget.zero_grad(true);
  EXPECT_EQ(budget.device_bytes(Purpose::gradients), 0);
  EXPECT_EQ(budget.peak_bytes(Purpose::gradients), 80);
}

TEST(Budget, ZeroGradientsNeedTheBufferToo) {
  auto budget = budget_of(three_parameters(), {1, 4});
  budget.zero_grad(false);
  EXPECT_EQ(budget.device_bytes(Purpose::gradients), 80);
}

TEST(Budget, ABackwardWithoutAnyParameterMakesNoGradients) {
  auto budget = budget_of(three_parameters(), {1, 4});
  int const all[] = {0, 1, 2};
  budget.backward(all);
  EXPECT_EQ(budget.device_bytes(Purpose::gradients), 0);
  EXPECT_EQ(budget.peak_bytes(Purpose::gradients), 0);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 0);
}

TEST(Budget, BackwardHoldsTwoUnitsOfParametersAndOneOfGradients) {
  auto budget = budget_of(three_parameters(), {0, 4});
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 0);
  budget.backward({});
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 144 + 32 + 32);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 144 + 32);
  EXPECT_EQ(budget.peak_bytes(Purpose::reduction), 48 + 16);
  for (auto const purpose :
       {Purpose::unsharded_parameters, Purpose::unsharded_gradients, Purpose::reduction})
    EXPECT_EQ(budget.device_bytes(purpose), 0) << name_of(purpose);
}

TEST(Budget, ParametersWithoutGradientAreGatheredButNotReduced) {
  auto budget = budget_of(three_parameters(), {0, 4});
  int const without[] = {0};
  budget.backward(without);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 144 + 32 + 32);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 32);
  EXPECT_EQ(budget.peak_bytes(Purpose::reduction), 16);
}

TEST(Budget, PeaksAreThoseOfTheWholeHistory) {
  auto budget = budget_of(three_parameters(), {0, 4});
  int const without[] = {0};
  budget.backward({});
  budget.backward(without);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 144 + 32);
}

// Units of 16, 64, 48 and 16 bytes on one rank: the second and third are the largest pair.
TEST(Budget, OnlyNeighbouringUnitsMeet) {
  auto budget = budget_of({{.name = "a", .shape = {4}, .unit = 0},
                           {.name = "b", .shape = {16}, .unit = 1},
                           {.name = "c", .shape = {12}, .unit = 2},
                           {.name = "d", .shape = {4}, .unit = 3}},
                          {0, 1});
  budget.backward({});
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 64 + 48);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 64);
}

TEST(Budget, ASingleUnitStandsAlone) {
  auto budget = budget_of({{.name = "a", .shape = {4}}}, {0, 1});
  budget.backward({});
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 16);
}

// 5 elements on 3 ranks: chunks of 2, gathered 6 elements or 24 bytes, on 32 to keep 16-byte
// starts.
TEST(Budget, GatheredParametersStartOn16Bytes) {
  auto budget = budget_of({{.name = "a", .shape = {5}}}, {0, 3});
  budget.backward({});
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 32);
}

// 12 elements on 2 ranks: 6 a rank, 24 bytes of fp32 on 32, 12 bytes of 16 bits on 16; whole 48 or
// 24 on 32.
TEST(Budget, EachKindCountsInItsOwnFormat) {
  ParameterSpec first{.name = "w", .shape = {12}, .unit = 0};
  first.formats = {.parameter = NumberFormat::bf16,
                   .gradient = NumberFormat::fp16,
                   .exp_avg = NumberFormat::bf16,
                   .main = NumberFormat::fp32};
  ParameterSpec const second{.name = "b", .shape = {12}, .unit = 0};
  auto budget = budget_of({first, second}, {0, 2});
  budget.backward({});
  EXPECT_EQ(budget.device_bytes(Purpose::parameters), 16 + 32);
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 16 + 32);
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg_sq), 32 + 32);
  EXPECT_EQ(budget.device_bytes(Purpose::main), 32);  // one, of the first alone
  EXPECT_EQ(budget.device_bytes(Purpose::gradients), 16 + 32);
  EXPECT_EQ(budget.device_bytes(Purpose::cast_gradients), 0);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 32 + 48);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 32 + 48);
  EXPECT_EQ(budget.peak_bytes(Purpose::reduction), 16 + 32);
}

// 12 elements on 2 ranks: 6 a rank, 12 bytes of 16 bits or 6 of 8 on 16.
TEST(Budget, ScalesOfAllParametersComeWithTheFirstScaledState) {
  ParameterSpec first{.name = "w", .shape = {12}, .unit = 0};
  first.formats = {.parameter = NumberFormat::bf16,
                   .exp_avg = NumberFormat::fp8,
                   .exp_avg_sq = NumberFormat::fp16,
                   .main = NumberFormat::remainder};
  ParameterSpec second{.name = "b", .shape = {12}, .unit = 0};
  second.formats = {.main = NumberFormat::fp16};
  auto const budget = budget_of({first, second}, {0, 2});
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 16 + 32);
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg_sq), 16 + 32);
  EXPECT_EQ(budget.device_bytes(Purpose::main), 16 + 16);
  EXPECT_EQ(budget.device_bytes(Purpose::state_scales), 2 * 48);
  EXPECT_EQ(budget.pinned_bytes(Purpose::state_scales), 0);
  EXPECT_EQ(budget.peak_bytes(Purpose::state_scales), 2 * 48);
  ParameterSpec const plain{.name = "b", .shape = {12}, .formats = {.exp_avg = NumberFormat::bf16}};
  EXPECT_EQ(budget_of({plain}, {0, 2}).device_bytes(Purpose::state_scales), 0);
  first.formats = {.parameter = NumberFormat::bf16, .main = NumberFormat::remainder};
  EXPECT_EQ(budget_of({first}, {0, 2}).device_bytes(Purpose::state_scales), 0);
}

// Rank 0 of 4 owns 9, 2 and 2 elements; 6 of the first stay on the device, in 6 and 12 bytes.
TEST(Budget, AHybridStepPinsWhatMeetsOfTheScales) {
  auto parameters = three_parameters();
  for (auto& parameter : parameters)
    parameter.formats = {.parameter = NumberFormat::bf16,
                         .exp_avg = NumberFormat::fp8,
                         .exp_avg_sq = NumberFormat::fp8,
                         .main = NumberFormat::remainder};
  auto const budget = budget_of(parameters, {0, 4}, {.hybrid = HybridConfig{.fraction = 0.5}});
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 16);
  EXPECT_EQ(budget.device_bytes(Purpose::main), 16);
  EXPECT_EQ(budget.device_bytes(Purpose::state_scales), 3 * 48);
  EXPECT_EQ(budget.pinned_bytes(Purpose::state_scales), 3 * 36);
  EXPECT_EQ(budget.peak_bytes(Purpose::state_scales), 3 * 84);
}

// Scales stay: they are few, and a world without them could not read what comes back.
TEST(Budget, ScalesStayOnTheDeviceWhereStatesLeave) {
  auto parameters = three_parameters();
  for (auto& parameter : parameters) parameter.formats = {.exp_avg_sq = NumberFormat::fp16};
  auto const budget = budget_of(parameters, {0, 4}, {.states = StateOffloadConfig{}});
  EXPECT_EQ(budget.device_bytes(Purpose::state_scales), 3 * 48);
  EXPECT_EQ(budget.pinned_bytes(Purpose::state_scales), 0);
  EXPECT_EQ(budget.pinned_bytes(Purpose::exp_avg_sq), 32 + 16 + 16);
}

TEST(Budget, CastCopiesLiveAndDieWithTheGradients) {
  ParameterSpec first{.name = "w", .shape = {12}, .unit = 0};
  first.formats = {.parameter = NumberFormat::bf16, .decoupled_gradient = false};
  ParameterSpec second{.name = "b", .shape = {12}, .unit = 0};
  second.formats = {.decoupled_gradient = false};  // of one format: a view
  auto budget = budget_of({first, second}, {0, 2});
  EXPECT_EQ(budget.device_bytes(Purpose::cast_gradients), 0);
  budget.backward({});
  EXPECT_EQ(budget.device_bytes(Purpose::gradients), 64);
  EXPECT_EQ(budget.device_bytes(Purpose::cast_gradients), 16);
  budget.zero_grad(false);
  EXPECT_EQ(budget.device_bytes(Purpose::cast_gradients), 16);
  budget.zero_grad(true);
  EXPECT_EQ(budget.device_bytes(Purpose::cast_gradients), 0);
  EXPECT_EQ(budget.peak_bytes(Purpose::cast_gradients), 16);
}

TEST(Budget, EmptyParametersCostTheirTableEntriesOnly) {
  auto budget = budget_of({{.name = "a", .shape = {0, 3}}}, {0, 2});
  budget.backward({});
  budget.zero_grad(false);
  for (int i = 0; i < purpose_count; ++i) {
    auto const purpose = static_cast<Purpose>(i);
    EXPECT_EQ(budget.peak_bytes(purpose), purpose == Purpose::step_table ? 96 : 0)
        << name_of(purpose);
  }
}

TEST(Budget, StatesThatLeaveArePinnedAndOnTheDeviceOnlyDuringAStep) {
  auto budget =
      budget_of(three_parameters(), {0, 4}, {.states = StateOffloadConfig{.main = false}});
  auto const expect = [&](std::int64_t device, std::int64_t peak) {
    for (auto const purpose : {Purpose::exp_avg, Purpose::exp_avg_sq}) {
      EXPECT_EQ(budget.device_bytes(purpose), device);
      EXPECT_EQ(budget.pinned_bytes(purpose), 80);
      EXPECT_EQ(budget.peak_bytes(purpose), peak);
    }
  };
  expect(0, 80);
  budget.step();
  expect(0, 160);
  budget.reload();
  expect(80, 160);
  budget.offload();
  expect(0, 160);
  EXPECT_EQ(budget.device_bytes(Purpose::parameters), 80);
}

TEST(Budget, AnExplicitOffloadLastsUntilTheNextStepAndKeepsItsPinnedMemory) {
  auto budget = budget_of(three_parameters(), {0, 4});
  budget.offload();
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 0);
  EXPECT_EQ(budget.pinned_bytes(Purpose::exp_avg), 80);
  budget.step();
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 80);
  EXPECT_EQ(budget.pinned_bytes(Purpose::exp_avg), 80);
  EXPECT_EQ(budget.peak_bytes(Purpose::exp_avg), 160);
}

// Rank 0 of 4 owns 9, 2 and 2 elements. Of 13, the CPU steps the last 7: 3 of w, b and h; w keeps 6
// elements, 24 bytes, on the device.
TEST(Budget, AHybridStepKeepsStatesUpToTheCut) {
  auto const budget =
      budget_of(three_parameters(), {0, 4}, {.hybrid = HybridConfig{.fraction = 0.5}});
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 32);
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg_sq), 32);
  EXPECT_EQ(budget.device_bytes(Purpose::parameters), 80);
  EXPECT_EQ(budget.pinned_bytes(Purpose::gradients), 3 * 64);
  EXPECT_EQ(budget.pinned_bytes(Purpose::parameters), 3 * 64);
  EXPECT_EQ(budget.pinned_bytes(Purpose::exp_avg), 0);
  EXPECT_EQ(budget.device_bytes(Purpose::work_list), 56);
}

TEST(Budget, AHybridStepPinsOnlyWhatItIsAskedTo) {
  auto const parameters = three_parameters();
  HybridConfig config{.fraction = 1.0, .pin_gradients = false};
  auto const weights = budget_of(parameters, {0, 4}, {.hybrid = config});
  EXPECT_EQ(weights.pinned_bytes(Purpose::gradients), 0);
  EXPECT_EQ(weights.pinned_bytes(Purpose::parameters), 3 * 64);
  EXPECT_EQ(weights.device_bytes(Purpose::exp_avg), 0);
  config = {.fraction = 0.0};
  auto const nothing = budget_of(parameters, {0, 4}, {.hybrid = config});
  EXPECT_EQ(nothing.pinned_bytes(Purpose::gradients), 0);
  EXPECT_EQ(nothing.device_bytes(Purpose::exp_avg), 80);
}

// What a graph may hold never goes: the whole of unit 0 (144 + 32) and of unit 1 (32) at once, the
// gradients of the larger one, its sums (48 + 16), and all reduced gradients.
TEST(Budget, ACapturableEngineKeepsWhatAnotherGivesBack) {
  auto budget = budget_of(three_parameters(), {0, 4}, {}, {.capturable = true, .group_count = 2});
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(budget.device_bytes(Purpose::unsharded_parameters), 176 + 32);
    EXPECT_EQ(budget.device_bytes(Purpose::unsharded_gradients), 176);
    EXPECT_EQ(budget.device_bytes(Purpose::reduction), 64);
    EXPECT_EQ(budget.device_bytes(Purpose::gradients), 80);
    EXPECT_EQ(budget.device_bytes(Purpose::step_table), 3 * 48 + 2 * 40 + 3 * 16);
    EXPECT_EQ(budget.pinned_bytes(Purpose::step_table), 2 * 32);
    EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 176 + 32);
    budget.backward({});
    budget.zero_grad(true);
  }
}

TEST(Budget, AKeptCastCopyIsThereFromTheBeginning) {
  std::vector<ParameterSpec> const parameters = {{.name = "w",
                                                  .shape = {4},
                                                  .formats = {.parameter = NumberFormat::bf16,
                                                              .gradient = NumberFormat::bf16,
                                                              .main = NumberFormat::fp32,
                                                              .decoupled_gradient = false}}};
  auto kept = budget_of(parameters, {0, 1}, {}, {.keep_cast_grad = true});
  auto passing = budget_of(parameters, {0, 1});
  EXPECT_EQ(kept.device_bytes(Purpose::cast_gradients), 16);
  EXPECT_EQ(passing.device_bytes(Purpose::cast_gradients), 0);
  kept.zero_grad(true);
  EXPECT_EQ(kept.device_bytes(Purpose::cast_gradients), 16);
  EXPECT_EQ(kept.device_bytes(Purpose::gradients), 0);
}

}  // namespace
}  // namespace adamant::oracle
