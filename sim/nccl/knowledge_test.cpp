// No more order than NCCL promises: whom a collective or a message orders after whom, and whom not.
// What is not ordered is a race even in a run where nothing happens to go wrong.

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <functional>
#include <string>

#include "sim/testing/judging.h"
#include "sim/testing/ranks.h"

namespace adamant::sim {
namespace {

class NcclKnowledge : public Judge {};

constexpr int writer = 0;
constexpr int reader = 1;

/// The writer's stream writes host memory that both reach, then all ranks make the call, then the
/// reader's stream reads it. Does the call order the one after the other?
bool orders(std::function<ncclResult_t(Rank&, int* buffer)> const& call) {
  int* shared = nullptr;
  Report const report = run_ranks(3, [&](Rank& rank) {
    int* const buffer = rank.device(std::vector<int>{1, 2, 3});
    int* const copy = rank.device<int>(1);
    if (rank.index == writer) {
      EXPECT_EQ(cudaMallocHost(reinterpret_cast<void**>(&shared), sizeof(int)), cudaSuccess);
      *shared = 0;
    }
    barrier();
    if (rank.index == writer) cudaMemsetAsync(shared, 1, sizeof(int), rank.stream);
    EXPECT_EQ(call(rank, buffer), ncclSuccess);
    if (rank.index == reader)
      cudaMemcpyAsync(copy, shared, sizeof(int), cudaMemcpyDefault, rank.stream);
    cudaStreamSynchronize(rank.stream);
    barrier();
    if (rank.index == writer) cudaFreeHost(shared);
  });
  for (Violation const& found : report.violations)
    EXPECT_EQ(found.law, Law::order_race) << describe(report);
  return report.ok();
}

bool reduce_orders(int root) {
  return orders([&](Rank& rank, int* buffer) {
    return ncclReduce(buffer, buffer, 1, ncclInt, ncclSum, root, rank.comm, rank.stream);
  });
}

bool broadcast_orders(int root) {
  return orders([&](Rank& rank, int* buffer) {
    return ncclBroadcast(buffer, buffer, 1, ncclInt, root, rank.comm, rank.stream);
  });
}

bool message_orders(int from, int to) {
  return orders([&](Rank& rank, int* buffer) {
    if (rank.index == from) return ncclSend(buffer, 1, ncclInt, to, rank.comm, rank.stream);
    if (rank.index == to) return ncclRecv(buffer, 1, ncclInt, from, rank.comm, rank.stream);
    return ncclSuccess;
  });
}

TEST_F(NcclKnowledge, AllThatTakeFromAllAreOrderedAfterAll) {
  EXPECT_TRUE(orders([](Rank& rank, int* buffer) {
    return ncclAllReduce(buffer, buffer, 1, ncclInt, ncclSum, rank.comm, rank.stream);
  }));
  EXPECT_TRUE(orders([](Rank& rank, int* buffer) {
    return ncclAllGather(buffer + rank.index, buffer, 1, ncclInt, rank.comm, rank.stream);
  }));
  EXPECT_TRUE(orders([](Rank& rank, int* buffer) {
    return ncclReduceScatter(buffer, buffer + rank.index, 1, ncclInt, ncclSum, rank.comm,
                             rank.stream);
  }));
}

TEST_F(NcclKnowledge, OfAReductionTheRootAloneIsOrderedAfterOthers) {
  EXPECT_TRUE(reduce_orders(/*root=*/reader));
  EXPECT_FALSE(reduce_orders(/*root=*/writer));
  EXPECT_FALSE(reduce_orders(/*root=*/2));
}

TEST_F(NcclKnowledge, OfABroadcastAllAreOrderedAfterTheRootAlone) {
  EXPECT_TRUE(broadcast_orders(/*root=*/writer));
  EXPECT_FALSE(broadcast_orders(/*root=*/reader));
  EXPECT_FALSE(broadcast_orders(/*root=*/2));
}

TEST_F(NcclKnowledge, AReceiverIsOrderedAfterTheSenderAndNotTheOtherWay) {
  EXPECT_TRUE(message_orders(writer, reader));
  EXPECT_FALSE(message_orders(reader, writer));
}

// ---- what touches nothing -----------------------------------------------------------------------

TEST_F(NcclKnowledge, AMessageToOneselfInPlaceTouchesNothing) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const buffer = rank.device(std::vector<int>{rank.index + 7});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclSend(buffer, 1, ncclInt, rank.index, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclRecv(buffer, 1, ncclInt, rank.index, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(rank.host(buffer, 1), std::vector<int>{rank.index + 7});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST_F(NcclKnowledge, AMessageToOneselfThatOverlapsIsARace) {
  Report const report = run_ranks(1, [](Rank& rank) {
    int* const buffer = rank.device(std::vector<int>{1, 2, 3});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclSend(buffer, 2, ncclInt, 0, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclRecv(buffer + 1, 2, ncclInt, 0, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  });
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.violations[0].law, Law::order_race) << describe(report);
}

}  // namespace
}  // namespace adamant::sim
