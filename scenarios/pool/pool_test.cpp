#include "scenarios/pool/pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include "scenarios/pool/interrupt.h"

namespace adamant::scenarios {
namespace {

std::map<std::uint64_t, JobEnd> run_all(PoolOptions const& options, Work const& work) {
  std::map<std::uint64_t, JobEnd> ends;
  run_jobs(options, work,
           [&](JobEnd const& end) { EXPECT_TRUE(ends.emplace(end.job, end).second); });
  return ends;
}

TEST(Pool, AnswersEveryJobOnce) {
  auto const ends = run_all({.workers = 3, .jobs = 100, .until = {}, .job_time_max = {}},
                            [](std::uint64_t job) { return std::to_string(job * job); });
  ASSERT_EQ(ends.size(), 100U);
  for (auto const& [job, end] : ends) EXPECT_EQ(end.answer, std::to_string(job * job));
}

TEST(Pool, JobsOfARowRunInOneProcess) {
  auto const work = [](std::uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return std::to_string(::getpid());
  };
  PoolOptions options{.workers = 2, .jobs = 40, .until = {}, .job_time_max = {}};
  options.row_of = [](std::uint64_t job) { return job / 20; };
  auto const ends = run_all(options, work);
  ASSERT_EQ(ends.size(), 40U);
  for (std::uint64_t const begin : {0U, 20U})
    for (std::uint64_t job = begin; job < begin + 10; ++job)
      EXPECT_EQ(ends.at(job).answer, ends.at(begin).answer) << job;
  EXPECT_NE(ends.at(0).answer, ends.at(20).answer);
}

TEST(Pool, WhatADeadWorkerLeavesOfItsRowComesNext) {
  PoolOptions options{.workers = 1, .jobs = 8, .until = {}, .job_time_max = {}};
  options.row_of = [](std::uint64_t job) { return job / 4; };
  auto const work = [](std::uint64_t job) -> std::string {
    if (job == 1) ::_exit(4);
    return "fine";
  };
  std::vector<std::uint64_t> order;
  run_jobs(options, work, [&](JobEnd const& end) { order.push_back(end.job); });
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Pool, JobsRunInOtherProcesses) {
  auto const ends = run_all({.workers = 1, .jobs = 1, .until = {}, .job_time_max = {}},
                            [](std::uint64_t) { return std::to_string(::getpid()); });
  EXPECT_NE(ends.at(0).answer, std::to_string(::getpid()));
}

TEST(Pool, LongAnswersArriveWhole) {
  auto const ends = run_all({.workers = 2, .jobs = 4, .until = {}, .job_time_max = {}},
                            [](std::uint64_t job) { return std::string(1'000'000 + job, 'x'); });
  for (auto const& [job, end] : ends) EXPECT_EQ(end.answer->size(), 1'000'000 + job);
}

TEST(Pool, AWorkerThatDiesIsReportedAndTheRestGoesOn) {
  auto const work = [](std::uint64_t job) -> std::string {
    if (job == 3) ::raise(SIGSEGV);
    if (job == 5) std::abort();
    if (job == 6) ::_exit(4);
    return "fine";
  };
  auto const ends = run_all({.workers = 2, .jobs = 9, .until = {}, .job_time_max = {}}, work);
  ASSERT_EQ(ends.size(), 9U);
  EXPECT_EQ(ends.at(5).death, "killed by signal 6 (Aborted)");
  EXPECT_FALSE(ends.at(3).answer);
  EXPECT_EQ(ends.at(6).death, "exit status 4");
  for (std::uint64_t const job : {0, 1, 2, 4, 7, 8}) EXPECT_EQ(ends.at(job).answer, "fine") << job;
}

TEST(Pool, AfterAWorkerThatIsSpoiltAFreshOneGoesOn) {
  bool spoilt = false;  // of each process its own
  auto const work = [&](std::uint64_t job) -> Answer {
    std::string const found = spoilt ? "spoilt" : "fine";
    spoilt = spoilt || job % 3 == 1;
    return {found, spoilt};
  };
  PoolOptions options{.workers = 2, .jobs = 12, .until = {}, .job_time_max = {}};
  options.row_of = [](std::uint64_t job) { return job / 6; };
  auto const ends = run_all(options, work);
  ASSERT_EQ(ends.size(), 12U);
  for (auto const& [job, end] : ends) EXPECT_EQ(end.answer, "fine") << job << end.death;
}

TEST(Pool, WhoWaitsSeesHowFarAJobIs) {
  SharedCounts counts;
  auto const until_seen = [&](std::uint64_t) {
    counts.write({.done = 3, .total = 8});
    while (counts.read().total == 8) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::string("seen");
  };
  PoolOptions options{.workers = 1, .jobs = 1, .until = {}, .job_time_max = {}};
  options.while_waiting = [&] {
    if (counts.read().done == 3) counts.write({.done = 0, .total = 0});
  };
  EXPECT_EQ(run_all(options, until_seen).at(0).answer, "seen");
}

TEST(Pool, AWorkerThatHangsIsKilled) {
  auto const work = [](std::uint64_t job) -> std::string {
    if (job == 0) std::this_thread::sleep_for(std::chrono::hours(1));
    return "fine";
  };
  auto const ends = run_all(
      {.workers = 1, .jobs = 2, .until = {}, .job_time_max = std::chrono::seconds(1)}, work);
  EXPECT_EQ(ends.at(0).death, "no answer within 1 s");
  EXPECT_TRUE(ends.at(0).late);
  EXPECT_FALSE(ends.at(1).late);
  EXPECT_EQ(ends.at(1).answer, "fine");
}

TEST(Pool, StopsHandingOutWhenTimeIsUp) {
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  auto const ends = run_all({.workers = 2, .jobs = {}, .until = until, .job_time_max = {}},
                            [](std::uint64_t) -> std::string {
                              std::this_thread::sleep_for(std::chrono::milliseconds(5));
                              return "fine";
                            });
  EXPECT_GT(ends.size(), 2U);
  for (auto const& [job, end] : ends) EXPECT_EQ(end.answer, "fine") << job;
}

/// Runs in a process of its own, because an interrupt is remembered for good.
TEST(Pool, AnInterruptLeavesWhatIsUnfinished) {
  pid_t const child = ::fork();
  if (child == 0) {
    watch_for_interrupts();
    int finished = 0;
    run_jobs(
        {.workers = 2, .jobs = 50, .until = {}, .job_time_max = {}},
        [](std::uint64_t job) -> std::string {
          if (job > 4) std::this_thread::sleep_for(std::chrono::hours(1));
          return "fine";
        },
        [&](JobEnd const&) {
          if (++finished == 5) ::kill(::getpid(), SIGINT);
        });
    ::_exit(interrupted() ? finished : 99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

}  // namespace
}  // namespace adamant::scenarios
