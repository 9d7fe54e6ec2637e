// Communicators, groups and messages, and the reports of ranks that do not do the same.

#include "sim/testing/ranks.h"

namespace adamant::sim {
namespace {

Options with_devices(int devices) {
  Options options;
  options.devices = devices;
  return options;
}

TEST(NcclCommunicator, KnowsItsRankCountAndDevice) {
  Report const report = run_ranks(3, [](Rank& rank) {
    int count = 0;
    int index = -1;
    int device = -1;
    EXPECT_EQ(ncclCommCount(rank.comm, &count), ncclSuccess);
    EXPECT_EQ(ncclCommUserRank(rank.comm, &index), ncclSuccess);
    EXPECT_EQ(ncclCommCuDevice(rank.comm, &device), ncclSuccess);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(index, rank.index);
    EXPECT_EQ(device, rank.index);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCommunicator, RefusesTwoRanksOnOneDevice) {
  ncclUniqueId id;
  Report const report = run(
      2,
      [&](int rank) {
        if (rank == 0) {
          EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
        }
        barrier();
        ncclComm_t comm = nullptr;
        EXPECT_EQ(ncclCommInitRank(&comm, 2, id, rank), ncclInvalidUsage);
      },
      with_devices(1));
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCommunicator, SplitsByColorAndOrdersByKey) {
  Report const report = run_ranks(4, [](Rank& rank) {
    ncclComm_t half = nullptr;
    int const color = rank.index == 3 ? NCCL_SPLIT_NOCOLOR : rank.index % 2;
    EXPECT_EQ(ncclCommSplit(rank.comm, color, -rank.index, &half, nullptr), ncclSuccess);
    if (rank.index == 3) {
      EXPECT_EQ(half, nullptr);
      return;
    }
    int index = -1;
    EXPECT_EQ(ncclCommUserRank(half, &index), ncclSuccess);
    EXPECT_EQ(index, rank.index == 0 ? 1 : 0);
    int* const value = rank.device(std::vector<int>{rank.index + 10});
    EXPECT_EQ(ncclAllReduce(value, value, 1, ncclInt, ncclSum, half, rank.stream), ncclSuccess);
    EXPECT_EQ(rank.host(value, 1), std::vector<int>{rank.index == 1 ? 11 : 22});
    EXPECT_EQ(ncclCommDestroy(half), ncclSuccess);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCommunicator, OneHostMayDriveSeveralRanksInAGroup) {
  Report const report = run(
      1,
      [](int) {
        ncclComm_t comms[2] = {};
        int* values[2] = {};
        EXPECT_EQ(ncclCommInitAll(comms, 2, nullptr), ncclSuccess);
        for (int i = 0; i < 2; ++i) {
          cudaSetDevice(i);
          cudaMalloc(reinterpret_cast<void**>(&values[i]), sizeof(int));
          int const start = i + 1;
          cudaMemcpy(values[i], &start, sizeof start, cudaMemcpyHostToDevice);
        }
        EXPECT_EQ(ncclGroupStart(), ncclSuccess);
        for (int i = 0; i < 2; ++i) {
          EXPECT_EQ(ncclAllReduce(values[i], values[i], 1, ncclInt, ncclSum, comms[i], nullptr),
                    ncclSuccess);
        }
        EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
        for (int i = 0; i < 2; ++i) {
          cudaSetDevice(i);
          int sum = 0;
          cudaMemcpy(&sum, values[i], sizeof sum, cudaMemcpyDeviceToHost);
          EXPECT_EQ(sum, 3);
          cudaFree(values[i]);
        }
        for (ncclComm_t const comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
      },
      with_devices(2));
  EXPECT_TRUE(report.ok()) << describe(report);
}

/// Asks until a call that does not block is over; how often that was.
int wait_for(ncclComm_t comm, ncclResult_t state) {
  int polls = 0;
  for (; state == ncclInProgress; ++polls)
    if (ncclCommGetAsyncError(comm, &state) != ncclSuccess) break;
  EXPECT_EQ(state, ncclSuccess);
  return polls;
}

/// Two ranks with a communicator whose calls do not block, and how often each asked for it.
template <typename Body>
Report run_without_blocking(Body const& body) {
  ncclUniqueId id;
  return run(2, [&](int rank) {
    if (rank == 0) {
      EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    }
    barrier();
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comm = nullptr;
    ncclResult_t const state = ncclCommInitRankConfig(&comm, 2, id, rank, &config);
    int const polls = wait_for(comm, state);
    body(rank, comm, polls);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  });
}

TEST(NcclCommunicator, CreatesWithoutBlockingWhenAskedTo) {
  int all = 0;
  Report const report = run_without_blocking([&](int, ncclComm_t, int polls) { all += polls; });
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_GT(all, 0);  // who comes first cannot be done at once
}

TEST(NcclCommunicator, FinalizesOnceWithAllOthers) {
  int came = 0;
  Report const report = run_ranks(3, [&](Rank& rank) {
    ++came;
    EXPECT_EQ(ncclCommFinalize(rank.comm), ncclSuccess);
    EXPECT_EQ(came, 3);
    EXPECT_EQ(ncclCommFinalize(rank.comm), ncclInvalidArgument);
  });
  EXPECT_TRUE(report.ok()) << describe(report);  // Rank destroys it
}

// As NCCL does, which tells whoever uses a communicator before its last call is over.
TEST(NcclCommunicator, IsNotDestroyedBeforeItsFarewellIsOver) {
  Report const report = run_without_blocking([](int rank, ncclComm_t comm, int) {
    if (rank == 1) barrier();
    EXPECT_EQ(ncclCommFinalize(comm), ncclInProgress);
    if (rank == 0) {
      EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
      barrier();
    }
    wait_for(comm, ncclInProgress);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

/// Whether who splits first came back before the other one came.
bool comes_back_from_a_split(int parent_blocks, int const* child_blocks) {
  ncclUniqueId id;
  bool came_back = false;
  Report const report = run(2, [&](int rank) {
    if (rank == 0) {
      EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    }
    barrier();
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = parent_blocks;
    ncclComm_t parent = nullptr;
    ncclResult_t const begun = ncclCommInitRankConfig(&parent, 2, id, rank, &config);
    wait_for(parent, begun);
    ncclConfig_t other = NCCL_CONFIG_INITIALIZER;
    if (child_blocks != nullptr) other.blocking = *child_blocks;
    ncclComm_t child = nullptr;
    ncclResult_t const state =
        ncclCommSplit(parent, 0, rank, &child, child_blocks == nullptr ? nullptr : &other);
    came_back = came_back || state == ncclInProgress;
    wait_for(child, state);
    EXPECT_EQ(ncclCommDestroy(child), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(parent), ncclSuccess);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
  return came_back;
}

TEST(NcclCommunicator, ASplitBlocksAsItsParentUnlessAskedNotTo) {
  int const no = 0;
  int const yes = 1;
  EXPECT_FALSE(comes_back_from_a_split(yes, nullptr));
  EXPECT_TRUE(comes_back_from_a_split(no, nullptr));
  EXPECT_TRUE(comes_back_from_a_split(yes, &no));
  EXPECT_FALSE(comes_back_from_a_split(no, &yes));
}

TEST(NcclCommunicator, CallsOnNoneAreRefused) {
  Report const report = run(1, [](int) {
    float factor = 2;
    ncclRedOp_t op = ncclSum;
    ncclComm_t child = nullptr;
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, ncclScalarHostImmediate, nullptr),
              ncclInvalidArgument);
    EXPECT_EQ(ncclCommSplit(nullptr, 0, 0, &child, nullptr), ncclInvalidArgument);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCommunicator, ADestroyTellsAllRanksThatItWaitsFor) {
  Options options;
  options.announce = false;
  Report const report = run_ranks(
      3,
      [](Rank& rank) {
        if (rank.index == 1) ncclCommDestroy(rank.comm);
        rank.comm = nullptr;
      },
      options);
  EXPECT_TRUE(mentions(report, Law::order_deadlock, "for rank 0 2 of")) << describe(report);
}

TEST(NcclCommunicator, IsDestroyedWhileOthersStillWorkWithIt) {
  Report const report = run_ranks(3, [](Rank& rank) {
    int* const value = rank.device(std::vector<int>{1});
    for (int i = 0; i < 10 * rank.index; ++i) cudaMemsetAsync(value, 0, 4, rank.stream);
    ncclAllReduce(value, value, 1, ncclInt, ncclSum, rank.comm, rank.stream);
    EXPECT_EQ(ncclCommDestroy(rank.comm), ncclSuccess);
    rank.comm = nullptr;
    EXPECT_EQ(rank.host(value, 1), std::vector<int>{1});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclCommunicator, IsNotAskedAfterItsEnd) {
  Report const report = run_ranks(1, [](Rank& rank) {
    EXPECT_EQ(ncclCommDestroy(rank.comm), ncclSuccess);
    ncclResult_t state = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(rank.comm, &state), ncclInvalidArgument);
    rank.comm = nullptr;
  });
  EXPECT_TRUE(mentions(report, Law::access_lifetime, "a destroyed communicator is used"));
}

TEST(NcclGroup, EndsOnlyWhatWasStarted) {
  Report const report = run_ranks(1, [](Rank&) {
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclGroup, IsReportedWhenItIsNeverEnded) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const value = rank.device(std::vector<int>{1});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(value, value, 1, ncclInt, ncclSum, rank.comm, rank.stream),
              ncclSuccess);
  });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations.front().message,
            "the rank ends inside a group: 1 calls and 0 creations of it never begin");
}

TEST(NcclGroup, OfWhichACallIsRefusedIssuesNothing) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const value = rank.device(std::vector<int>{1});
    auto const reduce = [&](ncclComm_t comm) {
      return ncclAllReduce(value, value, 1, ncclInt, ncclSum, comm, rank.stream);
    };
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(reduce(rank.comm), ncclSuccess);
    EXPECT_EQ(reduce(nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_EQ(rank.host(value, 1), std::vector<int>{1});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(reduce(rank.comm), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(rank.host(value, 1), std::vector<int>{2});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclGroup, PassesMessagesAroundARing) {
  Report const report = run_ranks(3, [](Rank& rank) {
    int* const own = rank.device(std::vector<int>{rank.index});
    int* const other = rank.device<int>(1);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclSend(own, 1, ncclInt, (rank.index + 1) % 3, rank.comm, rank.stream), ncclSuccess);
    EXPECT_EQ(ncclRecv(other, 1, ncclInt, (rank.index + 2) % 3, rank.comm, rank.stream),
              ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(rank.host(other, 1), std::vector<int>{(rank.index + 2) % 3});
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclGroup, JoinsItsStreams) {
  Report const report = run_ranks(2, [](Rank& rank) {
    cudaStream_t other = nullptr;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    int* const a = rank.device(std::vector<int>{1});
    int* const b = rank.device(std::vector<int>{2});
    ncclGroupStart();
    ncclAllReduce(a, a, 1, ncclInt, ncclSum, rank.comm, rank.stream);
    ncclAllReduce(b, b, 1, ncclInt, ncclSum, rank.comm, other);
    ncclGroupEnd();
    EXPECT_EQ(rank.host(b, 1), std::vector<int>{4});  // on the first stream
    cudaStreamDestroy(other);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(NcclMessages, DeadlockWhenBothSendFirstOutsideAGroup) {
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const own = rank.device(std::vector<int>{rank.index});
    ncclSend(own, 1, ncclInt, 1 - rank.index, rank.comm, rank.stream);
    ncclRecv(own, 1, ncclInt, 1 - rank.index, rank.comm, rank.stream);
    cudaStreamSynchronize(rank.stream);
  });
  EXPECT_TRUE(mentions(report, Law::order_deadlock, "ncclSend (from rank 0 to rank 1"))
      << describe(report);
}

TEST(NcclDisagreement, OfFunctionsIsReportedWithBothCalls) {
  Report const report = run_ranks(2, [](Rank& rank) {
    float* const buffer = rank.device(std::vector<float>(8, 1.0F));
    float* const result = rank.device<float>(8);
    if (rank.index == 0) {
      ncclAllGather(buffer, result, 4, ncclFloat, rank.comm, rank.stream);
    } else {
      ncclReduceScatter(buffer, result, 4, ncclFloat, ncclSum, rank.comm, rank.stream);
    }
    cudaStreamSynchronize(rank.stream);
  });
  EXPECT_TRUE(mentions(report, Law::order_collective, "ncclAllGather(count 4, float)"))
      << describe(report);
  EXPECT_TRUE(mentions(report, Law::order_collective, "ncclReduceScatter(count 4, float, sum)"));
  EXPECT_TRUE(mentions(report, Law::order_collective, "as call 0 of communicator 0"));
}

TEST(NcclDisagreement, OfARankThatNeverComesIsADeadlockThatNamesIt) {
  Report const report = run_ranks(3, [](Rank& rank) {
    float* const buffer = rank.device(std::vector<float>(4, 1.0F));
    int const calls = rank.index == 2 ? 1 : 2;
    for (int i = 0; i < calls; ++i) {
      ncclAllReduce(buffer, buffer, 4, ncclFloat, ncclSum, rank.comm, rank.stream);
    }
    cudaStreamSynchronize(rank.stream);
  });
  EXPECT_TRUE(mentions(report, Law::order_deadlock,
                       "ncclAllReduce (call 1 of communicator 0 of 3 ranks) waits; rank 2 has "
                       "issued 1 calls there"))
      << describe(report);
}

TEST(NcclAccesses, OfAGatherThatItsInputDoesNotWaitForAreARace) {
#ifdef ADAMANT_SIM_UNCHECKED_ONLY
  GTEST_SKIP() << "the sanitizers exclude the instrumentation";
#endif
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const own = rank.device(std::vector<int>{rank.index});
    int* const all = rank.device<int>(2);
    cudaStream_t other = nullptr;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMemsetAsync(own, 0, sizeof(int), other);
    ncclAllGather(own, all, 1, ncclInt, rank.comm, rank.stream);
    cudaStreamSynchronize(other);
    cudaStreamDestroy(other);
  });
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.violations.front().law, Law::order_race);
}

TEST(NcclAccesses, OutsideOfABufferMoveNothing) {
#ifdef ADAMANT_SIM_UNCHECKED_ONLY
  GTEST_SKIP() << "the sanitizers exclude the instrumentation";
#endif
  Report const report = run_ranks(2, [](Rank& rank) {
    int* const own = rank.device(std::vector<int>{rank.index});
    int* const too_small = rank.device(std::vector<int>{7});
    ncclAllGather(own, too_small, 1, ncclInt, rank.comm, rank.stream);
    EXPECT_EQ(rank.host(too_small, 1), std::vector<int>{7});
  });
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.violations.front().law, Law::access_bounds);
}

}  // namespace
}  // namespace adamant::sim
