#include "oracle/scale/loss_scaler.h"

#include <gtest/gtest.h>

#include <vector>

#include "oracle/golden/torch_adam.h"

namespace adamant::oracle {
namespace {

constexpr LossScale dynamic = {.kind = LossScale::Kind::dynamic};

LossScale fixed_at(float value) {
  return {.kind = LossScale::Kind::fixed, .value = value};
}

/// The scale after each of these steps; true is an overflow.
std::vector<float> scales(std::vector<bool> const& steps) {
  LossScaler scaler(dynamic);
  std::vector<float> seen;
  for (bool const overflowed : steps) {
    scaler.after_step(overflowed);
    seen.push_back(scaler.scale());
  }
  return seen;
}

void take_good_steps(LossScaler& scaler, int count) {
  for (int i = 0; i < count; ++i) scaler.after_step(false);
}

TEST(LossScaler, WithoutAScaleMultipliesByOneAndLooksForNothing) {
  LossScaler scaler;
  EXPECT_FALSE(scaler.looks());
  EXPECT_EQ(scaler.scale(), 1.0F);
  EXPECT_EQ(scaler.inverse(), 1.0F);
}

TEST(LossScaler, AFixedOneNeverMoves) {
  LossScaler scaler(fixed_at(3.0F));
  for (int i = 0; i < 5; ++i) scaler.after_step(true);
  take_good_steps(scaler, 3000);
  EXPECT_TRUE(scaler.looks());
  EXPECT_EQ(scaler.scale(), 3.0F);
  EXPECT_EQ(scaler.inverse(), 0x1.555556p-2F);  // a third, rounded once
}

TEST(LossScaler, BacksOffOnlyOnceItsHysteresisIsUsedUp) {
  EXPECT_EQ(scales({true}), (std::vector{0x1p32F}));
  EXPECT_EQ(scales({true, true, true}), (std::vector{0x1p32F, 0x1p31F, 0x1p30F}));
}

TEST(LossScaler, GoodStepsDoNotRefillTheHysteresis) {
  EXPECT_EQ(scales({true, false, false, true, false, true}),
            (std::vector{0x1p32F, 0x1p32F, 0x1p32F, 0x1p31F, 0x1p31F, 0x1p30F}));
}

TEST(LossScaler, GrowsAfterAThousandGoodStepsInARowAndThenToleratesOneOverflowAgain) {
  LossScaler scaler(dynamic);
  take_good_steps(scaler, 999);
  EXPECT_EQ(scaler.scale(), 0x1p32F);
  scaler.after_step(true);
  take_good_steps(scaler, 999);
  EXPECT_EQ(scaler.scale(), 0x1p32F);
  take_good_steps(scaler, 1);
  EXPECT_EQ(scaler.scale(), 0x1p33F);
  scaler.after_step(true);
  EXPECT_EQ(scaler.scale(), 0x1p33F);
  scaler.after_step(true);
  EXPECT_EQ(scaler.scale(), 0x1p32F);
}

TEST(LossScaler, StaysBetweenOneAndTheLargestPowerOfTwo) {
  LossScaler scaler(dynamic);
  for (int i = 0; i < 40; ++i) scaler.after_step(true);
  EXPECT_EQ(scaler.scale(), 1.0F);
  take_good_steps(scaler, 127'000);
  EXPECT_EQ(scaler.scale(), 0x1p127F);
  take_good_steps(scaler, 1000);
  EXPECT_EQ(scaler.scale(), 0x1p127F);
}

TEST(LossScaler, DividesInBinary64) {
  // 1 / 49 rounded to binary64 and then to binary32; and a scale whose inverse is subnormal.
  EXPECT_EQ(LossScaler(fixed_at(49.0F)).inverse(), static_cast<float>(1.0 / 49.0));
  EXPECT_EQ(LossScaler(fixed_at(0x1p127F)).inverse(), 0x1p-127F);
}

TEST(LossScaler, MovesAsGradScalerUnderItsRules) {
  LossScaler scaler(dynamic, torch_scaler);
  EXPECT_EQ(scaler.scale(), 0x1p16F);
  for (auto const& row : torch_golden::scales) {
    for (int i = 0; i < row.count; ++i) scaler.after_step(row.overflowed);
    EXPECT_EQ(scaler.scale(), row.scale);
  }
  for (int i = 0; i < 60; ++i) scaler.after_step(true);
  EXPECT_LT(scaler.scale(), 1.0F);  // it has no lower end
}

}  // namespace
}  // namespace adamant::oracle
