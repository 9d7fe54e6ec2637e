#include "real/step/step_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace adamant::real {
namespace {

// Values of 1 - fl32(0.999)^t, rounded once to binary32; a binary32 power differs at t = 2.
// Source: domain sheet 1.4.
TEST(StepScalars, BiasCorrectionsUseTheBinaryBetaInDoublePrecision) {
  AdamConfig const config;
  EXPECT_EQ(step_scalars(config, 1, true).correction2, 0.000999987125F);
  EXPECT_EQ(step_scalars(config, 2, true).correction2, 0.00199897424F);
  EXPECT_EQ(step_scalars(config, 3, true).correction2, 0.00299696252F);
}

TEST(StepScalars, CorrectionsEndAtOne) {
  AdamConfig const config;
  EXPECT_LT(step_scalars(config, 164, true).correction1, 1.0F);
  EXPECT_EQ(step_scalars(config, 165, true).correction1, 1.0F);
  EXPECT_EQ(step_scalars(config, 17'321, true).correction2, 1.0F);
}

TEST(StepScalars, ComplementsAreSubtractedInBinaryThirtyTwo) {
  AdamConfig const config;
  EXPECT_EQ(step_scalars(config, 1, true).one_minus_beta2, 1.0F - 0.999F);
  EXPECT_NE(step_scalars(config, 1, true).one_minus_beta2, 0.001F);
}

TEST(StepScalars, WithoutBiasCorrectionTheDivisorsAreOne) {
  StepScalars const row = step_scalars({.bias_correction = false}, 1, true);
  EXPECT_EQ(row.correction1, 1.0F);
  EXPECT_EQ(row.correction2, 1.0F);
}

TEST(StepScalars, ModeAndFlagReachTheKernel) {
  EXPECT_EQ(step_scalars({.mode = AdamMode::adamw}, 1, true).decoupled, 1);
  EXPECT_EQ(step_scalars({.mode = AdamMode::adam}, 1, true).decoupled, 0);
  EXPECT_EQ(step_scalars({}, 1, true).apply, 1);
  EXPECT_EQ(step_scalars({}, 0, false).apply, 0);
}

// Parameter 0 in group 0, parameters 1 and 2 in group 1.
struct Counting {
  std::vector<ParameterSpec> specs = {{.name = "a", .shape = {4}, .group = 0},
                                      {.name = "b", .shape = {1}, .group = 1},
                                      {.name = "c", .shape = {1}, .group = 1}};
};

ParameterSet those(std::initializer_list<int> parameters) {
  ParameterSet set(3);
  for (int const p : parameters) set.add(p);
  return set;
}

TEST(StepCounters, AGroupCounterAdvancesWithEveryStep) {
  Counting const world;
  StepCounters counters(world.specs, 2, StepCounter::group);
  counters.advance(those({0, 2}));
  counters.advance(those({}));
  EXPECT_EQ(counters.of(0), 2);
  EXPECT_EQ(counters.of(1), 2);
  EXPECT_EQ(counters.of(2), 2);
}

TEST(StepCounters, AParameterCounterAdvancesOnlyWithAGradient) {
  Counting const world;
  StepCounters counters(world.specs, 2, StepCounter::parameter);
  counters.advance(those({0, 2}));
  counters.advance(those({0}));
  EXPECT_EQ(counters.of(0), 2);
  EXPECT_EQ(counters.of(1), 0);
  EXPECT_EQ(counters.of(2), 1);
}

// More sets than are kept apart, in turns, and asked for in between.
TEST(StepCounters, CountEachStepOnceHoweverManySetsTakeTurns) {
  std::vector<ParameterSpec> specs;
  for (int p = 0; p < 70; ++p) specs.push_back({.name = std::to_string(p), .shape = {1}});
  StepCounters counters(specs, 1, StepCounter::parameter);
  std::vector<std::int64_t> expected(specs.size());
  for (int step = 0; step < 200; ++step) {
    ParameterSet set(specs.size());
    for (int p = step % 13; p < 70; p += 1 + step % 13) {
      set.add(p);
      ++expected[static_cast<std::size_t>(p)];
    }
    counters.advance(set);
    for (int p = 0; p < 70 && step % 7 == 0; ++p)
      ASSERT_EQ(counters.of(p), expected[static_cast<std::size_t>(p)]) << step << " " << p;
  }
  for (int p = 0; p < 70; ++p)
    EXPECT_EQ(counters.of_parameter_alone(p), expected[static_cast<std::size_t>(p)]);
  EXPECT_EQ(counters.of_group(0), 200);
}

TEST(StepCounters, GoOnFromWhatIsRestored) {
  Counting const world;
  StepCounters counters(world.specs, 2, StepCounter::parameter);
  counters.advance(those({0, 1, 2}));
  counters.restore({7, 8}, {4, 5, 6});
  EXPECT_EQ(counters.of(1), 5);
  counters.advance(those({1}));
  EXPECT_EQ(counters.of(0), 4);
  EXPECT_EQ(counters.of(1), 6);
  EXPECT_EQ(counters.of_group(1), 9);
}

}  // namespace
}  // namespace adamant::real
