#include "real/testing/rank_threads.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace adamant::real {
namespace {

constexpr int ranks = 3;
constexpr int groups = 2;

/// Meets as a loop-back does, three times a group, and calls `before` with the number of each
/// meeting and with the one after the last.
template <typename Before>
void meet_as_groups(RendezvousOfThreads& all, int rank, Before before) {
  for (int meeting = 0; meeting < 3 * groups; ++meeting) {
    before(meeting);
    all.arrive_and_wait(rank);
  }
  before(3 * groups);
}

TEST(RankThreads, AllRunAndMeet) {
  std::atomic<int> met = 0;
  auto const failure = run_on_threads(ranks, [&](int rank, RendezvousOfThreads& all) {
    meet_as_groups(all, rank, [&](int) { ++met; });
  });
  EXPECT_FALSE(failure);
  EXPECT_EQ(met, ranks * (3 * groups + 1));
}

TEST(RankThreads, EndWhereverOneThrows) {
  for (int thrower = 0; thrower < ranks; ++thrower)
    for (int place = 0; place <= 3 * groups; ++place) {
      std::atomic<int> running = 0;
      std::atomic<int> through = 0;
      auto const failure = run_on_threads(ranks, [&](int rank, RendezvousOfThreads& all) {
        ++running;
        struct Count {
          ~Count() { --number; }
          std::atomic<int>& number;
        } const count{running};
        meet_as_groups(all, rank, [&](int meeting) {
          if (rank == thrower && meeting == place)
            throw std::runtime_error("broken before " + std::to_string(meeting));
        });
        ++through;
      });
      ASSERT_TRUE(failure) << place;
      EXPECT_EQ(failure->rank, thrower);
      EXPECT_EQ(failure->message, "broken before " + std::to_string(place));
      EXPECT_EQ(running, 0);
      EXPECT_EQ(through, place == 3 * groups ? ranks - 1 : 0);
    }
}

TEST(RankThreads, EndWhereverOneIsDoneBeforeTheOthers) {
  for (int place = 0; place < 3 * groups; ++place) {
    auto const failure = run_on_threads(ranks, [&](int rank, RendezvousOfThreads& all) {
      for (int meeting = 0; meeting < 3 * groups; ++meeting) {
        if (rank == 1 && meeting == place) return;
        all.arrive_and_wait(rank);
      }
    });
    ASSERT_TRUE(failure) << place;
    EXPECT_NE(failure->rank, 1);
    EXPECT_EQ(failure->message, "rank 1 is done, while this rank still meets it");
  }
}

TEST(RankThreads, EndWhereAnAssertionOfOneReturns) {
  static std::optional<RankFailure> failure;
  EXPECT_FATAL_FAILURE_ON_ALL_THREADS(
      failure = run_on_threads(ranks,
                               [](int rank, RendezvousOfThreads& all) {
                                 ASSERT_NE(rank, 2) << "unlike the others";
                                 all.arrive_and_wait(rank);
                               }),
      "unlike the others");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "rank 2 is done, while this rank still meets it");
}

TEST(RankThreads, EndWhereOneThrowsWhatIsNoException) {
  auto const failure = run_on_threads(ranks, [](int rank, RendezvousOfThreads& all) {
    if (rank == 0) throw 7;
    all.arrive_and_wait(rank);
  });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 0);
}

/// As on a device: nobody can tell the rank that another is gone.
void wait_for_ever() {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable never;
  never.wait(lock, [] { return false; });
}

/// What a process of its own that runs the body writes until it ends, and how it does. GoogleTest's
/// death tests keep assertions that fail in such a process to themselves.
std::string end_of_process(RankBody const& body) {
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    static_cast<void>(run_on_threads(ranks, body, std::chrono::milliseconds(100)));
    std::_Exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t bytes = 0; (bytes = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(bytes));
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return text + "exit " + std::to_string(WEXITSTATUS(status));
}

TEST(RankThreads, OfWhichOneWaitsOnADeviceForOneThatThrewEndTheProcess) {
  EXPECT_EQ(end_of_process([](int rank, RendezvousOfThreads&) {
              if (rank == 1) throw std::runtime_error("broken");
              if (rank == 2) wait_for_ever();
            }),
            "rank 1: broken; after 100 ms more there is no end of rank 2, which may wait for "
            "another on a device: the process ends here\nexit 1");
}

// An engine that goes with such a rank waits for the others, too.
TEST(RankThreads, OfWhichOneWaitsOnADeviceForOneThatAssertedEndTheProcess) {
  std::string const end = end_of_process([](int rank, RendezvousOfThreads&) {
    if (rank == 1) [] { FAIL() << "unlike the others"; }();
    wait_for_ever();
  });
  EXPECT_NE(end.find("unlike the others"), std::string::npos) << end;
  EXPECT_NE(end.find("an assertion of a rank failed; after 100 ms more there is no end of rank "
                     "0 1 2, which"),
            std::string::npos)
      << end;
  EXPECT_TRUE(end.ends_with("exit 1")) << end;
}

}  // namespace
}  // namespace adamant::real
