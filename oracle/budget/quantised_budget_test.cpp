// Of quantised parameters: all bytes are worked by hand.
#include <gtest/gtest.h>

#include "oracle/budget/budget.h"

namespace adamant::oracle {
namespace {

ParameterSpec quantised(std::string name, std::vector<std::int64_t> shape, Recipe recipe) {
  return {.name = std::move(name),
          .shape = std::move(shape),
          .formats = {.main = NumberFormat::fp32, .recipe = recipe}};
}

std::int64_t device_bytes(ParameterSpec const& parameter, int world_size, Purpose purpose) {
  return Budget(LayoutKind::fsdp2, std::vector{parameter}, {.shards = world_size}, 0)
      .device_bytes(purpose);
}

std::int64_t gathered_bytes(ParameterSpec const& parameter, int world_size) {
  Budget budget(LayoutKind::fsdp2, std::vector{parameter}, {.shards = world_size}, 0);
  budget.backward({});
  return budget.peak_bytes(Purpose::unsharded_parameters);
}

// 2 of 3 rows of 5 are 10 codes; whole 20 on 32.
TEST(QuantisedBudget, CodesOfEightBitsTakeAByteEach) {
  for (Recipe const recipe : {Recipe::fp8_delayed, Recipe::fp8_current}) {
    auto const parameter = quantised("w", {3, 5}, recipe);
    EXPECT_EQ(device_bytes(parameter, 2, Purpose::parameters), 16);
    EXPECT_EQ(gathered_bytes(parameter, 2), 32);
    EXPECT_EQ(device_bytes(parameter, 2, Purpose::main), 48);
    EXPECT_EQ(device_bytes(parameter, 2, Purpose::exp_avg), 48);
  }
  auto const blocks = quantised("w", {256, 128}, Recipe::fp8_block);
  EXPECT_EQ(device_bytes(blocks, 2, Purpose::parameters), 128 * 128);
  EXPECT_EQ(gathered_bytes(blocks, 2), 256 * 128);
}

// 11 of 32 rows of 96: 1,056 codes and 33 scales on 48; whole 3,168 and 99 on 112.
TEST(QuantisedBudget, ScalesOfMxfp8LieBesideTheCodes) {
  auto const parameter = quantised("w", {32, 96}, Recipe::mxfp8);
  EXPECT_EQ(device_bytes(parameter, 3, Purpose::parameters), 1056 + 48);
  EXPECT_EQ(gathered_bytes(parameter, 3), 3168 + 112);
  EXPECT_EQ(device_bytes(parameter, 3, Purpose::parameter_scales), 0);
}

// 6 of 16 rows of 16 are 96 codes in 48 bytes; whole 288 in 144.
TEST(QuantisedBudget, CodesOfFourBitsShareBytes) {
  auto const parameter = quantised("w", {16, 16}, Recipe::nvfp4);
  EXPECT_EQ(device_bytes(parameter, 3, Purpose::parameters), 48);
  EXPECT_EQ(gathered_bytes(parameter, 3), 144);
}

TEST(QuantisedBudget, ScalesOfWholeTensorsAreTheSameInEveryWorld) {
  for (int const world_size : {1, 2, 5}) {
    auto const scales = [&](std::vector<std::int64_t> shape, Recipe recipe) {
      return device_bytes(quantised("w", std::move(shape), recipe), world_size,
                          Purpose::parameter_scales);
    };
    // A magnitude, here and of all ranks, and a scale; once more the next one and 16 magnitudes.
    EXPECT_EQ(scales({3, 5}, Recipe::fp8_current), 2 * 16 + 16);
    EXPECT_EQ(scales({3, 5}, Recipe::fp8_delayed), 2 * 16 + 16 + 80);
    // 6 blocks: 24 bytes on 32.
    EXPECT_EQ(scales({256, 384}, Recipe::fp8_block), 2 * 32 + 32);
    // 20 blocks and the tensor: 84 bytes on 96; the tensor's magnitude, 20 codes on 32.
    EXPECT_EQ(scales({64, 80}, Recipe::nvfp4), 2 * 96 + 16 + 32);
  }
}

// 1 + 1 + 2 + 0 + 4 magnitudes are 32 bytes.
TEST(QuantisedBudget, MagnitudesOfAllParametersTravelTogether) {
  std::vector const parameters = {
      quantised("a", {3, 5}, Recipe::fp8_delayed),   quantised("b", {4, 4}, Recipe::fp8_current),
      quantised("c", {256, 128}, Recipe::fp8_block), quantised("d", {32, 96}, Recipe::mxfp8),
      quantised("e", {48, 16}, Recipe::nvfp4),       ParameterSpec{.name = "f", .shape = {7}}};
  Budget budget(LayoutKind::fsdp2, parameters, {.shards = 2}, 1);
  EXPECT_EQ(budget.device_bytes(Purpose::parameter_scales),
            2 * 32 + (16 + 80) + 16 + 16 + (16 + 16));
  EXPECT_EQ(budget.pinned_bytes(Purpose::parameter_scales), 0);
  EXPECT_EQ(budget.device_bytes(Purpose::parameters), 16 + 16 + 16384 + (1536 + 48) + 192 + 16);
  budget.backward({});
  EXPECT_EQ(budget.peak_bytes(Purpose::unsharded_parameters),
            32 + 16 + 32768 + (3072 + 96) + 384 + 32);
  EXPECT_EQ(budget.device_bytes(Purpose::state_scales), 0);
}

// Of 16 and 1,024 elements the CPU steps half, the last 520: 2,080 bytes of fp32 on 2,112. What it
// steps part of is quantised from a copy of all 1,024.
TEST(QuantisedBudget, AHybridStepSendsWeightsInFp32) {
  std::vector const parameters = {quantised("a", {4, 4}, Recipe::fp8_current),
                                  quantised("b", {32, 32}, Recipe::mxfp8)};
  Budget const half(LayoutKind::fsdp2, parameters, {.shards = 1}, 0,
                    {.hybrid = HybridConfig{.fraction = 0.5}});
  EXPECT_EQ(half.device_bytes(Purpose::parameter_scales), 2 * 16 + 16 + 4096);
  EXPECT_EQ(half.pinned_bytes(Purpose::parameters), 2112);
  EXPECT_EQ(half.peak_bytes(Purpose::parameters), 2112 + 16 + 1024 + 32);
  Budget const all(LayoutKind::fsdp2, parameters, {.shards = 1}, 0,
                   {.hybrid = HybridConfig{.fraction = 1.0, .pin_parameters = false}});
  EXPECT_EQ(all.device_bytes(Purpose::parameter_scales), 2 * 16 + 16 + 64 + 4096);
  EXPECT_EQ(all.pinned_bytes(Purpose::parameters), 0);
  Budget const none(LayoutKind::fsdp2, parameters, {.shards = 1}, 0,
                    {.hybrid = HybridConfig{.fraction = 0.0}});
  EXPECT_EQ(none.device_bytes(Purpose::parameter_scales), 2 * 16 + 16);
}

// Rank 1 of 2 owns the last of 3 rows: 5 elements, 20 bytes on 32.
TEST(QuantisedBudget, TheCopyOfAHybridStepIsOfOwnElements) {
  std::vector const parameters = {quantised("a", {3, 5}, Recipe::fp8_current)};
  Budget const budget(LayoutKind::fsdp2, parameters, {.shards = 2}, 1,
                      {.hybrid = HybridConfig{.fraction = 1.0}});
  EXPECT_EQ(budget.device_bytes(Purpose::parameter_scales), 2 * 16 + 16 + 32);
}

TEST(QuantisedBudget, ACapturableEngineKeepsTheCodesThatItGathers) {
  std::vector const parameters = {quantised("a", {32, 96}, Recipe::mxfp8)};
  Budget const budget(LayoutKind::fsdp2, parameters, {.shards = 3}, 0, {}, {.capturable = true});
  EXPECT_EQ(budget.device_bytes(Purpose::unsharded_parameters), 3168 + 112);
}

}  // namespace
}  // namespace adamant::oracle
