// A run as a whole: it is a function of its options, its record replays it, and it ends in order
// however its ranks end.
#include "sim/sim.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <set>
#include <stdexcept>
#include <utility>

namespace adamant::sim {
namespace {

/// A host buffer that copies fill on two streams of each rank, with the edges that it needs.
void program(int rank) {
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  void* data = nullptr;
  cudaMallocAsync(&data, 64, streams[0]);
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  for (int i = 0; i < 5; ++i) {
    cudaMemsetAsync(data, rank + i, 64, streams[i % 2]);
    cudaEventRecord(event, streams[i % 2]);
    cudaStreamWaitEvent(streams[(i + 1) % 2], event, 0);
  }
  cudaFreeAsync(data, streams[1]);
  cudaStreamSynchronize(streams[1]);
  barrier();
  note_result(static_cast<std::uint64_t>(rank));
}

Options options_of(Strategy strategy, std::uint64_t seed) {
  Options options;
  options.seed = seed;
  options.schedule.strategy = strategy;
  options.schedule.seed = seed;
  options.trace = true;
  return options;
}

TEST(Run, IsAFunctionOfItsOptions) {
  for (Strategy const strategy : {Strategy::fifo, Strategy::random, Strategy::pct}) {
    Report const first = run(3, program, options_of(strategy, 5));
    run(2, program, options_of(strategy, 6));  // another world in between leaves no trace
    Report const second = run(3, program, options_of(strategy, 5));
    EXPECT_TRUE(first.ok()) << describe(first);
    EXPECT_EQ(first.digest, second.digest);
    EXPECT_EQ(first.choices, second.choices);
    EXPECT_EQ(first.simulated_ns, second.simulated_ns);
    EXPECT_EQ(first.trace.size(), second.trace.size());
  }
}

TEST(Run, IsReplayedByItsRecord) {
  for (Strategy const strategy : {Strategy::random, Strategy::pct}) {
    Report const first = run(3, program, options_of(strategy, 5));
    Options options = options_of(Strategy::fifo, 5);
    options.schedule.choices = first.choices;
    Report const again = run(3, program, options);
    EXPECT_EQ(again.digest, first.digest);
    EXPECT_EQ(again.simulated_ns, first.simulated_ns);
  }
}

TEST(Run, HasAnotherDigestUnderAnotherSeed) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    digests.insert(run(3, program, options_of(Strategy::random, seed)).digest);
  }
  EXPECT_EQ(digests.size(), 50U);
}

TEST(Run, HasAnotherDigestForAnotherResult) {
  auto const noting = [](std::uint64_t value) {
    return run(1, [=](int) { note_result(value); }).digest;
  };
  EXPECT_EQ(noting(1), noting(1));
  EXPECT_NE(noting(1), noting(2));
}

TEST(Run, RethrowsWhatLeftARankAfterAllHaveUnwound) {
  int unwound = 0;
  auto const failing = [&](int rank) {
    struct Counts {
      int& count;
      ~Counts() { ++count; }
    } const counts{unwound};
    if (rank == 1) throw std::runtime_error("rank 1 fails");
    barrier();  // will never be complete
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorUnknown);
  };
  try {
    run(3, failing);
    FAIL() << "nothing was thrown";
  } catch (std::runtime_error const& error) {
    EXPECT_STREQ(error.what(), "rank 1 fails");
  }
  EXPECT_EQ(unwound, 3);
  EXPECT_TRUE(run(3, program).ok());
}

/// Owns one of each, as RAII would.
struct Owner {
  void* data = nullptr;
  void* pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  Owner() {
    cudaMalloc(&data, 64);
    cudaMallocHost(&pinned, 64);
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaMemsetAsync(data, 0, 64, stream);
    cudaEventRecord(event, stream);
  }
  ~Owner() {
    cudaStreamSynchronize(stream);
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    cudaFree(data);
    cudaFreeHost(pinned);
  }
};

TEST(Run, LetsDestructorsCallIntoAnEndedWorld) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Report const report = run(
        3,
        [](int rank) {
          Owner const owner;
          if (rank == 2) end_world();
          meet();
        },
        options_of(Strategy::random, seed));
    EXPECT_TRUE(report.ok()) << describe(report);
  }
}

void expect_deadlock(Report const& report, std::string const& part) {
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].law, Law::order_deadlock);
  EXPECT_NE(report.violations[0].message.find(part), std::string::npos) << describe(report);
}

TEST(Run, ReportsRanksThatWaitForOneThatHasEnded) {
  auto const report_of = [](void (*wait)()) {
    return run(3, [=](int rank) {
      if (rank != 1) wait();
    });
  };
  expect_deadlock(report_of([] { meet(); }), "rank 0 waits in meet()");
  expect_deadlock(report_of([] { barrier(); }), "rank 2 waits in barrier()");
}

TEST(Run, ReportsARankThatPollsForEver) {
  Report const report = run(2, [](int rank) {
    static ncclUniqueId id;
    if (rank == 0) ncclGetUniqueId(&id);
    barrier();
    ncclComm_t communicator = nullptr;
    ncclCommInitRank(&communicator, 2, id, rank);
    if (rank == 1) return barrier();  // and not in the collective
    void* data = nullptr;
    cudaMalloc(&data, 64);
    ncclAllReduce(data, data, 16, ncclFloat, ncclSum, communicator, nullptr);
    while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    }
  });
  expect_deadlock(report, "rank 0 waits in cudaStreamQuery");
}

