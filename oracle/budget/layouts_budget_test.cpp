// Of buffers that parameters share, and of states that are cut over replicas: all bytes are worked
// by hand.
#include <gtest/gtest.h>

#include "oracle/budget/budget.h"

namespace adamant::oracle {
namespace {

constexpr Mesh two_by_two{.shards = 2, .replicas = 2, .outer = Outer::optim};

// A unit of 20 and 12 elements, and one of 3.
std::vector<ParameterSpec> two_units() {
  return {{.name = "a", .shape = {4, 5}, .unit = 0},
          {.name = "b", .shape = {4, 3}, .unit = 0},
          {.name = "c", .shape = {3}, .unit = 1}};
}

// b at 0 and a at 16 are 36 elements, 48 for 3 shards of 16; c's are 24 of 8. Shard 1 has all of
// its 16 in a.
TEST(LayoutsBudget, FlatParametersOfAUnitShareABuffer) {
  Budget budget(LayoutKind::flat, two_units(), {.shards = 3}, 1);
  for (auto const purpose : {Purpose::parameters, Purpose::exp_avg, Purpose::exp_avg_sq})
    EXPECT_EQ(budget.device_bytes(purpose), 4 * (16 + 8));
  EXPECT_EQ(budget.device_bytes(Purpose::work_list), 56);
  EXPECT_EQ(budget.device_bytes(Purpose::step_table), 3 * 48);
  budget.backward({});
  EXPECT_EQ(budget.device_bytes(Purpose::gradients), 4 * (16 + 8));
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 4 * (48 + 24));
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 4 * 48);
  EXPECT_EQ(budget.peak_bytes(Purpose::reduction), 4 * 16);
}

// Rows of 5 and 3: C is 15, the buffer 60 for 2 shards of 30; c's is 4 of 2, in 16 bytes.
TEST(LayoutsBudget, BucketedParametersOfAUnitShareABuffer) {
  Budget budget(LayoutKind::bucketed, two_units(), {.shards = 2}, 0);
  EXPECT_EQ(budget.device_bytes(Purpose::parameters), 128 + 16);
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 128 + 16);
  budget.backward({});
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 240 + 16);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 240);
  EXPECT_EQ(budget.peak_bytes(Purpose::reduction), 128);
}

TEST(LayoutsBudget, ABufferIsReducedWholeIfAnyOfItsParametersIs) {
  Budget budget(LayoutKind::flat, two_units(), {.shards = 3}, 1);
  int const one[] = {0};
  budget.backward(one);
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 4 * 48);
  Budget other(LayoutKind::flat, two_units(), {.shards = 3}, 1);
  int const both[] = {0, 1};
  other.backward(both);
  EXPECT_EQ(other.peak_bytes(Purpose::unsharded_parameters), 4 * (48 + 24));
  EXPECT_EQ(other.peak_bytes(Purpose::unsharded_gradients), 4 * 24);
  EXPECT_EQ(other.peak_bytes(Purpose::reduction), 4 * 8);
}

// Each of the two in a buffer of its own: 24 elements of fp32 and 16 of bf16, for 1 shard.
TEST(LayoutsBudget, TypesDoNotShareABuffer) {
  auto parameters = two_units();
  parameters[1].formats = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  Budget const budget(LayoutKind::flat, parameters, {}, 0);
  EXPECT_EQ(budget.device_bytes(Purpose::parameters), 4 * 24 + 2 * 16 + 4 * 8);
  EXPECT_EQ(budget.device_bytes(Purpose::main), 4 * 16);
}

// 36 elements in 64, shards of 32 and states of 16; c in 32, 16 and 8.
TEST(LayoutsBudget, StatesOfFlatAreCutAcross) {
  for (int rank = 0; rank < 4; ++rank) {
    Budget budget(LayoutKind::flat, two_units(), two_by_two, rank);
    EXPECT_EQ(budget.device_bytes(Purpose::parameters), 4 * (32 + 16));
    EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 4 * (16 + 8));
    budget.backward({});
    EXPECT_EQ(budget.device_bytes(Purpose::gradients), 4 * (16 + 8));
    EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 4 * (64 + 32));
    EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 4 * 64);
    EXPECT_EQ(budget.peak_bytes(Purpose::reduction), 4 * (32 + 16));
  }
}

// States at 0 of b, 12 elements; at 32 of a's last 4, at 16 of its first 16; at 48 of nothing. c
// has 3 at 0.
TEST(LayoutsBudget, PiecesAreOfTheStatesOfARank) {
  int const pieces[] = {2, 1, 1, 0};
  for (int rank = 0; rank < 4; ++rank) {
    Budget const budget(LayoutKind::flat, two_units(), two_by_two, rank);
    EXPECT_EQ(budget.device_bytes(Purpose::work_list), 56 * pieces[rank]) << rank;
  }
}

