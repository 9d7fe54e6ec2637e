#include "scenarios/engines/cuda/rendezvous_of_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace adamant::scenarios {
namespace {

TEST(RendezvousOfThreads, LetsOneActWhileAllOthersWait) {
  RendezvousOfThreads rendezvous(4);
  int shown = 0;  // guarded by the rendezvous
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 4; ++rank)
      ranks.emplace_back([&] {
        for (int round = 1; round <= 100; ++round) {
          rendezvous.meet([&] { ++shown; });
          if (shown < round) ++wrong;
        }
      });
  }
  EXPECT_EQ(shown, 100);
  EXPECT_EQ(wrong, 0);
}

TEST(RendezvousOfThreads, OfRanksOneOfWhichFailedEndsForAll) {
  RendezvousOfThreads rendezvous(3);
  std::atomic<int> abandoned = 0;
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 2; ++rank)
      ranks.emplace_back([&] {
        try {
          rendezvous.meet({});
        } catch (Abandoned const&) {
          ++abandoned;
        }
      });
    rendezvous.abandon();
  }
  EXPECT_EQ(abandoned, 2);
}

}  // namespace
}  // namespace adamant::scenarios
