#include "scenarios/engines/cuda/rank_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace adamant::scenarios {
namespace {

constexpr std::chrono::milliseconds short_time(200);

TEST(RankThreads, RunEveryRankToItsEnd) {
  std::atomic<int> sum = 0;
  auto const slowly = [&](int rank) {
    std::this_thread::sleep_for(2 * short_time);
    sum += 1 << rank;
  };
  EXPECT_TRUE(run_on_threads(
      4, slowly, [] { return false; }, short_time));
  EXPECT_EQ(sum, 15);
}

TEST(RankThreads, ThatEndAfterAFailureAreWaitedFor) {
  std::atomic<int> ended = 0;
  auto const body = [&](int rank) {
    if (rank > 0) std::this_thread::sleep_for(short_time);
    ++ended;
  };
  EXPECT_TRUE(run_on_threads(
      3, body, [] { return true; }, 50 * short_time));
  EXPECT_EQ(ended, 3);
}

TEST(RankThreads, ThatWaitForOneThatFailedAreLeft) {
  auto const woken = std::make_shared<std::atomic<bool>>(false);  // outlives this test
  std::atomic<bool> failed = false;
  auto const body = [woken, &failed](int rank) {
    if (rank == 0)
      failed = true;
    else
      woken->wait(false);
  };
  EXPECT_FALSE(run_on_threads(
      3, body, [&] { return failed.load(); }, short_time));
  *woken = true;
  woken->notify_all();
}

}  // namespace
}  // namespace adamant::scenarios
