#include "real/scale/saved_scaling.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"

namespace adamant::real {
namespace {

TEST(SavedScaling, ComesBackAsItWas) {
  SavedScaling const none;
  SavedScaling const clips = {.max_norm = 0.1F};
  SavedScaling const fixed = {.loss_scale = {.kind = LossScale::Kind::fixed, .value = 0.3F},
                              .scale = 0.3F,
                              .max_norm = 1e-30F};
  SavedScaling const dynamic = {.loss_scale = {.kind = LossScale::Kind::dynamic},
                                .scale = 0x1p31F,
                                .growth_tracker = 17,
                                .hysteresis = -1};
  for (SavedScaling const& scaling : {none, clips, fixed, dynamic})
    EXPECT_EQ(scaling_of(numbers_of(scaling)), scaling);
  EXPECT_TRUE(numbers_of(none).empty());
}

std::map<std::string, double> moving(double tracker, double hysteresis) {
  return {{"loss_scale", 1},
          {"loss_scale_dynamic", 1},
          {"growth_tracker", tracker},
          {"hysteresis", hysteresis}};
}

std::string refusal(std::map<std::string, double> const& numbers) {
  try {
    static_cast<void>(scaling_of(numbers, "m"));
  } catch (CheckpointError const& error) {
    EXPECT_EQ(error.kind(), CheckpointError::Kind::damaged);
    return error.what();
  }
  return "not refused";
}

TEST(SavedScaling, RefusesWhatCannotBe) {
  double const infinity = std::numeric_limits<double>::infinity();
  for (double const bad : {0.0, -1.0, 0.1, 1e300, infinity}) {
    EXPECT_THROW(scaling_of({{"loss_scale", bad}}), CheckpointError) << bad;
    EXPECT_THROW(scaling_of({{"clip", bad}}), CheckpointError) << bad;
  }
  for (double const bad : {0.5, 3.0, -1e9 - 1, infinity})
    EXPECT_THROW(scaling_of(moving(0, bad)), CheckpointError) << bad;
  EXPECT_EQ(refusal(moving(-1, 2)),
            "m: growth_tracker is -1, expected a whole number from 0 to 999");
  for (double const bad : {0.5, 1000.0}) EXPECT_NE(refusal(moving(bad, 2)), "not refused") << bad;
  EXPECT_EQ(refusal({{"loss_scale", 1}, {"loss_scale_dynamic", 2}}),
            "m: loss_scale_dynamic is 2, expected 0 or 1");
}

TEST(SavedScaling, RefusesAScaleThatMovesWithoutItsProgress) {
  for (char const* const missing : {"growth_tracker", "hysteresis"}) {
    auto numbers = moving(0, 2);
    numbers.erase(missing);
    EXPECT_EQ(refusal(numbers),
              "m: has no " + std::string(missing) + ", expected one beside loss_scale_dynamic 1");
  }
}

// Overflows in a row take from the hysteresis beyond 0.
TEST(SavedScaling, TakesAllThatOverflowsAndGoodStepsLeadTo) {
  for (auto const& [tracker, hysteresis] : {std::pair{0, -1'000'000'000}, {999, 2}})
    EXPECT_EQ(refusal(moving(tracker, hysteresis)), "not refused");
}

}  // namespace
}  // namespace adamant::real
