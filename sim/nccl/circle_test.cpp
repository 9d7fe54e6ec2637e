// The circles in which ranks wait for each other, where they use several communicators in different
// orders: the whole circle is told, and once.

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/testing/parts.h"

namespace adamant::sim {
namespace {

// What a deadlock's report says of the circle, under each of some schedules.
void expect_circle(int ranks, std::function<void(Rank&)> const& body, std::string const& circle) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Options options;
    options.schedule = {.strategy = Strategy::random, .seed = seed};
    options.announce = false;
    std::string const message = only_message(run_ranks(ranks, body, options), Law::order_deadlock);
    std::size_t const at = message.find("\n  the circle: ");
    ASSERT_NE(at, std::string::npos) << message;
    EXPECT_EQ(message.substr(at + 15), circle) << message;
  }
}

TEST(NcclCircle, OfTwoRanksThatCallTwoCommunicatorsInDifferentOrders) {
  auto const body = [](Rank& rank) {
    Twins const twins(rank);
    name_stream(rank.stream, "comm");
    int* const values = rank.device(std::vector<int>{1, 1, 1});
    if (rank.index == 0) sum(values, twins.a, rank.stream);
    ncclReduceScatter(values, values + rank.index, 1, ncclInt, ncclSum, twins.b, rank.stream);
    if (rank.index == 1) sum(values + 2, twins.a, rank.stream);
    cudaStreamSynchronize(rank.stream);
  };
  expect_circle(2, body,
                "rank 0's stream `comm` is at ncclAllReduce (call 0 of communicator 1), which "
                "waits for rank 1, whose stream `comm` is at ncclReduceScatter (call 0 of "
                "communicator 2) first, which waits for rank 0");
}

TEST(NcclCircle, OfThreeRanksAndThreeCommunicators) {
  auto const body = [](Rank& rank) {
    name_stream(rank.stream, "s");
    std::vector<ncclComm_t> pairs;  // of ranks i and i + 1; the rank that is in none gets none
    for (int i = 0; i < 3; ++i)
      pairs.push_back(part_of(rank, rank.index == (i + 2) % 3 ? NCCL_SPLIT_NOCOLOR : 0));
    int* const values = rank.device(std::vector<int>{1, 1});
    auto const own = static_cast<std::size_t>(rank.index);
    sum(values, pairs[own], rank.stream);
    sum(values + 1, pairs[(own + 2) % 3], rank.stream);
    cudaStreamSynchronize(rank.stream);
  };
  expect_circle(3, body,
                "rank 0's stream `s` is at ncclAllReduce (call 0 of communicator 1), which waits "
                "for rank 1, whose stream `s` is at ncclAllReduce (call 0 of communicator 2) "
                "first, which waits for rank 2, whose stream `s` is at ncclAllReduce (call 0 of "
                "communicator 3) first, which waits for rank 0");
}

TEST(NcclCircle, OfAMeshWhoseRanksBeginWithRowsOrWithColumns) {
  auto const body = [](Rank& rank) {
    Mesh const mesh(rank);
    name_stream(rank.stream, "s");
    bool const row_first = rank.index == 0 || rank.index == 3;
    int* const values = rank.device(std::vector<int>{1, 1});
    sum(values, row_first ? mesh.row : mesh.column, rank.stream);
    sum(values + 1, row_first ? mesh.column : mesh.row, rank.stream);
    cudaStreamSynchronize(rank.stream);
  };
  expect_circle(4, body,
                "rank 0's stream `s` is at ncclAllReduce (call 0 of communicator 1), which waits "
                "for rank 1, whose stream `s` is at ncclAllReduce (call 0 of communicator 4) "
                "first, which waits for rank 3, whose stream `s` is at ncclAllReduce (call 0 of "
                "communicator 2) first, which waits for rank 2, whose stream `s` is at "
                "ncclAllReduce (call 0 of communicator 3) first, which waits for rank 0");
}

