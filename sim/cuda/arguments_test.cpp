// What calls take at the edge of what they take: handles that are no one's own, and nothing where
// something could be.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "sim/sim.h"

namespace adamant::sim {
namespace {

TEST(Arguments, StreamsThatNobodyMadeAreNobodysToDestroy) {
  Report const report = run(1, [](int) {
    for (cudaStream_t const stream : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread})
      EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(Arguments, EitherEndOfThePrioritiesMayBeLeftOut) {
  Report const report = run(1, [](int) {
    int least = 7;
    int greatest = 7;
    EXPECT_EQ(cudaDeviceGetStreamPriorityRange(&least, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceGetStreamPriorityRange(nullptr, &greatest), cudaSuccess);
    EXPECT_EQ(least, 0);
    EXPECT_LT(greatest, least);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(Arguments, AListOfNoDevicesGivesAPoolToNobodyMore) {
  Report const report = run(1, [](int) {
    cudaMemPool_t pool = nullptr;
    EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
    EXPECT_EQ(cudaMemPoolSetAccess(pool, nullptr, 0), cudaSuccess);
    EXPECT_EQ(cudaMemPoolSetAccess(pool, nullptr, 1), cudaErrorInvalidValue);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

}  // namespace
}  // namespace adamant::sim
