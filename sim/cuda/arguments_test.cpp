// What calls take at the edge of what they take: handles that are no one's own, and nothing where
// something could be.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

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

TEST(Arguments, PrioritiesOutOfTheRangeAreItsEnds) {
  Report const report = run(1, [](int) {
    for (auto const& [asked, given] : {std::pair(9, 0), std::pair(-9, -5), std::pair(-2, -2)}) {
      cudaStream_t stream = nullptr;
      int priority = 7;
      EXPECT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, asked), cudaSuccess);
      EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
      EXPECT_EQ(priority, given);
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(Arguments, EventsTakeAllTheirFlagsAndNoOther) {
  Report const report = run(1, [](int) {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreateWithFlags(&event, 8), cudaErrorInvalidValue);
    EXPECT_EQ(cudaEventCreateWithFlags(
                  &event, cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess),
              cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST(Arguments, ElapsedTimeIsThatBetweenTwoRecords) {
  Report const report = run(1, [](int) {
    cudaEvent_t first = nullptr;
    cudaEvent_t last = nullptr;
    void* data = nullptr;
    EXPECT_EQ(cudaEventCreate(&first), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&last), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&data, 1 << 20), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(first), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(data, 0, 1 << 20), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(last), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    float there = 0;
    float back = 0;
    float none = 1;
    EXPECT_EQ(cudaEventElapsedTime(&there, first, last), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&back, last, first), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&none, last, last), cudaSuccess);
    EXPECT_GT(there, 0);
    EXPECT_EQ(back, -there);
    EXPECT_EQ(none, 0);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(first), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(last), cudaSuccess);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// A handle is given out again when so many others were destroyed after it, the oldest first.
TEST(Arguments, ADestroyedEventComesBackOnce) {
  Report const report = run(1, [](int) {
    std::vector<cudaEvent_t> old(16'386);
    for (cudaEvent_t& event : old) EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
    for (cudaEvent_t const event : old) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    for (int i = 0; i < 2; ++i) {
      cudaEvent_t event = nullptr;
      EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
      EXPECT_EQ(event, old[static_cast<std::size_t>(i)]);
    }
  });
  EXPECT_EQ(report.unlocated, "");
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
