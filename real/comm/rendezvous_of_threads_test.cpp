#include "real/comm/rendezvous_of_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace adamant::real {
namespace {

TEST(RendezvousOfThreads, LetsOneActWhileAllOthersWait) {
  RendezvousOfThreads rendezvous(4);
  int shown = 0;  // guarded by the rendezvous
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 4; ++rank)
      ranks.emplace_back([&, rank] {
        for (int round = 1; round <= 100; ++round) {
          rendezvous.meet([&] { ++shown; });
          if (shown < round) ++wrong;
        }
        rendezvous.leave(rank);  // others may not have woken up yet
      });
  }
  EXPECT_EQ(shown, 100);
  EXPECT_EQ(wrong, 0);
}

/// How often two of three ranks get the error that the third one's act means for them.
template <typename Error, typename Act>
int told_of(Act act) {
  RendezvousOfThreads rendezvous(3);
  std::atomic<int> told = 0;
  auto const meet = [&] {
    try {
      rendezvous.meet({});
    } catch (Error const&) {
      ++told;
    }
  };
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 2; ++rank) ranks.emplace_back([&] { meet(); });
    act(rendezvous);
  }
  meet();  // now or later
  return told;
}

TEST(RendezvousOfThreads, OfRanksOneOfWhichFailedEndsForAll) {
  EXPECT_EQ(told_of<Abandoned>([](RendezvousOfThreads& all) { all.abandon(); }), 3);
}

TEST(RendezvousOfThreads, OfRanksOneOfWhichIsDoneEndsForAll) {
  EXPECT_EQ(told_of<Deserted>([](RendezvousOfThreads& all) { all.leave(2); }), 3);
}

TEST(RendezvousOfThreads, NamesTheRankThatIsDone) {
  RendezvousOfThreads rendezvous(2);
  rendezvous.leave(1);
  try {
    rendezvous.arrive_and_wait(0);
    FAIL() << "it met";
  } catch (Deserted const& error) {
    EXPECT_STREQ(error.what(), "rank 1 is done, while this rank still meets it");
  }
}

// Then the ranks that it did not bring along need not hear of the failure twice.
TEST(RendezvousOfThreads, ThatIsAbandonedSaysSoEvenWhereARankIsDone) {
  RendezvousOfThreads rendezvous(2);
  rendezvous.leave(1);
  rendezvous.abandon();
  EXPECT_THROW(rendezvous.arrive_and_wait(0), Abandoned);
}

}  // namespace
}  // namespace adamant::real
