#include "oracle/adam/bias_corrections.h"

#include <gtest/gtest.h>

namespace adamant::oracle {
namespace {

TEST(BiasCorrections, SecondCorrectionHasTheKnownFirstValues) {
  AdamConfig const config;
  EXPECT_EQ(bias_corrections(config, 1).c2, 0.000999987125F);
  EXPECT_EQ(bias_corrections(config, 2).c2, 0.00199897424F);
  EXPECT_EQ(bias_corrections(config, 3).c2, 0.00299696252F);
}

TEST(BiasCorrections, PowersAreNotTakenInBinary32) {
  EXPECT_NE(bias_corrections({}, 2).c2, 0.00199896097F);
}

// 0.5^t and 1 - 0.5^t are exact.
TEST(BiasCorrections, HalvesGiveTheNumbersOnPaper) {
  AdamConfig const config{.beta1 = 0.5F, .beta2 = 0.75F};
  EXPECT_EQ(bias_corrections(config, 1), (BiasCorrections{0.5F, 0.25F}));
  EXPECT_EQ(bias_corrections(config, 2), (BiasCorrections{0.75F, 0.4375F}));
  EXPECT_EQ(bias_corrections(config, 3), (BiasCorrections{0.875F, 0.578125F}));
}

// From these steps on a wrong step number cannot be seen in a result any more.
TEST(BiasCorrections, BecomeOneAtTheKnownSteps) {
  AdamConfig const config;
  EXPECT_LT(bias_corrections(config, 164).c1, 1.0F);
  EXPECT_EQ(bias_corrections(config, 165).c1, 1.0F);
  EXPECT_LT(bias_corrections(config, 17320).c2, 1.0F);
  EXPECT_EQ(bias_corrections(config, 17321).c2, 1.0F);
}

TEST(BiasCorrections, BetasOfZeroNeedNoCorrection) {
  EXPECT_EQ(bias_corrections({.beta1 = 0.0F, .beta2 = 0.0F}, 1), (BiasCorrections{1.0F, 1.0F}));
}

TEST(BiasCorrections, AreOneWhenSwitchedOff) {
  EXPECT_EQ(bias_corrections({.bias_correction = false}, 1), (BiasCorrections{1.0F, 1.0F}));
}

TEST(BiasCorrections, GrowWithTheStep) {
  AdamConfig const config;
  for (int step = 1; step < 100; ++step) {
    EXPECT_LT(bias_corrections(config, step).c1, bias_corrections(config, step + 1).c1);
    EXPECT_LT(bias_corrections(config, step).c2, bias_corrections(config, step + 1).c2);
  }
}

TEST(BiasCorrectionsDeathTest, StepsCountFromOne) {
  EXPECT_DEATH(bias_corrections({}, 0), "first step");
}

}  // namespace
}  // namespace adamant::oracle
