// What is no fault by itself: errors that nobody looked at, memory that is never freed, values that
// depend on the schedule. And what a clean run says of itself.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

using Warning = Judge;

int line_of_warning(std::string const& mark) {
  return marked_line("sim/watch/warning_test.cu", mark);
}

Report run_once(std::function<void()> const& program, bool strict = false) {
  Options options;
  options.announce = false;
  options.strict = strict;
  return run(
      1, [&](int) { program(); }, options);
}

/// The only warning of a run without violations.
Violation warning(Report const& report) {
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.warnings.size(), 1U) << describe(report);
  return report.warnings.empty() ? Violation{} : report.warnings.front();
}

__global__ void fill_one(float* to) {
  to[0] = 1.0F;
}

TEST_F(Warning, ADoubleFreeWhoseErrorIsDropped) {
  Violation const found = warning(run_once([] {
    float* data = nullptr;
    cudaMalloc(&data, 64);
    cudaFree(data);
    cudaFree(data);  // <- freed twice
  }));
  EXPECT_EQ(found.law, Law::error_unseen);
  EXPECT_EQ(found.message, "cudaFree returned cudaErrorInvalidValue, and nobody looked at it");
  EXPECT_EQ(found.at.line, line_of_warning("freed twice"));
}

TEST_F(Warning, ALaunchOfTooManyThreads) {
  Report const report = run_once([] {
    float* data = nullptr;
    cudaMalloc(&data, 64);
    fill_one<<<1, 2048>>>(data);  // <- launched
    cudaFree(data);
  });
  Violation const found = warning(report);
  EXPECT_EQ(found.message, "the launch returned cudaErrorInvalidValue, and nobody looked at it");
  EXPECT_EQ(found.at.line, line_of_warning("launched"));
}

TEST_F(Warning, IsNoneWhereAnybodyLooks) {
  for (auto const look : {+[] { return static_cast<int>(cudaGetLastError()); },
                          +[] { return static_cast<int>(cudaPeekAtLastError()); }}) {
    Report const report = run_once([&] {
      fill_one<<<1, 2048>>>(nullptr);
      look();
      cudaError_t const taken = cudaFree(reinterpret_cast<void*>(8));
      (void)cudaFree(reinterpret_cast<void*>(8));
      EXPECT_NE(taken, cudaSuccess);
    });
    EXPECT_TRUE(report.warnings.empty()) << describe(report);
  }
}

TEST_F(Warning, IsNoneWhereTheLastErrorIsOnlyTaken) {
  Report const report = run_once([] {
    cudaFree(reinterpret_cast<void*>(8));
    cudaGetLastError();
  });
  EXPECT_TRUE(report.warnings.empty()) << describe(report);
}

TEST_F(Warning, AnErrorIsToldOfARunThatADeadlockEnds) {
  Options options;
  options.announce = false;
  Report const report = run(
      2,
      [](int rank) {
        if (rank == 1) return;
        cudaFree(reinterpret_cast<void*>(8));  // <- before the deadlock
        barrier();
      },
      options);
  ASSERT_EQ(report.violations.size(), 1U);
  EXPECT_EQ(report.violations[0].law, Law::order_deadlock);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].at.line, line_of_warning("before the deadlock"));
}

TEST_F(Warning, AnErrorOfNcclIsNotTakenByCudasLastError) {
  Violation const found = warning(run_once([] {
    ncclBroadcast(nullptr, nullptr, 1, ncclFloat32, 0, nullptr, nullptr);  // <- broadcast
    (void)cudaGetLastError();
  }));
  EXPECT_EQ(found.about, "ncclBroadcast");
  EXPECT_EQ(found.at.line, line_of_warning("broadcast"));
}

