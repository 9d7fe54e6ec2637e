#include "real/offload/thread_crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

namespace adamant::real {
namespace {

TEST(ThreadCrew, VisitsEveryChunkOnceLoopAfterLoop) {
  for (int const threads : {1, 2, 3}) {
    ThreadCrew crew(threads);
    EXPECT_EQ(crew.count(), threads);
    for (int chunks = 0; chunks < 40; ++chunks) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(chunks));
      crew.parallel_for(chunks, [&](int chunk) { ++visits[static_cast<std::size_t>(chunk)]; });
      for (auto const& count : visits) EXPECT_EQ(count, 1);
    }
  }
}

// The first chunk ends only when the second one has begun: on one thread that would be never.
TEST(ThreadCrew, RunsChunksAtOnce) {
  ThreadCrew crew(2);
  std::atomic<bool> begun = false;
  crew.parallel_for(2, [&](int chunk) {
    if (chunk == 1) begun = true;
    while (!begun) std::this_thread::yield();
  });
  EXPECT_TRUE(begun);
}

TEST(ThreadCrew, TellsEachThreadThatItBegins) {
  std::mutex mutex;
  std::set<int> begun;
  {
    ThreadCrew crew(4, [&](int thread) {
      std::lock_guard const lock(mutex);
      begun.insert(thread);
    });
  }
  EXPECT_EQ(begun, (std::set<int>{1, 2, 3}));
}

}  // namespace
}  // namespace adamant::real
