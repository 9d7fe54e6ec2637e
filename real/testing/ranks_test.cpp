// Of what runs a test's ranks itself: a world that the test did not ask for is refused at once, on
// every machine.
#include "real/testing/ranks.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace adamant::real {
namespace {

int bodies = 0;

void run_two_on_devices_of_their_own() {
  run_ranks(2, Devices::own, [](RankContext const&) { ++bodies; });
}

TEST(Ranks, OnSeveralDevicesAreRefusedWhereTheTestAskedForAShareOfOne) {
  static_cast<void>(why_not(2, Devices::shared));
  EXPECT_NONFATAL_FAILURE(run_two_on_devices_of_their_own(), "this world takes 2 GPUs");
  EXPECT_EQ(bodies, 0);
}

TEST(Ranks, AreRefusedWhereTheTestAskedForNothing) {
  EXPECT_NONFATAL_FAILURE(run_ranks(1, Devices::shared, [](RankContext const&) { ++bodies; }),
                          "the test has asked for 0");
  EXPECT_EQ(bodies, 0);
}

TEST(Ranks, RunWhereTheTestAskedForThem) {
  ADAMANT_NEEDS(2, Devices::shared);
  bodies = 0;
  run_ranks(1, Devices::own, [](RankContext const&) { ++bodies; });
  EXPECT_GT(bodies, 0);
}

}  // namespace
}  // namespace adamant::real