TEST_F(Warning, MemoryThatIsNeverFreed) {
  Report const report = run_once([] {
    for (int i = 0; i < 3; ++i) {
      float* data = nullptr;
      cudaMalloc(&data, 64);  // <- leaked
      name_buffer(data, "gradient");
    }
  });
  Violation const found = warning(report);
  EXPECT_EQ(found.law, Law::memory_leak);
  EXPECT_EQ(found.message, "gradient of 64 bytes, made by cudaMalloc, is never freed");
  EXPECT_EQ(found.count, 3);
  EXPECT_EQ(found.at.line, line_of_warning("leaked"));
  EXPECT_NE(describe(report).find("warning: memory.leak: rank 0: gradient"), std::string::npos);
}

void* leaked(std::size_t size) {
  void* data = nullptr;
  cudaMalloc(&data, size);  // <- by a helper
  return data;
}

TEST_F(Warning, LeaksOfOneLineAreOneWhateverTheirSizes) {
  Report const report = run_once([] {
    for (std::size_t const size : {64, 128, 256}) leaked(size);  // <- of three sizes
  });
  Violation const found = warning(report);
  EXPECT_EQ(found.message, "a buffer of 64 bytes, made by cudaMalloc, is never freed");
  EXPECT_EQ(found.count, 3);
  EXPECT_EQ(found.bytes, 448U);
  EXPECT_EQ(found.at.line, line_of_warning("by a helper"));
  EXPECT_NE(describe(report).find("found 3 times, on rank 0; 448 bytes in all\n"),
            std::string::npos);
}

TEST_F(Warning, LeaksOfTwoLinesAreTwoThoughTheirSizesAreOne) {
  Report const report = run_once([] {
    leaked(64);  // <- first of them
    leaked(64);  // <- second of them
  });
  ASSERT_EQ(report.warnings.size(), 2U) << describe(report);
  for (int i = 0; i < 2; ++i) {
    Violation const& found = report.warnings[static_cast<std::size_t>(i)];
    EXPECT_EQ(found.count, 1);
    EXPECT_EQ(found.at.line, line_of_warning("by a helper"));
    ASSERT_FALSE(found.at.callers.empty());
    EXPECT_EQ(found.at.callers.front().line,
              line_of_warning(i == 0 ? "first of them" : "second of them"));
  }
}

TEST_F(Warning, LeaksAreFoldedBySizeWhereNoLineIsKnown) {
  Options options;
  options.announce = false;
  options.locate = false;
  Report const report = run(
      2,
      [](int) {
        for (std::size_t const size : {64, 128, 64}) leaked(size);
      },
      options);
  ASSERT_EQ(report.warnings.size(), 2U) << describe(report);
  EXPECT_EQ(report.warnings[0].count, 4);
  EXPECT_EQ(report.warnings[0].bytes, 256U);
  EXPECT_EQ(report.warnings[0].ranks, (std::vector{0, 1}));
}

TEST_F(Warning, LeaksDoNotKeepALaterSchedulesViolationFromItsLines) {
  Options options;
  options.announce = false;
  int runs = 0;
  Report const report = explore(
      2,
      [&](int rank) {
        if (rank == 0) ++runs;
        leaked(64);
        barrier();
        void* const ended = leaked(128);
        cudaFree(ended);
        if (runs >= 3) cudaMemset(ended, 0, 128);  // <- after its end
      },
      10, options);
  EXPECT_EQ(report.schedules, 3);
  EXPECT_EQ(report.unlocated, "");
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].accesses.at(0).enqueued_at.line, line_of_warning("after its end"));
  ASSERT_EQ(report.warnings.size(), 1U) << describe(report);
  EXPECT_EQ(report.warnings[0].count, 2);
  EXPECT_EQ(report.warnings[0].at.line, line_of_warning("by a helper"));
}

/// A warning as its count, its bytes and its line; 0 where it has none.
using Leaks = std::tuple<std::int64_t, std::uint64_t, int>;

std::vector<Leaks> leaks_of(std::function<void()> const& program, bool locate = true) {
  Options options;
  options.announce = false;
  options.locate = locate;
  Report const report = run(
      1, [&](int) { program(); }, options);
  EXPECT_EQ(report.unlocated, "");
  std::vector<Leaks> leaks;
  for (Violation const& found : report.warnings)
    leaks.emplace_back(found.count, found.bytes,
                       found.at.callers.empty() ? found.at.line : found.at.callers.front().line);
  return leaks;
}

