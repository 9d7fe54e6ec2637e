// Collectives through the public calls: values, places, order, groups, and what goes wrong.

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "sim/testing/ranks.h"

namespace adamant::sim {
namespace {

TEST(NcclCollective, AllReduceGivesEveryRankTheSum) {
  Report const report = run_ranks(3, [](Rank& rank) {
    std::vector<float> const mine = {1.0F + static_cast<float>(rank.index), 10.0F, -2.0F, 0.5F};
    float* const send = rank.device(mine);
    float* const receive = rank.device<float>(4);
    EXPECT_EQ(ncclAllReduce(send, receive, 4, ncclFloat, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(rank.host(receive, 4), (std::vector<float>{6.0F, 30.0F, -6.0F, 1.5F}));
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCollective, AllGatherLaysTheRanksSideBySide) {
  Report const report = run_ranks(4, [](Rank& rank) {
    int* const send = rank.device(std::vector<int>{rank.index, rank.index + 100});
    int* const receive = rank.device<int>(8);
    EXPECT_EQ(ncclAllGather(send, receive, 2, ncclInt, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(rank.host(receive, 8), (std::vector<int>{0, 100, 1, 101, 2, 102, 3, 103}));
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCollective, ReduceScatterGivesEachRankItsPart) {
  Report const report = run_ranks(3, [](Rank& rank) {
    std::vector<double> mine(6);
    std::iota(mine.begin(), mine.end(), rank.index);
    double* const send = rank.device(mine);
    double* const receive = rank.device<double>(2);
    EXPECT_EQ(ncclReduceScatter(send, receive, 2, ncclDouble, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    double const first = 3.0 * 2 * rank.index + 3;
    EXPECT_EQ(rank.host(receive, 2), (std::vector<double>{first, first + 3}));
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCollective, BroadcastAndReduceHaveTheirRootOnly) {
  Report const report = run_ranks(3, [](Rank& rank) {
    bool const is_root = rank.index == 2;
    int* const own = rank.device(std::vector<int>{rank.index + 1});
    int* const all = rank.device<int>(1);
    EXPECT_EQ(ncclBroadcast(is_root ? own : nullptr, all, 1, ncclInt, 2, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(rank.host(all, 1), std::vector<int>{3});
    int* const sum = is_root ? rank.device<int>(1) : nullptr;
    EXPECT_EQ(ncclReduce(own, sum, 1, ncclInt, ncclSum, 2, rank.comm, rank.stream), ncclSuccess);
    if (is_root) {
      EXPECT_EQ(rank.host(sum, 1), std::vector<int>{6});
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCollective, OfOneRankIsIssuedAtTheCallInAGroupToo) {
  Report const report = run_ranks(1, [](Rank& rank) {
    int* const send = rank.device(std::vector<int>{7});
    int* const receive = rank.device(std::vector<int>{0});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclAllGather(send, receive, 1, ncclInt, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(rank.host(receive, 1), std::vector<int>{7});
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCollective, WorksInPlace) {
  Report const report = run_ranks(3, [](Rank& rank) {
    auto const mine = static_cast<std::size_t>(rank.index);
    std::vector<int> start(3, 0);
    start[mine] = rank.index + 1;
    int* const slots = rank.device(start);
    EXPECT_EQ(ncclAllGather(slots + mine, slots, 1, ncclInt, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(rank.host(slots, 3), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(ncclReduceScatter(slots, slots + mine, 1, ncclInt, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(rank.host(slots, 3)[mine], 3 * (rank.index + 1));
    EXPECT_EQ(ncclAllReduce(slots, slots, 3, ncclInt, ncclMax, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(rank.host(slots, 3), (std::vector<int>{3, 6, 9}));
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// Of small messages all parts are reduced together, of large ones each by itself.
TEST(NcclCollective, ReduceScatterInPlaceWritesOnlyItsOwnSlot) {
  for (std::size_t const count : {std::size_t{1}, std::size_t{7}, std::size_t{20'000}}) {
    Report const report = run_ranks(3, [&](Rank& rank) {
      auto const own = static_cast<std::size_t>(rank.index);
      std::vector<float> mine(3 * count);
      for (std::size_t i = 0; i < mine.size(); ++i) {
        mine[i] = static_cast<float>((i % 1000) * 4 + own);
      }
      float* const slots = rank.device(mine);
      EXPECT_EQ(ncclReduceScatter(slots, slots + own * count, count, ncclFloat, ncclSum, rank.comm,
                                  rank.stream),
                ncclSuccess);
      std::vector<float> expected = mine;
      for (std::size_t i = own * count; i < (own + 1) * count; ++i) {
        expected[i] = static_cast<float>(3 * (i % 1000) * 4 + 0 + 1 + 2);
      }
      EXPECT_EQ(rank.host(slots, 3 * count), expected);
    });
    EXPECT_TRUE(report.ok()) << describe(report);
  }
}

TEST(NcclCollective, MovesNothingForACountOfZero) {
  Report const report = run_ranks(2, [](Rank& rank) {
    EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
    // Not even matched: one rank alone may ask for nothing.
    if (rank.index == 0) {
      EXPECT_EQ(ncclAllGather(nullptr, nullptr, 0, ncclInt, rank.comm, rank.stream), ncclSuccess);
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.operations, 0U);
}

TEST(NcclCollective, RefusesWrongArgumentsAtOnce) {
  Report const report = run_ranks(2, [](Rank& rank) {
    float* const buffer = rank.device<float>(8);
    float outside = 0;
    auto const sum = [&](void const* send, void* receive, int type, int op) {
      return ncclAllReduce(send, receive, 4, static_cast<ncclDataType_t>(type),
                           static_cast<ncclRedOp_t>(op), rank.comm, rank.stream);
    };
    EXPECT_EQ(sum(nullptr, buffer, ncclFloat, ncclSum), ncclInvalidArgument);
    EXPECT_EQ(sum(buffer, nullptr, ncclFloat, ncclSum), ncclInvalidArgument);
    EXPECT_EQ(sum(&outside, buffer, ncclFloat, ncclSum), ncclInvalidArgument);
    EXPECT_EQ(sum(buffer, buffer + 4, 99, ncclSum), ncclInvalidArgument);
    EXPECT_EQ(sum(buffer, buffer + 4, ncclFloat, 99), ncclInvalidArgument);
    EXPECT_EQ(sum(buffer, buffer + 4, ncclFloat8e4m3, ncclSum), ncclInvalidArgument);
    EXPECT_EQ(sum(buffer, buffer + 1, ncclFloat, ncclSum), ncclInvalidArgument);  // overlap
    EXPECT_EQ(ncclBroadcast(buffer, buffer, 4, ncclFloat, 2, rank.comm, rank.stream),
              ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(buffer, buffer, 4, ncclFloat, ncclSum, nullptr, rank.stream),
              ncclInvalidArgument);
    EXPECT_STRNE(ncclGetLastError(rank.comm), "");
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCollective, AllStreamsOfAGroupWaitForAllOfIt) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const first = rank.device(std::vector<int>{1});
    int* const second = rank.device(std::vector<int>{2});
    int* const copied = rank.device(std::vector<int>{0});
    cudaStream_t other = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    ncclAllReduce(first, first, 1, ncclInt, ncclSum, rank.comm, rank.stream);
    ncclAllReduce(second, second, 1, ncclInt, ncclSum, rank.comm, other);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(cudaMemcpyAsync(copied, first, sizeof(int), cudaMemcpyDefault, other), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    EXPECT_EQ(rank.host(copied, 1), std::vector<int>{2});
    EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCollective, MessagesOfAPairArriveInTheirOrder) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const values = rank.device(std::vector<int>{10 * rank.index + 1, 10 * rank.index + 2});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < 2; ++i) {
      if (rank.index == 0) {
        ncclSend(values + i, 1, ncclInt, 1, rank.comm, rank.stream);
      } else {
        ncclRecv(values + i, 1, ncclInt, 0, rank.comm, rank.stream);
      }
    }
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(rank.host(values, 2), (std::vector<int>{1, 2}));
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

}  // namespace
}  // namespace adamant::sim
