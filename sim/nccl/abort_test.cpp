// What becomes of a communicator's calls, and of the other ranks, when one rank aborts it.

#include "sim/testing/ranks.h"

namespace adamant::sim {
namespace {

TEST(NcclAbort, AbortLetsStreamsGoOnWithoutTheOthers) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const value = rank.device(std::vector<int>{1});
    if (rank.index == 0) {
      EXPECT_EQ(ncclAllReduce(value, value, 1, ncclInt, ncclSum, rank.comm, rank.stream),
                ncclSuccess);
    }
    EXPECT_EQ(ncclCommAbort(rank.comm), ncclSuccess);
    rank.comm = nullptr;
    EXPECT_EQ(cudaStreamSynchronize(rank.stream), cudaSuccess);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// All may have come, and nobody have begun yet, when one leaves: from then on nothing may move.
TEST(NcclAbort, AbortLeavesNothingToMoveLater) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Options options;
    options.schedule = {.strategy = Strategy::random, .seed = seed};
    Report const report = run_ranks(
        2,
        [](Rank& rank) {
          int* const value = rank.device(std::vector<int>{1});
          int* const sum = rank.device(std::vector<int>{0});
          EXPECT_EQ(ncclAllReduce(value, sum, 1, ncclInt, ncclSum, rank.comm, rank.stream),
                    ncclSuccess);
          if (rank.index == 0) barrier();
          EXPECT_EQ(ncclCommAbort(rank.comm), ncclSuccess);
          rank.comm = nullptr;
          std::vector<int> const then = rank.host(sum, 1);
          settle();
          EXPECT_EQ(rank.host(sum, 1), then);
          if (rank.index == 1) barrier();
        },
        options);
    EXPECT_TRUE(report.ok()) << describe(report);
  }
}

TEST(NcclAbort, TellsWhoPollsThatAnotherRankHasAborted) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const value = rank.device(std::vector<int>{1});
    ncclResult_t state = ncclSuccess;
    if (rank.index == 1) {
      ncclAllReduce(value, value, 1, ncclInt, ncclSum, rank.comm, rank.stream);
      while (cudaStreamQuery(rank.stream) == cudaErrorNotReady && state == ncclSuccess) {
        EXPECT_EQ(ncclCommGetAsyncError(rank.comm, &state), ncclSuccess);
      }
      EXPECT_EQ(state, ncclRemoteError);
    }
    EXPECT_EQ(ncclCommAbort(rank.comm), ncclSuccess);
    rank.comm = nullptr;
    EXPECT_EQ(cudaStreamSynchronize(rank.stream), cudaSuccess);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclAbort, IsNotLeftWhileAnAbortedRankIsWaitedFor) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const value = rank.device(std::vector<int>{1});
    if (rank.index == 1) {
      ncclAllReduce(value, value, 1, ncclInt, ncclSum, rank.comm, rank.stream);
      ncclCommDestroy(rank.comm);
    } else {
      ncclCommAbort(rank.comm);
    }
    rank.comm = nullptr;
  });
  EXPECT_TRUE(mentions(report, Law::order_deadlock,
                       "rank 1 waits in ncclCommDestroy for 1 of its own calls on communicator 0 "
                       "of 2 ranks, of which rank 0 has aborted"))
      << describe(report);
}

TEST(NcclAbort, AbortLetsOthersLeave) {
  Report const report = run_ranks(3, [](Rank& rank) {
    bool const aborts = rank.index == 1;
    EXPECT_EQ(aborts ? ncclCommAbort(rank.comm) : ncclCommDestroy(rank.comm), ncclSuccess);
    rank.comm = nullptr;
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclAbort, LeavesAnythingInWhatAnAbortedRootReceives) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const own = rank.device(std::vector<int>{1});
    int* const received = rank.device<int>(1);
    if (rank.index == 0) {
      EXPECT_EQ(ncclBroadcast(own, received, 1, ncclInt, 0, rank.comm, rank.stream), ncclSuccess);
    }
    EXPECT_EQ(ncclCommAbort(rank.comm), ncclSuccess);
    rank.comm = nullptr;
    if (rank.index == 0) {
      EXPECT_EQ(rank.host(received, 1).size(), 1U);
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// Another stream reads a part, unordered, while the call that gathers in place is abandoned.
Report read_beside_aborted_gather(int part) {
  return run_ranks(2, [part](Rank& rank) {
    int* const all = rank.device(std::vector<int>{1, 2});
    cudaStream_t other = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    int* const copy = rank.device(std::vector<int>{0});
    if (rank.index == 0) {
      EXPECT_EQ(ncclAllGather(all, all, 1, ncclInt, rank.comm, rank.stream), ncclSuccess);
      EXPECT_EQ(cudaMemcpyAsync(copy, all + part, sizeof(int), cudaMemcpyDeviceToDevice, other),
                cudaSuccess);
    }
    EXPECT_EQ(ncclCommAbort(rank.comm), ncclSuccess);
    rank.comm = nullptr;
    EXPECT_EQ(cudaStreamSynchronize(rank.stream), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  });
}

TEST(NcclAbort, LeavesTheOwnPartOfAnAbortedGatherInPlace) {
  Report const own = read_beside_aborted_gather(0);
  EXPECT_TRUE(own.ok()) << describe(own);
  Report const others = read_beside_aborted_gather(1);
  ASSERT_EQ(others.violations.size(), 1U) << describe(others);
  EXPECT_EQ(others.violations[0].law, Law::order_race);
}

TEST(NcclAbort, LeavesAnythingInWhatAnAbortedCallReceives) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const own = rank.device(std::vector<int>{1});
    int* const sum = rank.device<int>(1);
    if (rank.index == 0) {
      EXPECT_EQ(ncclAllReduce(own, sum, 1, ncclInt, ncclSum, rank.comm, rank.stream), ncclSuccess);
    }
    EXPECT_EQ(ncclCommAbort(rank.comm), ncclSuccess);
    rank.comm = nullptr;
    if (rank.index == 0) {
      EXPECT_EQ(rank.host(sum, 1).size(), 1U);  // whatever it is
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

}  // namespace
}  // namespace adamant::sim