TEST_F(Warning, MoreLeaksThanAreLookedForAreNoLinesLeaks) {
  std::vector<Leaks> const leaks = leaks_of([] {
    leaked(64);                                 // <- leaks once
    for (int i = 0; i < 1000; ++i) leaked(64);  // <- leaks often
  });
  EXPECT_EQ(leaks, (std::vector<Leaks>{{1, 64, line_of_warning("leaks once")},
                                       {255, 255 * 64, line_of_warning("leaks often")},
                                       {745, 745 * 64, 0}}));
}

void leak_300_sizes() {
  for (std::size_t i = 1; i <= 300; ++i) leaked(i);  // <- of many sizes
}

TEST_F(Warning, MoreLeaksThanAreLookedForAreCountedWhateverTheirSizes) {
  EXPECT_EQ(leaks_of(leak_300_sizes),
            (std::vector<Leaks>{{256, 256 * 257 / 2, line_of_warning("of many sizes")},
                                {44, 44 * (257 + 300) / 2, 0}}));
}

TEST_F(Warning, MoreSizesOfLeaksThanAreToldAreCountedWhereNoLineIsKnown) {
  std::vector<Leaks> const leaks = leaks_of(leak_300_sizes, false);
  ASSERT_EQ(leaks.size(), 65U);
  EXPECT_EQ(leaks.back(), (Leaks{236, 236 * (65 + 300) / 2, 0}));
}

void allocate_on_a_thread() {
  std::thread([] {
    for (int i = 0; i < 2; ++i) {
      float* data = nullptr;
      EXPECT_EQ(cudaMalloc(&data, 64), cudaErrorNotSupported);  // <- on a thread
    }
  }).join();
}

TEST_F(Warning, ACallOfAThreadThatIsNoRank) {
  Report const report = run_once(allocate_on_a_thread);
  Violation const found = warning(report);
  EXPECT_EQ(found.law, Law::error_thread);
  EXPECT_EQ(found.rank, Violation::no_rank);
  EXPECT_EQ(found.count, 2);
  EXPECT_EQ(found.at.line, line_of_warning("on a thread"));
  EXPECT_NE(describe(report).find("warning: error.thread: a thread that is no rank's calls "
                                  "cudaMalloc, which is refused: start threads with"),
            std::string::npos)
      << describe(report);
  EXPECT_NE(describe(report).find("  found 2 times\n"), std::string::npos) << describe(report);
}

TEST_F(Warning, AThreadThatIsThereBeforeTheRunHasALineWithoutASecondRun) {
  std::latch is_asked(1);
  std::latch is_done(1);
  std::thread thread([&] {
    is_asked.wait();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNotSupported);  // <- there before
    is_done.count_down();
  });
  Report const report = run_once([&] {
    is_asked.count_down();
    is_done.wait();
  });
  thread.join();
  EXPECT_EQ(report.unlocated, "");
  EXPECT_EQ(warning(report).at.line, line_of_warning("there before"));
}

TEST_F(Warning, OtherCallsOfAThreadInTheSecondRunCostNoLines) {
  int runs = 0;
  Report const report = run_once([&] {
    ++runs;
    std::thread([&] {
      (void)cudaDeviceSynchronize();
      if (runs > 1) (void)cudaGetLastError();
    }).join();
    leaked(64);  // <- beside a thread
  });
  EXPECT_EQ(report.unlocated, "");
  ASSERT_EQ(report.warnings.size(), 2U) << describe(report);
  ASSERT_FALSE(report.warnings[0].at.callers.empty());
  EXPECT_EQ(report.warnings[0].at.callers[0].line, line_of_warning("beside a thread"));
}

