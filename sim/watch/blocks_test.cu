// Blocks and kernels that touch the same bytes at once: wrong with plain accesses, right with
// atomics or with the bytes kept apart.
#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

__global__ void count_blocks(float* total) {
  *total = *total + 1.0F;
}
__global__ void count_blocks_atomically(float* total) {
  atomicAdd(total, 1.0F);
}

TEST_F(Judge, FindsTwoBlocksThatWriteOneElement) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        fill<<<1, 1, 0, a>>>(data, count, 0.0F);
        if (right) {
          count_blocks_atomically<<<4, 1, 0, a>>>(data);
        } else {
          count_blocks<<<4, 1, 0, a>>>(data);
        }
        finish();
      },
      {Law::order_race, {{"count_blocks", "a", "write"}, {"count_blocks", "a", "read"}}, 0, 4});
}

TEST_F(Judge, LetsAtomicsOfTwoStreamsMeetButNoPlainRead) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        cudaStream_t const b = new_stream("b");
        float* const data = on_device("data");
        float* const total = on_device("total");
        fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        order(a, b);
        count_blocks_atomically<<<2, 1, 0, a>>>(data);
        count_blocks_atomically<<<2, 1, 0, b>>>(data);
        if (right) order(a, b);
        sum<<<1, 1, 0, b>>>(total, data, count);
        finish();
      },
      {Law::order_race, {{"count_blocks_atomically", "a", "write"}, {"sum", "b", "read"}}, 0, 4});
}

__global__ void largest_block(int* largest) {
  if (static_cast<int>(blockIdx.x) > *largest) *largest = static_cast<int>(blockIdx.x);
}
template <typename T>
__global__ void largest_block_atomically(T* largest) {
  atomicMax(largest, static_cast<T>(blockIdx.x));
}

TEST_F(Judge, FindsAMaximumThatIsNotAtomic) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        auto* const largest = reinterpret_cast<int*>(on_device("largest"));
        auto* const other = reinterpret_cast<unsigned*>(largest + 1);
        cudaMemsetAsync(largest, 0, 2 * sizeof(int), a);
        if (right) {
          largest_block_atomically<int><<<4, 1, 0, a>>>(largest);
          largest_block_atomically<unsigned><<<3, 1, 0, a>>>(other);
        } else {
          largest_block<<<4, 1, 0, a>>>(largest);
        }
        int found[2] = {};
        cudaMemcpyAsync(found, largest, sizeof found, cudaMemcpyDeviceToHost, a);
        finish();
        EXPECT_EQ(found[0], 3);
        EXPECT_EQ(found[1], right ? 2 : 0);
      },
      {Law::order_race, {{"largest_block", "a", "write"}, {"largest_block", "a", "read"}}, 0, 4});
}

/// Each block smooths four elements and looks at one neighbour on either side.
__global__ void smooth(float* to, float const* from) {
  unsigned const first = 4 * blockIdx.x;
  float const left = first == 0 ? 0.0F : from[first - 1];
  float const right = first + 4 == count ? 0.0F : from[first + 4];
  float inner[4];
  for (unsigned i = 0; i < 4; ++i) inner[i] = from[first + i];
  for (unsigned i = 0; i < 4; ++i) to[first + i] = left + right + inner[i];
}

TEST_F(Judge, FindsBlocksThatReadTheirNeighboursInPlace) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        float* const smoothed = on_device("smoothed");
        fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        smooth<<<4, 1, 0, a>>>(right ? smoothed : data, data);
        finish();
      },
      {Law::order_race, {{"smooth", "a", "write"}, {"smooth", "a", "read"}}, 12, 16});
}

}  // namespace
}  // namespace adamant::sim
