// Loops of the host that run in parallel: what their threads do to each other's memory, and to what
// copies still use.
#include <latch>
#include <set>
#include <vector>

#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

Side const thread_writes{"a thread of host code", "host", "write"};
Side const thread_reads{"a thread of host code", "host", "read"};

TEST_F(Judge, FindsThreadsThatWriteTheSameElement) {
  judge(
      [](bool right) {
        float* const values = pinned("values");
        parallel_for(3, [&](int chunk) { values[right ? chunk : chunk / 2] = 1.0F; });
        finish();
      },
      {Law::order_race, {thread_writes, thread_writes}, 0, 4});
}

TEST_F(Judge, NamesTheRankWhoseThreadsTheyAre) {
  Report const report = run(2, [](int rank) {
    float* const values = pinned("values");
    parallel_for(3, [&](int chunk) { values[rank == 0 ? chunk : chunk / 2] = 1.0F; });
    finish();
  });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  for (Access const& access : report.violations[0].accesses) EXPECT_EQ(access.rank, 1);
}

TEST_F(Judge, FindsAThreadThatReadsWhatAnotherOneWrites) {
  judge(
      [](bool right) {
        float* const values = pinned("values");
        float volatile seen = 0;
        parallel_for(2, [&](int chunk) {
          if (chunk == 0) values[5] = 1.0F;
          if (chunk == 1) seen = values[right ? 6 : 5];
        });
        finish();
      },
      {Law::order_race, {thread_writes, thread_reads}, 20, 24});
}

TEST_F(Judge, FindsAThreadThatDoesNotWaitForACopy) {
  judge(
      [](bool right) {
        cudaStream_t const stream = new_stream("a");
        float* const data = on_device("data");
        float* const values = pinned("values");
        fill<<<1, 1, 0, stream>>>(data, count, 2.0F);
        cudaMemcpyAsync(values, data, bytes, cudaMemcpyDeviceToHost, stream);
        if (right) cudaStreamSynchronize(stream);
        float volatile seen = 0;
        parallel_for(2, [&](int chunk) {
          if (chunk == 1) seen = values[3];
        });
        finish();
      },
      {Law::order_race, {{"cudaMemcpyAsync of 64 bytes", "a", "write"}, thread_reads}, 12, 16});
}

TEST_F(Judge, FindsACopyThatStartedBeforeTheThreads) {
  judge(
      [](bool right) {
        cudaStream_t const stream = new_stream("a");
        float* const data = on_device("data");
        float* const values = pinned("values");
        auto const copy = [&] {
          cudaMemcpyAsync(data, values, bytes, cudaMemcpyHostToDevice, stream);
        };
        if (!right) copy();
        parallel_for(2, [&](int chunk) {
          if (chunk == 0) values[0] = 2.0F;
        });
        if (right) copy();
        finish();
      },
      {Law::order_race, {{"cudaMemcpyAsync of 64 bytes", "a", "read"}, thread_writes}, 0, 4});
}

// What comes before the loop and after it is ordered, loop after loop.
TEST(ParallelFor, IsOrderedWithTheHostAroundIt) {
  Report const report = explore(
      2,
      [](int) {
        float* const values = pinned("values");
        for (int round = 0; round < 3; ++round) {
          parallel_for(4, [&](int chunk) { values[(chunk + round) % 4] += 1.0F; });
          for (int i = 0; i < 4; ++i) values[i] += 1.0F;
        }
        EXPECT_EQ(values[2], 2.0F + 3 * 2.0F);
      },
      20);
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(ParallelFor, RunsItsThreadsInEveryOrder) {
  if (!can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<int> order;
    run(
        1, [&](int) { parallel_for(3, [&](int chunk) { order.push_back(chunk); }); },
        random_options(seed));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6U);
}

TEST(ParallelFor, RefusesCallsOfItsThreads) {
  if (!can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  run(1, [](int) {
    parallel_for(1, [](int) {
      void* memory = nullptr;
      EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorNotPermitted);
    });
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  });
}

// Every chunk waits for all others, so that each thread runs one.
void expect_refusals_of_threads(int threads) {
  std::latch all_are_there(threads);
  parallel_for(threads, [&](int) {
    all_are_there.arrive_and_wait();
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorNotPermitted);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  });
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(ParallelFor, RefusesCallsOfItsThreadsWhereNobodyChecks) {
  for (int const threads : {1, 2}) {
    Options options;
    options.checked = false;
    options.threads = threads;
    Report const report = run(
        1, [&](int) { expect_refusals_of_threads(threads); }, options);
    EXPECT_TRUE(report.warnings.empty()) << describe(report);
  }
}

TEST(ParallelFor, VisitsEveryChunkOnceWhereNobodyChecks) {
  Options options;
  options.checked = false;
  options.threads = 2;
  run(
      1,
      [](int) {
        std::vector<int> visits(100, 0);
        parallel_for(100, [&](int chunk) { ++visits[static_cast<std::size_t>(chunk)]; });
        EXPECT_EQ(visits, std::vector<int>(100, 1));
        parallel_for(0, [&](int) { ADD_FAILURE(); });
      },
      options);
}

}  // namespace
}  // namespace adamant::sim
