// Collectives in graphs: captured on every rank, matched anew by each launch.

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/testing/ranks.h"

namespace adamant::sim {
namespace {

/// What is enqueued, as a graph, which goes before the communicator does.
class Captured {
 public:
  Captured(cudaStream_t stream, std::function<void()> const& enqueue) {
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    enqueue();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec_, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
  ~Captured() { cudaGraphExecDestroy(exec_); }
  Captured(Captured const&) = delete;
  Captured& operator=(Captured const&) = delete;
  operator cudaGraphExec_t() const { return exec_; }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

TEST(NcclGraph, EachLaunchReducesAgain) {
  Report const report = run_ranks(3, [](Rank& rank) {
    float* const value = rank.device(std::vector<float>{1.0F});
    Captured const graph(rank.stream, [&] {
      EXPECT_EQ(ncclAllReduce(value, value, 1, ncclFloat, ncclSum, rank.comm, rank.stream),
                ncclSuccess);
    });
    EXPECT_EQ(rank.host(value, 1), std::vector<float>{1.0F});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(graph, rank.stream), cudaSuccess);
    EXPECT_EQ(rank.host(value, 1), std::vector<float>{27.0F});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclGraph, EagerAndCapturedCollectivesTakeTurns) {
  Report const report = run_ranks(2, [](Rank& rank) {
    float* const value = rank.device(std::vector<float>{1.0F});
    auto const reduce = [&] {
      EXPECT_EQ(ncclAllReduce(value, value, 1, ncclFloat, ncclSum, rank.comm, rank.stream),
                ncclSuccess);
    };
    Captured const graph(rank.stream, reduce);
    reduce();
    EXPECT_EQ(cudaGraphLaunch(graph, rank.stream), cudaSuccess);
    reduce();
    EXPECT_EQ(rank.host(value, 1), std::vector<float>{8.0F});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclGraph, MessagesOfAGroupRunBesideEachOther) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int const peer = 1 - rank.index;
    int* const own = rank.device(std::vector<int>{rank.index + 5});
    int* const other = rank.device<int>(1);
    Captured const graph(rank.stream, [&] {
      EXPECT_EQ(ncclGroupStart(), ncclSuccess);
      EXPECT_EQ(ncclSend(own, 1, ncclInt, peer, rank.comm, rank.stream), ncclSuccess);
      EXPECT_EQ(ncclRecv(other, 1, ncclInt, peer, rank.comm, rank.stream), ncclSuccess);
      EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    });
    EXPECT_EQ(cudaGraphLaunch(graph, rank.stream), cudaSuccess);
    EXPECT_EQ(rank.host(other, 1), std::vector<int>{peer + 5});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclGraph, ACollectiveIsCapturedByAllRanksOrByNone) {
  Report const report = run_ranks(2, [](Rank& rank) {
    float* const value = rank.device(std::vector<float>{1.0F});
    auto const reduce = [&] {
      ncclAllReduce(value, value, 1, ncclFloat, ncclSum, rank.comm, rank.stream);
    };
    if (rank.index == 1) return reduce();
    cudaGraphLaunch(Captured(rank.stream, reduce), rank.stream);
  });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].law, Law::order_collective);
}

TEST(NcclGraph, ALaunchThatOneRankLeavesOutIsADeadlock) {
  Report const report = run_ranks(2, [](Rank& rank) {
    float* const value = rank.device(std::vector<float>{1.0F});
    Captured const graph(rank.stream, [&] {
      ncclAllReduce(value, value, 1, ncclFloat, ncclSum, rank.comm, rank.stream);
    });
    if (rank.index == 0) cudaGraphLaunch(graph, rank.stream);
  });
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.violations[0].law, Law::order_deadlock) << describe(report);
}

// One host, two devices, a capture for each, one group around the calls of both.
TEST(NcclGraph, AHostCapturesTheCallsOfItsDevicesInOneGroup) {
  Options options;
  options.devices = 2;
  Report const report = run(
      1,
      [](int) {
        ncclComm_t comms[2] = {};
        int* values[2] = {};
        cudaStream_t streams[2] = {};
        EXPECT_EQ(ncclCommInitAll(comms, 2, nullptr), ncclSuccess);
        for (int i = 0; i < 2; ++i) {
          cudaSetDevice(i);
          cudaMalloc(reinterpret_cast<void**>(&values[i]), sizeof(int));
          int const start = i + 1;
          cudaMemcpy(values[i], &start, sizeof start, cudaMemcpyHostToDevice);
          cudaDeviceSynchronize();
          cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
        }
        for (cudaStream_t const stream : streams)
          EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        EXPECT_EQ(ncclGroupStart(), ncclSuccess);
        for (int i = 0; i < 2; ++i)
          ncclAllReduce(values[i], values[i], 1, ncclInt, ncclSum, comms[i], streams[i]);
        EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
        cudaGraph_t graphs[2] = {};
        cudaGraphExec_t execs[2] = {};
        for (int i = 0; i < 2; ++i)
          EXPECT_EQ(cudaStreamEndCapture(streams[i], &graphs[i]), cudaSuccess);
        for (int i = 0; i < 2; ++i) {
          EXPECT_EQ(cudaGraphInstantiate(&execs[i], graphs[i], 0), cudaSuccess);
          cudaGraphDestroy(graphs[i]);
        }
        for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaGraphLaunch(execs[i], streams[i]), cudaSuccess);
        for (int i = 0; i < 2; ++i) {
          EXPECT_EQ(cudaStreamSynchronize(streams[i]), cudaSuccess);
          int sum = 0;
          cudaMemcpy(&sum, values[i], sizeof sum, cudaMemcpyDeviceToHost);
          EXPECT_EQ(sum, 3);
          cudaGraphExecDestroy(execs[i]);
          cudaStreamDestroy(streams[i]);
          cudaFree(values[i]);
        }
        for (ncclComm_t const comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
      },
      options);
  EXPECT_TRUE(report.ok()) << describe(report);
}

// Of one communicator all streams of a group are in one graph.
TEST(NcclGraph, AGroupOfTwoCapturesForOneCommunicatorIsRefused) {
  Report const report = run_ranks(2, [](Rank& rank) {
    float* const value = rank.device(std::vector<float>{1.0F, 2.0F});
    cudaStream_t other = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    for (cudaStream_t const stream : {rank.stream, other})
      EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    ncclAllReduce(value, value, 1, ncclFloat, ncclSum, rank.comm, rank.stream);
    ncclAllReduce(value + 1, value + 1, 1, ncclFloat, ncclSum, rank.comm, other);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    for (cudaStream_t const stream : {rank.stream, other}) {
      cudaGraph_t graph = nullptr;
      EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclGraph, AGroupOfCapturedAndOtherStreamsIsRefused) {
  Report const report = run_ranks(2, [](Rank& rank) {
    float* const value = rank.device(std::vector<float>{1.0F, 2.0F});
    cudaStream_t other = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    Captured const graph(rank.stream, [&] {
      EXPECT_EQ(ncclGroupStart(), ncclSuccess);
      EXPECT_EQ(ncclAllReduce(value, value, 1, ncclFloat, ncclSum, rank.comm, rank.stream),
                ncclSuccess);
      EXPECT_EQ(ncclAllReduce(value + 1, value + 1, 1, ncclFloat, ncclSum, rank.comm, other),
                ncclSuccess);
      EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    });
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// NCCL waits for the graph, by abort as well as by destroy.
TEST(NcclGraph, IsDestroyedBeforeTheCommunicatorOfItsCalls) {
  for (auto* const leave : {&ncclCommDestroy, &ncclCommAbort}) {
    for (bool const in_order : {true, false}) {
      Report const report = run_ranks(2, [&](Rank& rank) {
        float* const value = rank.device(std::vector<float>{1.0F});
        auto const reduce = [&] {
          ncclAllReduce(value, value, 1, ncclFloat, ncclSum, rank.comm, rank.stream);
        };
        std::optional<Captured> graph(std::in_place, rank.stream, reduce);
        if (in_order) graph.reset();
        leave(rank.comm);
        rank.comm = nullptr;
      });
      EXPECT_EQ(report.violations.size(), in_order ? 0U : 1U) << describe(report);
      if (in_order || report.violations.empty()) continue;
      Violation const& found = report.violations.front();
      EXPECT_EQ(found.law, Law::access_lifetime);
      EXPECT_EQ(found.ranks.size(), 2U);
      ASSERT_EQ(found.related.size(), 1U) << "where the graph was captured";
      EXPECT_EQ(found.related.front().what, "captured");
      EXPECT_EQ(found.message,
                std::string(leave == &ncclCommAbort ? "ncclCommAbort" : "ncclCommDestroy") +
                    " of communicator 0 of 2 ranks waits for ever for a graph to be destroyed that "
                    "has captured its calls");
    }
  }
}

}  // namespace
}  // namespace adamant::sim
