// How many bytes kernels touch, where that is counted.
#include <cuda_runtime.h>

#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

__global__ void add_up(float* sums, double const* values, int numel, int* visits) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= numel) return;
  sums[i] = sums[i] + static_cast<float>(values[i]);
  atomicAdd(visits, 1);
}

constexpr int numel = count;

void add_twice(int) {
  cudaStream_t const a = new_stream("a");
  float* const sums = on_device("sums");
  void* values = nullptr;
  void* visits = nullptr;
  cudaMalloc(&values, numel * sizeof(double));
  cudaMalloc(&visits, sizeof(int));
  cudaMemsetAsync(sums, 0, bytes, a);
  cudaMemsetAsync(values, 0, numel * sizeof(double), a);
  cudaMemsetAsync(visits, 0, sizeof(int), a);
  for (int launch = 0; launch < 2; ++launch)
    add_up<<<4, 8, 0, a>>>(sums, static_cast<double const*>(values), numel,
                           static_cast<int*>(visits));
  finish();
}

TEST(KernelBytes, AreThoseOfAllLaunchesByKindOfAccess) {
  if (!can_check) GTEST_SKIP() << "this build does not see accesses";
  Report const report = run(1, add_twice, {.count_bytes = true});
  ASSERT_TRUE(report.ok()) << describe(report);
  ASSERT_EQ(report.kernels.size(), 1U);
  KernelBytes const& add = report.kernels.front();
  EXPECT_EQ(add.kernel, "add_up");
  EXPECT_EQ(add.read, 2U * numel * (sizeof(float) + sizeof(double)));
  EXPECT_EQ(add.written, 2U * numel * sizeof(float));
  EXPECT_EQ(add.atomic, 2U * numel * sizeof(int));
}

TEST(KernelBytes, AreNotCountedUnlessAskedFor) {
  EXPECT_TRUE(run(1, add_twice).kernels.empty());
}

}  // namespace
}  // namespace adamant::sim
