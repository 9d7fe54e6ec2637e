// The stream-ordered allocator: rules A-1 to A-6.
#include <cstdint>
#include <limits>

#include "properties/conformance/on_device.h"

namespace adamant::properties {
namespace {

TEST(StreamOrderedMemory, MayBeUsedAfterItsAllocationInStreamOrder) {
  on_device([] {
    Stream const stream;
    PinnedInts const result;
    int* value = nullptr;
    ASSERT_CUDA(cudaMallocAsync(&value, sizeof(int), stream));
    ASSERT_CUDA(cudaMemsetAsync(value, 0, sizeof(int), stream));
    ASSERT_CUDA(launch(append, 1, 1, stream, value, 5));
    ASSERT_CUDA(cudaMemcpyAsync(result.data(), value, sizeof(int), cudaMemcpyDeviceToHost, stream));
    ASSERT_CUDA(cudaFreeAsync(value, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(result[0], 5);
  });
}

TEST(StreamOrderedMemory, MayBeUsedAndFreedOnAnotherStreamThatIsOrdered) {
  on_device([] {
    Stream const first;
    Stream const second;
    Event const allocated;
    PinnedInts const result;
    int* value = nullptr;
    ASSERT_CUDA(cudaMallocAsync(&value, sizeof(int), first));
    ASSERT_CUDA(cudaMemsetAsync(value, 0, sizeof(int), first));
    ASSERT_CUDA(cudaEventRecord(allocated, first));
    ASSERT_CUDA(cudaStreamWaitEvent(second, allocated));
    ASSERT_CUDA(launch(append, 1, 1, second, value, 7));
    ASSERT_CUDA(cudaMemcpyAsync(result.data(), value, sizeof(int), cudaMemcpyDeviceToHost, second));
    ASSERT_CUDA(cudaFreeAsync(value, second));
    ASSERT_CUDA(cudaStreamSynchronize(second));
    EXPECT_EQ(result[0], 7);
  });
}

TEST(StreamOrderedMemory, IsFreedByAPlainFreeOnceItsWorkIsDone) {
  on_device([] {
    Stream const stream;
    int* value = nullptr;
    ASSERT_CUDA(cudaMallocAsync(&value, sizeof(int), stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(cudaFree(value), cudaSuccess);
  });
}

TEST(StreamOrderedMemory, ReusedInItsStreamStaysOrdered) {
  on_device([] {
    Stream const stream;
    PinnedInts const results(8);
    for (int round = 0; round < 8; ++round) {
      int* value = nullptr;
      ASSERT_CUDA(cudaMallocAsync(&value, sizeof(int), stream));
      ASSERT_CUDA(cudaMemsetAsync(value, 0, sizeof(int), stream));
      ASSERT_CUDA(launch(append, 1, 1, stream, value, round));
      ASSERT_CUDA(cudaMemcpyAsync(results.data() + round, value, sizeof(int),
                                  cudaMemcpyDeviceToHost, stream));
      ASSERT_CUDA(cudaFreeAsync(value, stream));
    }
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    for (int round = 0; round < 8; ++round)
      EXPECT_EQ(results[static_cast<std::size_t>(round)], round);
  });
}

TEST(StreamOrderedMemory, RefusesNullTooMuchAndASecondFree) {
  on_device([] {
    Stream const stream;
    int* value = nullptr;
    EXPECT_EQ(cudaMallocAsync(static_cast<void**>(nullptr), 4, stream), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMallocAsync(&value, std::numeric_limits<std::size_t>::max(), stream),
              cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    ASSERT_CUDA(cudaMallocAsync(&value, 4, stream));
    ASSERT_CUDA(cudaFreeAsync(value, stream));
    EXPECT_EQ(cudaFreeAsync(value, stream), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    ASSERT_CUDA(cudaStreamSynchronize(stream));
  });
}

TEST(Pools, TheDefaultPoolIsTheDevicesPoolAtFirstAndStays) {
  on_device([] {
    cudaMemPool_t by_default = nullptr;
    cudaMemPool_t current = nullptr;
    ASSERT_CUDA(cudaDeviceGetDefaultMemPool(&by_default, 0));
    ASSERT_CUDA(cudaDeviceGetMemPool(&current, 0));
    EXPECT_EQ(by_default, current);
    EXPECT_EQ(cudaMemPoolDestroy(by_default), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  });
}

cudaMemPoolProps on_device_zero() {
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  return props;
}

TEST(Pools, GiveMemoryOfTheirOwn) {
  on_device([] {
    Stream const stream;
    PinnedInts const result;
    cudaMemPoolProps const props = on_device_zero();
    cudaMemPool_t pool = nullptr;
    int* value = nullptr;
    ASSERT_CUDA(cudaMemPoolCreate(&pool, &props));
    ASSERT_CUDA(cudaMallocFromPoolAsync(&value, sizeof(int), pool, stream));
    ASSERT_CUDA(cudaMemsetAsync(value, 0, sizeof(int), stream));
    ASSERT_CUDA(launch(append, 1, 1, stream, value, 2));
    ASSERT_CUDA(cudaMemcpyAsync(result.data(), value, sizeof(int), cudaMemcpyDeviceToHost, stream));
    ASSERT_CUDA(cudaFreeAsync(value, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    ASSERT_CUDA(cudaMemPoolDestroy(pool));
    EXPECT_EQ(result[0], 2);
  });
}

TEST(Pools, HaveAttributesWithTheDocumentedDefaults) {
  on_device([] {
    cudaMemPoolProps const props = on_device_zero();
    cudaMemPool_t pool = nullptr;
    ASSERT_CUDA(cudaMemPoolCreate(&pool, &props));
    for (cudaMemPoolAttr const reuse :
         {cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
          cudaMemPoolReuseAllowInternalDependencies}) {
      int value = 0;
      ASSERT_CUDA(cudaMemPoolGetAttribute(pool, reuse, &value));
      EXPECT_EQ(value, 1);
    }
    std::uint64_t threshold = 1;
    ASSERT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    EXPECT_EQ(threshold, 0U);
    threshold = std::uint64_t{1} << 30;
    ASSERT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    threshold = 0;
    ASSERT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    EXPECT_EQ(threshold, std::uint64_t{1} << 30);
    ASSERT_CUDA(cudaMemPoolDestroy(pool));
  });
}

TEST(Pools, CountWhatIsUsed) {
  on_device([] {
    Stream const stream;
    cudaMemPoolProps const props = on_device_zero();
    cudaMemPool_t pool = nullptr;
    int* value = nullptr;
    std::uint64_t used = 1;
    ASSERT_CUDA(cudaMemPoolCreate(&pool, &props));
    ASSERT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT_EQ(used, 0U);
    ASSERT_CUDA(cudaMallocFromPoolAsync(&value, 1000, pool, stream));
    ASSERT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT_GE(used, 1000U);
    ASSERT_CUDA(cudaFreeAsync(value, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    ASSERT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT_EQ(used, 0U);
    ASSERT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &used));
    EXPECT_GE(used, 1000U);
    ASSERT_CUDA(cudaMemPoolTrimTo(pool, 0));
    ASSERT_CUDA(cudaMemPoolDestroy(pool));
  });
}

}  // namespace
}  // namespace adamant::properties
