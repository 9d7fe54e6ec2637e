// Several communicators of one rank, as the shards and the replicas of a mesh have them: what works
// side by side, and by which names reports call them.

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/testing/parts.h"

namespace adamant::sim {
namespace {

TEST(NcclSeveral, RowsColumnsAndTheWorldReduceByThemselves) {
  Report const report = run_ranks(4, [](Rank& rank) {
    Mesh const mesh(rank);
    int* const values = rank.device(std::vector<int>(3, 1 << rank.index));
    sum(values, mesh.row, rank.stream);
    sum(values + 1, mesh.column, rank.stream);
    sum(values + 2, rank.comm, rank.stream);
    EXPECT_EQ(rank.host(values, 3),
              (std::vector<int>{rank.index < 2 ? 3 : 12, rank.index % 2 == 0 ? 5 : 10, 15}));
    destroy({mesh.row, mesh.column});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclSeveral, StreamsOfTheirOwnDoNotWaitForEachOther) {
  Report const report = run_ranks(2, [](Rank& rank) {
    Twins const twins(rank);
    cudaStream_t other = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    int* const values = rank.device(std::vector<int>{1, 2});
    if (rank.index == 0) sum(values, twins.a, rank.stream);
    sum(values + 1, twins.b, other);
    if (rank.index == 1) sum(values, twins.a, rank.stream);
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    EXPECT_EQ(rank.host(values, 2), (std::vector<int>{2, 4}));
    EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
    destroy({twins.a, twins.b});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclSeveral, TheParentMayGoFirst) {
  Report const report = run_ranks(4, [](Rank& rank) {
    Mesh const mesh(rank);
    destroy({std::exchange(rank.comm, nullptr)});
    int* const value = rank.device(std::vector<int>{1 << rank.index});
    sum(value, mesh.row, rank.stream);
    EXPECT_EQ(rank.host(value, 1), std::vector<int>{rank.index < 2 ? 3 : 12});
    destroy({mesh.row, mesh.column});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclSeveral, AnAbortedChildLeavesItsParentAndItsSibling) {
  Report const report = run_ranks(4, [](Rank& rank) {
    Mesh const mesh(rank);
    int* const values = rank.device(std::vector<int>{1, 1, 1});
    if (rank.index == 0) sum(values, mesh.row, rank.stream);  // to which rank 1 never comes
    EXPECT_EQ(ncclCommAbort(mesh.row), ncclSuccess);
    sum(values + 1, mesh.column, rank.stream);
    sum(values + 2, rank.comm, rank.stream);
    EXPECT_EQ(rank.host(values + 1, 2), (std::vector<int>{2, 4}));
    destroy({mesh.column});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// Two collectives, and a message beside a collective.
TEST(NcclSeveral, AGroupTakesCallsOfEach) {
  Report const report = run_ranks(4, [](Rank& rank) {
    Mesh const mesh(rank);
    int* const values = rank.device(std::vector<int>(3, 1 << rank.index));
    int* const received = rank.device<int>(1);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    sum(values, mesh.row, rank.stream);
    sum(values + 1, mesh.column, rank.stream);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    int const peer = 1 - rank.index / 2;
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    sum(values + 2, mesh.row, rank.stream);
    EXPECT_EQ(ncclSend(values + 1, 1, ncclInt, peer, mesh.column, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclRecv(received, 1, ncclInt, peer, mesh.column, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    int const of_row = rank.index < 2 ? 3 : 12;
    int const of_column = rank.index % 2 == 0 ? 5 : 10;
    EXPECT_EQ(rank.host(values, 3), (std::vector<int>{of_row, of_column, of_row}));
    EXPECT_EQ(rank.host(received, 1), std::vector<int>{of_column});
    destroy({mesh.row, mesh.column});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclSeveral, AGraphHoldsCallsOfEach) {
  Report const report = run_ranks(4, [](Rank& rank) {
    Mesh const mesh(rank);
    int* const value = rank.device(std::vector<int>{1 << rank.index});
    cudaGraphExec_t const graph = graph_of(rank.stream, [&] {
      sum(value, mesh.row, rank.stream);
      sum(value, mesh.column, rank.stream);
    });
    EXPECT_EQ(cudaGraphLaunch(graph, rank.stream), cudaSuccess);
    EXPECT_EQ(rank.host(value, 1), std::vector<int>{15});
    sum(value, mesh.column, rank.stream);  // eager calls between launches
    EXPECT_EQ(cudaGraphLaunch(graph, rank.stream), cudaSuccess);
    EXPECT_EQ(rank.host(value, 1), std::vector<int>{120});
    EXPECT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
    destroy({mesh.row, mesh.column});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// ---- by which names reports call them -----------------------------------------------------------

TEST(NcclSeveral, AreNamedByTheRanksOfTheWorld) {
  Report const report = run_ranks(4, [](Rank& rank) {
    Mesh const mesh(rank);
    int* const values = rank.device(std::vector<int>{1, 1, 1});
    if (rank.index == 1) sum(values, mesh.column, rank.stream);
    if (rank.index == 3) ncclAllGather(values, values + 1, 1, ncclInt, mesh.column, rank.stream);
    barrier();
  });
  std::string const message = only_message(report, Law::order_collective);
  EXPECT_NE(message.find("as call 0 of communicator 4 (ranks 1 and 3), rank "), std::string::npos)
      << message;
  EXPECT_NE(message.find("rank 3"), std::string::npos) << message;
}

TEST(NcclSeveral, ARankThatIsMissingIsNamedByThatOfTheWorld) {
  Report const report = run_ranks(4, [](Rank& rank) {
    Mesh const mesh(rank);
    int* const value = rank.device(std::vector<int>{1});
    if (rank.index == 1) sum(value, mesh.column, rank.stream);
    cudaStreamSynchronize(rank.stream);
    barrier();
  });
  EXPECT_NE(only_message(report, Law::order_deadlock)
                .find("ncclAllReduce (call 0 of communicator 4 (ranks 1 and 3)) waits; rank 3 has "
                      "issued nothing there"),
            std::string::npos)
      << describe(report);
}

TEST(NcclSeveral, ManyRanksAreNotAllListed) {
  Report const report = run_ranks(21, [](Rank& rank) {
    ncclComm_t const even = part_of(rank, rank.index % 2);
    int* const value = rank.device(std::vector<int>{1});
    if (rank.index == 0) sum(value, even, rank.stream);
    cudaStreamSynchronize(rank.stream);
    barrier();
  });
  EXPECT_NE(only_message(report, Law::order_deadlock)
                .find("communicator 1 (ranks 0, 2, 4, 6, 8, 10, 12 and 4 more)"),
            std::string::npos)
      << describe(report);
}

}  // namespace
}  // namespace adamant::sim