TEST_F(Warning, CallsOfManyThreadsAtOnceAreOneForEachName) {
  constexpr int calls = 5000;
  Report const report = run_once([] {
    std::latch all_are_there(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        all_are_there.arrive_and_wait();
        for (int k = 0; k < calls; ++k) {
          fill_one<<<1, 1>>>(nullptr);
          EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
        }
      });
    for (std::thread& thread : threads) thread.join();
  });
  ASSERT_EQ(report.warnings.size(), 2U) << describe(report);
  EXPECT_NE(report.warnings[0].message.find("launches a kernel"), std::string::npos);
  EXPECT_NE(report.warnings[1].message.find("calls cudaGetLastError"), std::string::npos);
  for (Violation const& found : report.warnings) EXPECT_EQ(found.count, 4 * calls);
}

TEST_F(Warning, ACallOfAThreadFailsTheSearchThatIsAskedToFailOnWarnings) {
  Options options;
  options.announce = false;
  auto const program = [](int) { allocate_on_a_thread(); };
  EXPECT_EQ(explore(1, program, 3, options).schedules, 3);
  options.strict = true;
  Report const report = explore(1, program, 3, options);
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.schedules, 1);
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].at.line, line_of_warning("on a thread"));
}

TEST_F(Warning, ACallOfAThreadOutsideOfARunIsNoRunsMistake) {
  std::thread([] {
    int count = 0;
    EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  }).join();
  Report const report = run_once([] {});
  EXPECT_TRUE(report.warnings.empty()) << describe(report);
}

TEST_F(Warning, IsAViolationWhereAsked) {
  Report const report = run_once([] { cudaFree(reinterpret_cast<void*>(8)); }, true);
  EXPECT_TRUE(report.warnings.empty());
  ASSERT_EQ(report.violations.size(), 1U);
  EXPECT_EQ(report.violations[0].law, Law::error_unseen);
}

// Three ranks' sum of floats, which the ring, the tree and the line add in different orders.
void add_up(int rank, ncclUniqueId const& id, float of_one) {
  float const own[] = {rank == 1 ? of_one : rank == 0 ? 1.0F : -of_one};
  cudaStream_t const stream = new_stream("sum");
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRank(&comm, 3, id, rank), ncclSuccess);
  float* data = nullptr;
  cudaMalloc(&data, sizeof own);
  cudaMemcpyAsync(data, own, sizeof own, cudaMemcpyHostToDevice, stream);
  ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, comm, stream);
  cudaStreamSynchronize(stream);
  float sum = 0;
  cudaMemcpy(&sum, data, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(data);
  ncclCommDestroy(comm);
  cudaStreamDestroy(stream);
}

Report explore_sums(float of_one) {
  Options options;
  options.announce = false;
  ncclUniqueId id;
  return explore(
      3,
      [&](int rank) {
        if (rank == 0) ncclGetUniqueId(&id);
        barrier();
        add_up(rank, id, of_one);
      },
      20, options);
}

TEST_F(Warning, ValuesThatDependOnTheScheduleAreTold) {
  Report const report = explore_sums(1e8F);
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.schedules, 20);
  EXPECT_GT(report.different_values, 1);
  EXPECT_NE(describe(report).find("values depend on the schedule: "), std::string::npos);
  Report const exact = explore_sums(2.0F);
  EXPECT_EQ(exact.different_values, 1) << describe(exact);
}

TEST_F(Warning, ACleanRunSaysWhatWasDone) {
  auto const program = [] {
    float* data = nullptr;
    cudaMalloc(&data, 64);
    fill_one<<<1, 1>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
  };
  EXPECT_EQ(describe(run_once(program)),
            "nothing found in 1 schedule of 1 rank: 1 operation, 1 access\n");
  Options unchecked;
  unchecked.checked = false;
  EXPECT_EQ(describe(explore(
                1, [&](int) { program(); }, 3, unchecked)),
            "nothing found in 3 schedules of 1 rank; in the last: 1 operation, accesses not judged "
            "(unchecked)\n");
}

}  // namespace
}  // namespace adamant::sim
