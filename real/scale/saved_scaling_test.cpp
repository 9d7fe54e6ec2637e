#include "real/scale/saved_scaling.h"

#include <gtest/gtest.h>

#include <limits>

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

TEST(SavedScaling, RefusesWhatCannotBe) {
  double const infinity = std::numeric_limits<double>::infinity();
  for (double const bad : {0.0, -1.0, 0.1, 1e300, infinity}) {
    EXPECT_THROW(scaling_of({{"loss_scale", bad}}), CheckpointError) << bad;
    EXPECT_THROW(scaling_of({{"clip", bad}}), CheckpointError) << bad;
  }
  for (double const bad : {0.5, 1e9 + 1, -1e9 - 1, infinity})
    EXPECT_THROW(scaling_of({{"loss_scale", 1}, {"loss_scale_dynamic", 1}, {"hysteresis", bad}}),
                 CheckpointError)
        << bad;
}

TEST(SavedScaling, TakesWholeNumbersUpToABillion) {
  for (int const most : {1'000'000'000, -1'000'000'000}) {
    SavedScaling const scaling = {.loss_scale = {.kind = LossScale::Kind::dynamic},
                                  .scale = 1.0F,
                                  .growth_tracker = most,
                                  .hysteresis = most};
    EXPECT_EQ(scaling_of(numbers_of(scaling)), scaling);
  }
}

}  // namespace
}  // namespace adamant::real