// Replicas that hold the same need room for what they sum up across.
TEST(LayoutsBudget, ReplicasReduceOnceMore) {
  for (auto const kind : {LayoutKind::flat, LayoutKind::fsdp2}) {
    std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {16}}};
    Budget budget(kind, parameters, {.shards = 2, .replicas = 3}, 4);
    EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 32);
    budget.backward({});
    EXPECT_EQ(budget.peak_bytes(Purpose::reduction), 2 * 32);
    EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_gradients), 64);
  }
}

// 5 rows of 3 on 2 shards: chunks of 9. The first has 3 rows, 2 for each of 2 replicas and room for
// 4; the second 2, 1 for each and room for a chunk.
TEST(LayoutsBudget, Fsdp2HasRoomForChunksOfItsShard) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {5, 3}}};
  struct Expected {
    std::int64_t parameters;
    std::int64_t states;
  };
  Expected const by_shard[] = {{48, 32}, {48, 16}};  // 12 and 6 elements, 9 and 3
  for (int rank = 0; rank < 4; ++rank) {
    Expected const expected = by_shard[rank % 2];
    Budget budget(LayoutKind::fsdp2, parameters, two_by_two, rank);
    EXPECT_EQ(budget.device_bytes(Purpose::parameters), expected.parameters);
    EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), expected.states);
    budget.backward({});
    EXPECT_EQ(budget.device_bytes(Purpose::gradients), expected.states);
    EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 80);  // 18 elements
    EXPECT_EQ(budget.peak_bytes(Purpose::reduction), expected.parameters + expected.states);
  }
}

// A row of 8 on 2 shards of 3 replicas: only the first rank steps it, but its replicas gather 3.
TEST(LayoutsBudget, AGatherAcrossMayNeedMoreThanAShard) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {1, 8}}};
  Mesh const mesh{.shards = 2, .replicas = 3, .outer = Outer::optim};
  Budget const first(LayoutKind::fsdp2, parameters, mesh, 0);
  EXPECT_EQ(first.device_bytes(Purpose::parameters), 3 * 32);
  EXPECT_EQ(first.device_bytes(Purpose::exp_avg), 32);
  EXPECT_EQ(first.device_bytes(Purpose::work_list), 56);
  Budget const empty(LayoutKind::fsdp2, parameters, mesh, 1);
  EXPECT_EQ(empty.device_bytes(Purpose::parameters), 32);
  EXPECT_EQ(empty.device_bytes(Purpose::exp_avg), 0);
}

// 3 shards of 65,544 elements; states of 2 replicas are half of that, one block instead of two.
TEST(LayoutsBudget, ScalingGoesByStates) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {3 * 65'544}}};
  auto const bytes = [&](Outer outer) {
    Budget budget(LayoutKind::flat, parameters, {.shards = 3, .replicas = 2, .outer = outer}, 5);
    budget.use_scaling();
    return budget.device_bytes(Purpose::scaling);
  };
  EXPECT_EQ(bytes(Outer::none), 64 + 2 * 360);
  EXPECT_EQ(bytes(Outer::optim), 64 + 360);
}

// One rank has b's 12 elements at 0, a's 20 at 16, and c's 3 in a buffer of its own. Of 35, the CPU
// steps 18: the first 17 stay, 12 of b and 5 of a, 21 numbers with the padding between.
TEST(LayoutsBudget, AHybridStepCutsWhereElementsLieInTheBuffer) {
  Budget const budget(LayoutKind::flat, two_units(), {}, 0,
                      {.hybrid = HybridConfig{.fraction = 0.5}});
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 96);  // 84
  EXPECT_EQ(budget.device_bytes(Purpose::work_list), 2 * 56);
  EXPECT_EQ(budget.pinned_bytes(Purpose::gradients), 64 + 64);  // 15 and 3
  EXPECT_EQ(budget.device_bytes(Purpose::parameters), 4 * (40 + 8));
}

// The last 3 of 35 are c's: what lies before its buffer stays, 40 numbers.
TEST(LayoutsBudget, AHybridStepKeepsWholeBuffersBeforeTheCut) {
  auto parameters = two_units();
  parameters[0].formats =
      parameters[1].formats = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  Offload const offload{.hybrid = HybridConfig{.fraction = 3.0 / 35}};
  Budget const budget(LayoutKind::flat, parameters, {}, 0, offload);
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 160);
  EXPECT_EQ(budget.device_bytes(Purpose::main), 160);
  EXPECT_EQ(budget.pinned_bytes(Purpose::gradients), 64);
  Budget const nothing(LayoutKind::flat, parameters, {}, 0,
                       {.hybrid = HybridConfig{.fraction = 0.0}});
  EXPECT_EQ(nothing.device_bytes(Purpose::exp_avg), 160 + 32);
}