TEST(Run, OutsideOfOneThereIsNoDevice) {
  int devices = 0;
  EXPECT_FALSE(inside());
  EXPECT_EQ(cudaGetDeviceCount(&devices), cudaErrorNoDevice);
}

TEST(Run, MeetsWithAllRanksAndCallsOnce) {
  int calls = 0;
  int arrived = 0;
  Report const report = run(4, [&](int) {
    ++arrived;
    meet([&] {
      ++calls;
      EXPECT_EQ(arrived, 4);
    });
    EXPECT_EQ(calls, 1);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(Run, OfThousandRanksStartsAndEnds) {
  Options options;
  options.checked = false;
  int ended = 0;
  Report const report = run(
      1024,
      [&](int rank) {
        program(rank);
        ++ended;
      },
      options);
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(ended, 1024);
}

TEST(Run, AnswersQuestionsOfTheHarnessByItsSchedule) {
  std::vector<std::uint32_t> answers;
  auto const ask = [&](int) {
    for (int i = 0; i < 20; ++i) answers.push_back(choose(10));
  };
  Options options = options_of(Strategy::random, 3);
  Report const report = run(1, ask, options);
  auto const first = std::exchange(answers, {});
  EXPECT_EQ(report.choices, first);
  EXPECT_GT(std::set<std::uint32_t>(first.begin(), first.end()).size(), 1U);
  options.schedule = {.strategy = Strategy::fifo, .seed = 0, .choices = report.choices};
  run(1, ask, options);
  EXPECT_EQ(answers, first);
}

TEST(Run, YieldsToOtherRanks) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    std::vector<int> order;
    run(
        2,
        [&](int rank) {
          for (int i = 0; i < 2; ++i) {
            order.push_back(rank);
            EXPECT_TRUE(yield());
          }
        },
        options_of(Strategy::random, seed));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 2U);
}

TEST(Run, HasAnotherDigestForAnotherEvent) {
  auto const digest = [](char const* event) {
    return run(1, [&](int) { note_event(event, 1); }).digest;
  };
  EXPECT_EQ(digest("write"), digest("write"));
  EXPECT_NE(digest("write"), digest("sync"));
  Options options;
  options.trace = true;
  Report const traced = run(
      1, [](int) { note_event("write", 1); }, options);
  ASSERT_EQ(traced.trace.size(), 1U);
  EXPECT_EQ(traced.trace[0].name, "write");
}

TEST(Run, JudgesTheBytesThatAHarnessMoves) {
  if (!can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  auto const violations = [](bool waits) {
    return run(1,
               [&](int) {
                 char there[64];
                 void* device = nullptr;
                 void* pinned = nullptr;
                 cudaMalloc(&device, sizeof there);
                 cudaMallocHost(&pinned, sizeof there);
                 cudaMemset(device, 1, sizeof there);
                 cudaMemcpyAsync(pinned, device, sizeof there, cudaMemcpyDeviceToHost, nullptr);
                 if (waits) cudaDeviceSynchronize();
                 copy_watched(there, pinned, sizeof there);
                 cudaDeviceSynchronize();
                 cudaFree(device);
                 cudaFreeHost(pinned);
               })
        .violations;
  };
  EXPECT_TRUE(violations(true).empty());
  ASSERT_FALSE(violations(false).empty());
  EXPECT_EQ(violations(false).front().law, Law::order_race);
}

TEST(Run, FailsTheAllocationThatIsNamed) {
  Options options;
  options.allocation_failures = {{.rank = 1, .nth = 2}};
  std::vector<std::vector<cudaError_t>> errors(2);
  auto const allocate = [&](int rank) {
    void* memory[3] = {};
    auto& mine = errors[static_cast<std::size_t>(rank)];
    mine.push_back(cudaMalloc(&memory[0], 16));
    mine.push_back(cudaMallocAsync(&memory[1], 16, nullptr));
    mine.push_back(cudaMallocHost(&memory[2], 16));
    EXPECT_EQ(memory[1] == nullptr, rank == 1);
    cudaFree(memory[0]);
    if (memory[1] != nullptr) cudaFreeAsync(memory[1], nullptr);
    cudaFreeHost(memory[2]);
  };
  Report const report = run(2, allocate, options);
  EXPECT_EQ(errors[0], std::vector(3, cudaSuccess));
  EXPECT_EQ(errors[1], (std::vector{cudaSuccess, cudaErrorMemoryAllocation, cudaSuccess}));
  EXPECT_EQ(report.allocation_calls, (std::vector<std::int64_t>{3, 3}));
}

TEST(Explore, StopsAtTheFirstViolation) {
  int runs = 0;
  Report const report = explore(
      1,
      [&](int) {
        Violation violation;
        violation.law = Law::order_race;
        if (++runs == 3) sim::report(violation);
      },
      10);
  EXPECT_EQ(runs, 3);
  EXPECT_FALSE(report.ok());
}

}  // namespace
}  // namespace adamant::sim
