// Does instrumented code report each of its accesses, and plain code none, although both share
// inline functions with each other and with this test?
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/cmake/count_program.h"
#include "sim/sim.h"
#include "sim/watch/watch.h"

extern "C" float count_program_O0(float* values, std::vector<int> const* order);
extern "C" float count_program_O2(float* values, std::vector<int> const* order);
extern "C" float count_program_O3(float* values, std::vector<int> const* order);
extern "C" float count_program_unchecked(float* values, std::vector<int> const* order);

namespace adamant::sim {
namespace {

constexpr int count = 850;
using Program = float (*)(float*, std::vector<int> const*);

std::uint64_t accesses_of(Program program) {
  std::vector<int> order(count);
  std::iota(order.rbegin(), order.rend(), 0);
  std::uint64_t accesses = 0;
  Report const report = run(1, [&](int) {
    float* values = nullptr;
    ASSERT_EQ(cudaMallocHost(&values, count * sizeof(float)), cudaSuccess);
    ASSERT_EQ(cudaMemset(values, 0, count * sizeof(float)), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::uint64_t const before = active_watch->accesses();
    program(values, &order);
    accesses = active_watch->accesses() - before;
    cudaFreeHost(values);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
  return accesses;
}

/// The plain twin of the program: its own copies of the inline functions must stay plain.
float plain_program(float* values, std::vector<int> const* order) {
  return shuffle_and_sum(values, *order);
}

TEST(Isolation, CountsEveryAccessOfInstrumentedCodeAtEveryOptimisation) {
  if (!can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  EXPECT_EQ(accesses_of(count_program_O0), 3U * count);
  EXPECT_EQ(accesses_of(count_program_O2), 3U * count);
  EXPECT_EQ(accesses_of(count_program_O3), 3U * count);
}

TEST(Isolation, CountsNoAccessOfPlainCode) {
  if (!can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  EXPECT_EQ(accesses_of(count_program_unchecked), 0U);
  EXPECT_EQ(accesses_of(plain_program), 0U);
}

}  // namespace
}  // namespace adamant::sim