// Where c has a main weight and the others none, c's begins at 0.
TEST(LayoutsBudget, AStateThatTheFirstOneOnTheCpuLacksEndsWhereItsBufferBegins) {
  auto parameters = two_units();
  parameters[2].formats = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  Budget const budget(LayoutKind::flat, parameters, {}, 0,
                      {.hybrid = HybridConfig{.fraction = 0.5}});
  EXPECT_EQ(budget.device_bytes(Purpose::exp_avg), 96);
  EXPECT_EQ(budget.device_bytes(Purpose::main), 0);
}

// 36 elements in 64; rank 1 has states of a's last 4, rank 2 of its first 16, each steps half.
TEST(LayoutsBudget, AHybridStepIsOfTheStatesOfARank) {
  Offload const offload{.hybrid = HybridConfig{.fraction = 0.5}};
  Budget const last(LayoutKind::flat, two_units(), two_by_two, 1, offload);
  EXPECT_EQ(last.device_bytes(Purpose::exp_avg), 16);  // 8
  Budget const first(LayoutKind::flat, two_units(), two_by_two, 2, offload);
  EXPECT_EQ(first.device_bytes(Purpose::exp_avg), 32);
  EXPECT_EQ(first.pinned_bytes(Purpose::parameters), 64);
}

// 32 x 96: 3,072 codes, of mxfp8 96 scales, which are elsewhere where codes are not cut by one rule
// of rows: 96 magnitudes, here and of all ranks, and 96 bytes on every rank.
TEST(LayoutsBudget, ScalesOfMxfp8AreOfTheWholeWhereCodesAreCutOtherwise) {
  std::vector<ParameterSpec> const parameters = {
      {.name = "w",
       .shape = {32, 96},
       .formats = {.main = NumberFormat::fp32, .recipe = Recipe::mxfp8}}};
  for (auto const kind : {LayoutKind::flat, LayoutKind::bucketed, LayoutKind::fsdp2}) {
    Mesh const mesh = kind == LayoutKind::fsdp2 ? two_by_two : Mesh{.shards = 2};
    Budget budget(kind, parameters, mesh, 1);
    EXPECT_EQ(budget.device_bytes(Purpose::parameters), 1536);
    EXPECT_EQ(budget.device_bytes(Purpose::parameter_scales), 2 * 384 + 96);
    budget.backward({});
    EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 3072);
  }
  Budget const alike(LayoutKind::fsdp2, parameters, {.shards = 2, .replicas = 2}, 1);
  EXPECT_EQ(alike.device_bytes(Purpose::parameters), 1536 + 48);
  EXPECT_EQ(alike.device_bytes(Purpose::parameter_scales), 0);
}

// 16 x 48 and 16 x 16 codes share a buffer of 1,024 in 512 bytes; the recipe's others share none.
TEST(LayoutsBudget, CodesShareABuffer) {
  Formats const formats{.main = NumberFormat::fp32, .recipe = Recipe::nvfp4};
  std::vector<ParameterSpec> const parameters = {
      {.name = "a", .shape = {16, 48}, .formats = formats},
      {.name = "b", .shape = {16, 16}, .formats = formats},
      {.name = "c", .shape = {8}, .formats = {.main = NumberFormat::fp32}}};
  Budget budget(LayoutKind::flat, parameters, {.shards = 2}, 0);
  EXPECT_EQ(budget.device_bytes(Purpose::parameters), 256 + 32);
  EXPECT_EQ(budget.device_bytes(Purpose::main), 4 * (512 + 8));
  budget.backward({});
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters), 512 + 64);
}

// What the CPU steps part of is quantised from a copy of the rank's states: 256 of 1,024 elements.
TEST(LayoutsBudget, TheCopyOfAHybridStepIsOfStates) {
  std::vector<ParameterSpec> const parameters = {
      {.name = "w",
       .shape = {32, 32},
       .formats = {.main = NumberFormat::fp32, .recipe = Recipe::fp8_current}}};
  Budget const budget(LayoutKind::flat, parameters, two_by_two, 3,
                      {.hybrid = HybridConfig{.fraction = 0.25}});
  EXPECT_EQ(budget.device_bytes(Purpose::parameter_scales), 2 * 16 + 16 + 1024);
  EXPECT_EQ(budget.device_bytes(Purpose::main), 4 * 192);
  EXPECT_EQ(budget.pinned_bytes(Purpose::parameters), 4 * 64);
}

TEST(LayoutsBudget, ACapturableEngineKeepsTheLargestBuffers) {
  Budget const budget(LayoutKind::flat, two_units(), two_by_two, 0, {}, {.capturable = true});
  EXPECT_EQ(budget.device_bytes(Purpose::unsharded_parameters), 4 * (64 + 32));
  EXPECT_EQ(budget.device_bytes(Purpose::unsharded_gradients), 4 * 64);
  EXPECT_EQ(budget.device_bytes(Purpose::reduction), 4 * (32 + 16));
  EXPECT_EQ(budget.device_bytes(Purpose::step_table), 3 * 48 + 40 + 3 * 16);
}

}  // namespace
}  // namespace adamant::oracle
