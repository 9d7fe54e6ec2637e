#include "sim/world/crew.h"

#include <gtest/gtest.h>

#include <set>

namespace adamant::sim {
namespace {

TEST(Crew, RunsEveryPieceOnceOnAnyNumberOfThreads) {
  for (int const threads : {0, 1, 2, 3, 7}) {
    Crew crew(threads);
    for (std::size_t const pieces : {0, 1, 2, 5, 1000}) {
      std::vector<int> runs(pieces);
      crew.share(pieces, [&](std::size_t piece, std::size_t thread) {
        ASSERT_LT(thread, crew.size());
        ++runs[piece];
      });
      EXPECT_EQ(runs, std::vector<int>(pieces, 1));
    }
  }
}

// Two pieces that wait for each other end only if they run on two threads.
TEST(Crew, ThreadsWorkAtTheSameTimeAndKeepTheirNumbers) {
  Crew crew(2);
  std::atomic<int> arrived = 0;
  std::set<std::size_t> seen;
  std::mutex mutex;
  crew.share(2, [&](std::size_t, std::size_t thread) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    std::lock_guard const lock(mutex);
    seen.insert(thread);
  });
  EXPECT_EQ(seen, (std::set<std::size_t>{0, 1}));
}

TEST(Crew, EndsWithoutHavingWorked) {
  Crew const idle(4);
  EXPECT_EQ(idle.size(), 4U);
}

}  // namespace
}  // namespace adamant::sim