TEST(NcclCircle, OfHostsThatWaitBeforeTheyIssueWhatTheOtherWaitsFor) {
  auto const body = [](Rank& rank) {
    Twins const twins(rank);
    name_stream(rank.stream, "comm");
    int* const values = rank.device(std::vector<int>{1, 1});
    sum(values, rank.index == 0 ? twins.a : twins.b, rank.stream);
    cudaStreamSynchronize(rank.stream);
    sum(values + 1, rank.index == 0 ? twins.b : twins.a, rank.stream);
  };
  expect_circle(2, body,
                "rank 0 waits in cudaStreamSynchronize for its stream `comm`, which is at "
                "ncclAllReduce (call 0 of communicator 1), which waits for rank 1, which waits in "
                "cudaStreamSynchronize for its stream `comm`, which is at ncclAllReduce (call 0 "
                "of communicator 2), which waits for rank 0");
}

TEST(NcclCircle, ThroughAnEventBetweenTwoStreams) {
  auto const body = [](Rank& rank) {
    Twins const twins(rank);
    cudaStream_t other = nullptr;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    name_stream(rank.stream, "first");
    name_stream(other, "second");
    cudaEvent_t event = nullptr;
    cudaEventCreate(&event);
    int* const values = rank.device(std::vector<int>{1, 1});
    if (rank.index == 1) sum(values + 1, twins.b, rank.stream);
    sum(values, twins.a, rank.stream);
    if (rank.index == 0) {
      cudaEventRecord(event, rank.stream);
      cudaStreamWaitEvent(other, event, 0);
      sum(values + 1, twins.b, other);
    }
    cudaStreamSynchronize(rank.stream);
  };
  expect_circle(2, body,
                "rank 0's stream `first` is at ncclAllReduce (call 0 of communicator 1), which "
                "waits for rank 1, whose stream `first` is at ncclAllReduce (call 0 of "
                "communicator 2) first, which waits for rank 0, whose stream `second` is at "
                "cudaStreamWaitEvent first, which waits for rank 0's stream `first`");
}

// Source: NCCL user guide, "Group Operation Ordering Semantics": within a group, too, all ranks
// issue in one order, whether to the same or to different communicators.
TEST(NcclCircle, OfOneGroupWithTwoCommunicatorsInDifferentOrders) {
  auto const body = [](Rank& rank) {
    Twins const twins(rank);
    name_stream(rank.stream, "s");
    int* const values = rank.device(std::vector<int>{1, 1});
    ncclGroupStart();
    sum(values, rank.index == 0 ? twins.a : twins.b, rank.stream);
    sum(values + 1, rank.index == 0 ? twins.b : twins.a, rank.stream);
    ncclGroupEnd();
    cudaStreamSynchronize(rank.stream);
  };
  expect_circle(2, body,
                "rank 0's stream `s` is at ncclAllReduce (call 0 of communicator 1), which waits "
                "for rank 1, whose stream `s` is at ncclAllReduce (call 0 of communicator 2) "
                "first, which waits for rank 0");
}

TEST(NcclCircle, OfGraphsThatHoldTwoCommunicatorsInDifferentOrders) {
  auto const body = [](Rank& rank) {
    Twins const twins(rank);
    name_stream(rank.stream, "s");
    int* const values = rank.device(std::vector<int>{1, 1});
    cudaGraphExec_t const graph = graph_of(rank.stream, [&] {
      sum(values, rank.index == 0 ? twins.a : twins.b, rank.stream);
      sum(values + 1, rank.index == 0 ? twins.b : twins.a, rank.stream);
    });
    cudaGraphLaunch(graph, rank.stream);
    cudaStreamSynchronize(rank.stream);
  };
  expect_circle(2, body,
                "rank 0's stream `s` is at ncclAllReduce (call 0 of communicator 1), which waits "
                "for rank 1, whose stream `s` is at ncclAllReduce (call 0 of communicator 2) "
                "first, which waits for rank 0");
}

