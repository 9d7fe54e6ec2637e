// Kernels and errors: indices, shared memory, barriers, atomics; rules R-1 to R-3.
#include <cstdint>
#include <vector>

#include "properties/conformance/on_device.h"

namespace adamant::properties {
namespace {

__global__ void number_threads(int* numbers) {
  unsigned const block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned const thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned const i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  numbers[i] = static_cast<int>(i);
}

TEST(Kernels, SeeTheirPlaceInAThreeDimensionalGrid) {
  on_device([] {
    Stream const stream;
    DeviceInts const numbers(2 * 3 * 2 * 2 * 2 * 3);
    ASSERT_CUDA(launch(number_threads, dim3(2, 3, 2), dim3(2, 2, 3), stream, numbers.data()));
    std::vector<int> const values = numbers.values();
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], static_cast<int>(i));
  });
}

constexpr int block_size = 64;

__global__ void reverse_static(int* values) {
  __shared__ int copy[block_size];
  copy[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}

__global__ void sum_by_tree(int* total, int const* values) {
  extern __shared__ int partial[];
  unsigned const thread = threadIdx.x;
  partial[thread] = values[blockIdx.x * blockDim.x + thread];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (thread < half) partial[thread] += partial[thread + half];
    __syncthreads();
  }
  if (thread == 0) atomicAdd(total, partial[0]);
}

TEST(Kernels, ExchangeThroughSharedMemoryAtABarrier) {
  on_device([] {
    Stream const stream;
    DeviceInts const values(block_size);
    ASSERT_CUDA(launch(number_threads, 1, block_size, stream, values.data()));
    ASSERT_CUDA(launch(reverse_static, 1, block_size, stream, values.data()));
    std::vector<int> const result = values.values();
    for (int i = 0; i < block_size; ++i) {
      EXPECT_EQ(result[static_cast<std::size_t>(i)], block_size - 1 - i);
    }
  });
}

TEST(Kernels, SumByATreeInDynamicSharedMemoryAndAnAtomic) {
  on_device([] {
    constexpr int blocks = 3;
    Stream const stream;
    DeviceInts const values(blocks * block_size);
    DeviceInts const total;
    ASSERT_CUDA(launch(number_threads, blocks, block_size, stream, values.data()));
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = block_size;
    config.dynamicSmemBytes = block_size * sizeof(int);
    config.stream = stream;
    ASSERT_CUDA(cudaLaunchKernelEx(&config, sum_by_tree, total.data(), values.data()));
    constexpr int count = blocks * block_size;
    EXPECT_EQ(total.value(), count * (count - 1) / 2);
  });
}

__global__ void count_up(int* total) {
  atomicAdd(total, 1);
}

TEST(Kernels, OfTwoStreamsCountTogetherByAtomics) {
  on_device([] {
    Stream const first;
    Stream const second;
    DeviceInts const total;
    ASSERT_CUDA(launch(count_up, 2, block_size, first, total.data()));
    ASSERT_CUDA(launch(count_up, 2, block_size, second, total.data()));
    EXPECT_EQ(total.value(), 4 * block_size);
  });
}

template <typename T, int factor>
__global__ void scale(T* value) {
  *value = *value * factor + 1;
}

__global__ void add_float(float* total, float value) {
  atomicAdd(total, value);
}

TEST(Kernels, AddFloatsAtomicallyWithoutSubnormals) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    auto* const total = reinterpret_cast<float*>(value.data());
    ASSERT_CUDA(launch(add_float, 1, 1, stream, total, 0x1p-127F));
    EXPECT_EQ(value.value(), 0);
    ASSERT_CUDA(launch(add_float, 1, 1, stream, total, 0x1.8p-126F));
    ASSERT_CUDA(launch(add_float, 1, 1, stream, total, -0x1p-126F));
    EXPECT_EQ(value.value(), 0);
    ASSERT_CUDA(launch(add_float, 1, 1, stream, total, 1.5F));
    EXPECT_EQ(value.value(), 0x3FC00000);
  });
}

TEST(Kernels, LaunchWithChevronsIncludingTemplates) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    append<<<1, 1, 0, stream>>>(value.data(), 4);
    scale<int, 10><<<dim3(1), dim3(1), 0, stream>>>(value.data());
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(value.value(), 41);
  });
}

struct Numbers {
  std::int64_t first;
  float second;
  int third[5];
};
__global__ void sum_numbers(int* result, Numbers const numbers) {
  int sum = static_cast<int>(numbers.first) + static_cast<int>(numbers.second);
  for (int const number : numbers.third) sum += number;
  *result = sum;
}

TEST(Kernels, TakeStructuresByValueAndConvertArguments) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    Numbers const numbers = {1, 2.0F, {3, 4, 5, 6, 7}};
    ASSERT_CUDA(launch(sum_numbers, 1, 1, stream, value.data(), numbers));
    EXPECT_EQ(value.value(), 28);
    short const digit = 9;  // the parameter is an int
    ASSERT_CUDA(launch(append, 1, 1, stream, value.data(), digit));
    EXPECT_EQ(value.value(), 289);
  });
}

TEST(Errors, ALaunchThatCannotBeReturnsItsErrorAndLeavesIt) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    EXPECT_EQ(launch(append, 1, 2048, stream, value.data(), 1), cudaErrorInvalidValue);
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(value.value(), 0);
  });
}

TEST(Errors, EveryLaunchThatCannotBeIsAnInvalidValue) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    for (dim3 const grid :
         {dim3(0), dim3(1, 0), dim3(1, 1, 0), dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000U)})
      EXPECT_EQ(launch(append, grid, 1, stream, value.data(), 1), cudaErrorInvalidValue) << grid.x;
    for (dim3 const block : {dim3(0), dim3(1, 0), dim3(1, 1, 0), dim3(1025), dim3(1, 1025),
                             dim3(1, 1, 65), dim3(32, 33)})
      EXPECT_EQ(launch(append, 1, block, stream, value.data(), 1), cudaErrorInvalidValue)
          << block.x;
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(value.value(), 0);
  });
}

TEST(Errors, AChevronLaunchLeavesItsErrorOnly) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    append<<<1, dim3(1, 1, 65), 0, stream>>>(value.data(), 1);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    append<<<1, 1, 0, stream>>>(value.data(), 2);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(value.value(), 2);
  });
}

TEST(Errors, MoreThan48KiBOfDynamicSharedMemoryMustBeAskedForFirst) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    append<<<1, 1, (48 << 10) + 1, stream>>>(value.data(), 1);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    append<<<1, 1, 48 << 10, stream>>>(value.data(), 2);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(value.value(), 2);
  });
}

TEST(Errors, ASuccessfulCallDoesNotClearTheLastError) {
  on_device([] {
    EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  });
}

TEST(Errors, HaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST(Devices, AnswerOnlyForThemselves) {
  on_device([] {
    int count = 0;
    int warp_size = 0;
    ASSERT_CUDA(cudaGetDeviceCount(&count));
    EXPECT_GE(count, 1);
    ASSERT_CUDA(cudaDeviceGetAttribute(&warp_size, cudaDevAttrWarpSize, 0));
    EXPECT_EQ(warp_size, 32);
    EXPECT_EQ(cudaDeviceGetAttribute(&warp_size, cudaDevAttrWarpSize, count),
              cudaErrorInvalidDevice);
    cudaDeviceProp properties = {};
    ASSERT_CUDA(cudaGetDeviceProperties(&properties, 0));
    EXPECT_GE(properties.major, 7);
    EXPECT_EQ(properties.warpSize, 32);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  });
}

}  // namespace
}  // namespace adamant::properties
