// Calls of NCCL that no other rank need come to, and what they say once a run has ended.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstddef>
#include <vector>

#include "sim/sim.h"

namespace adamant::sim {
namespace {

TEST(NcclLibrary, GivesMemoryOfTheDevice) {
  Report const report = run(1, [](int) {
    void* address = nullptr;
    EXPECT_EQ(ncclMemAlloc(&address, 64), ncclSuccess);
    EXPECT_EQ(cudaMemset(address, 0, 64), cudaSuccess);
    EXPECT_EQ(ncclMemFree(address), ncclSuccess);
    EXPECT_EQ(ncclMemAlloc(&address, std::size_t{1} << 50), ncclUnhandledCudaError);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// Whose destructor waits for a communicator that comes no more is told so every time.
TEST(NcclLibrary, SaysAgainThatNoCommunicatorComesAnyMore) {
  ncclUniqueId id;
  std::vector<ncclResult_t> states;
  Report const report = run(2, [&](int rank) {
    if (rank == 0) {
      EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    }
    barrier();
    if (rank == 1) return;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comm = nullptr;
    ncclResult_t state = ncclCommInitRankConfig(&comm, 2, id, rank, &config);
    while (state == ncclInProgress) ncclCommGetAsyncError(comm, &state);
    states.push_back(state);
    EXPECT_EQ(ncclCommGetAsyncError(comm, &state), ncclSystemError);
    states.push_back(state);
  });
  EXPECT_EQ(states, std::vector(2, ncclSystemError));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.violations.front().law, Law::order_deadlock) << describe(report);
}

}  // namespace
}  // namespace adamant::sim