TEST(NcclCircle, OfMessagesThatBothSendFirst) {
  auto const body = [](Rank& rank) {
    name_stream(rank.stream, "s");
    int* const own = rank.device(std::vector<int>{rank.index});
    ncclSend(own, 1, ncclInt, 1 - rank.index, rank.comm, rank.stream);
    ncclRecv(own, 1, ncclInt, 1 - rank.index, rank.comm, rank.stream);
    cudaStreamSynchronize(rank.stream);
  };
  expect_circle(2, body,
                "rank 0's stream `s` is at ncclSend (from rank 0 to rank 1 of communicator 0), "
                "which waits for rank 1, whose stream `s` is at ncclSend (from rank 1 to rank 0 "
                "of communicator 0) first, which waits for rank 0");
}

TEST(NcclCircle, OfHostsThatDestroyTwoCommunicatorsInDifferentOrders) {
  auto const body = [](Rank& rank) {
    Twins const twins(rank);
    ncclCommDestroy(rank.index == 0 ? twins.a : twins.b);
  };
  expect_circle(2, body,
                "rank 0 waits in ncclCommDestroy for rank 1, which waits in ncclCommDestroy for "
                "rank 0");
}

TEST(NcclCircle, OfADestroyThatWaitsForItsOwnCalls) {
  auto const body = [](Rank& rank) {
    Twins const twins(rank);
    name_stream(rank.stream, "s");
    int* const value = rank.device(std::vector<int>{1});
    sum(value, rank.index == 0 ? twins.a : twins.b, rank.stream);
    ncclCommDestroy(rank.index == 0 ? twins.a : twins.b);
  };
  expect_circle(2, body,
                "rank 0 waits in ncclCommDestroy for its stream `s`, which is at ncclAllReduce "
                "(call 0 of communicator 1), which waits for rank 1, which waits in "
                "ncclCommDestroy for its stream `s`, which is at ncclAllReduce (call 0 of "
                "communicator 2), which waits for rank 0");
}

TEST(NcclCircle, OfAHostAtABarrierThatAnotherSplitsWithout) {
  auto const body = [](Rank& rank) {
    ncclComm_t part = nullptr;
    if (rank.index == 1) barrier();
    ncclCommSplit(rank.comm, 0, 0, &part, nullptr);
    if (rank.index == 0) barrier();
  };
  expect_circle(2, body,
                "rank 0 waits in ncclCommSplit for rank 1, which waits in barrier() for rank 0");
}

TEST(NcclCircle, OfStreamsWhoseHostsHaveEnded) {
  ncclUniqueId id;
  Options options;
  options.announce = false;
  Report const report = run(
      2,
      [&](int index) {
        if (index == 0) ncclGetUniqueId(&id);
        barrier();
        Rank rank;
        rank.index = index;
        ncclCommInitRank(&rank.comm, 2, id, index);
        Twins const twins(rank);
        cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking);
        void* value = nullptr;
        cudaMallocAsync(&value, sizeof(int), rank.stream);
        sum(static_cast<int*>(value), index == 0 ? twins.a : twins.b, rank.stream);
        sum(static_cast<int*>(value), index == 0 ? twins.b : twins.a, rank.stream);
      },
      options);
  std::string circles;
  for (Violation const& violation : report.violations) {
    std::size_t const at = violation.message.find("\n  the circle: ");
    if (at != std::string::npos) circles += violation.message.substr(at);
  }
  EXPECT_EQ(circles,
            "\n  the circle: rank 0's stream `stream 1` is at ncclAllReduce (call 0 of "
            "communicator 1), which waits for rank 1, whose stream `stream 1` is at ncclAllReduce "
            "(call 0 of communicator 2) first, which waits for rank 0")
      << describe(report);
}

TEST(NcclCircle, IsNotWhereOneRankNeverComes) {
  Report const report = run_ranks(4, [](Rank& rank) {
    Mesh const mesh(rank);
    int* const value = rank.device(std::vector<int>{1});
    if (rank.index != 3) sum(value, mesh.column, rank.stream);
    if (rank.index == 3) ncclCommAbort(std::exchange(rank.comm, nullptr));  // and ends
    destroy({mesh.row});
  });
  EXPECT_EQ(only_message(report, Law::order_deadlock).find("the circle"), std::string::npos)
      << describe(report);
}

}  // namespace
}  // namespace adamant::sim
