// What allocations look like from outside: alignment, limits, which addresses, and when a block is
// used again.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "sim/sim.h"

namespace adamant::sim {
namespace {

std::uintptr_t number(void const* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

Options seeded(std::uint64_t seed) {
  Options options;
  options.seed = seed;
  options.schedule.strategy = Strategy::random;
  options.schedule.seed = seed;
  return options;
}

void* in_order(std::size_t bytes, cudaStream_t stream) {
  void* result = nullptr;
  EXPECT_EQ(cudaMallocAsync(&result, bytes, stream), cudaSuccess);
  return result;
}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  return stream;
}

std::vector<std::uintptr_t> addresses(std::uint64_t seed) {
  std::vector<std::uintptr_t> result;
  run(
      1,
      [&](int) {
        for (std::size_t const bytes : {1, 511, 512, 513, 100'000}) {
          void* device = nullptr;
          void* host = nullptr;
          EXPECT_EQ(cudaMalloc(&device, bytes), cudaSuccess);
          EXPECT_EQ(cudaMallocHost(&host, bytes), cudaSuccess);
          result.push_back(number(device));
          result.push_back(number(host));
        }
      },
      seeded(seed));
  return result;
}

TEST(Memory, ALongRunGoesOnWithTheBlocksThatItHas) {
  std::set<std::uintptr_t> seen;
  run(
      1,
      [&](int) {
        cudaStream_t const stream = new_stream();
        for (int i = 0; i < 5000; ++i) {
          void* const block = in_order(600, stream);
          seen.insert(number(block));
          EXPECT_EQ(cudaFreeAsync(block, stream), cudaSuccess);
        }
        EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
      },
      seeded(3));
  EXPECT_GT(seen.size(), 2U);
  EXPECT_LE(seen.size(), 9U);
}

TEST(Memory, IsAlignedTo512Bytes) {
  for (std::uintptr_t const address : addresses(3)) EXPECT_EQ(address % 512, 0U);
}

TEST(Memory, HasAddressesDrawnFromTheSeed) {
  EXPECT_EQ(addresses(1), addresses(1));
  EXPECT_NE(addresses(1), addresses(2));
}

TEST(Memory, IsPoisonedWhenAllocatedAndWhenFreed) {
  run(1, [](int) {
    void* data = nullptr;
    EXPECT_EQ(cudaMallocHost(&data, 64), cudaSuccess);
    auto* const seen = static_cast<unsigned char*>(data);
    EXPECT_EQ(seen[0], 0xFF);
    EXPECT_EQ(seen[63], 0xFF);
    seen[5] = 1;
    EXPECT_EQ(cudaFreeHost(data), cudaSuccess);
    EXPECT_EQ(seen[5], 0xFF);
  });
}

TEST(Memory, IsPoisonedToItsEndAndNoFurther) {
  constexpr std::size_t small_bytes = 64 << 10;
  constexpr std::size_t large_bytes = (9 << 20) - small_bytes;
  int behind = 0;
  run(1, [&](int) {
    std::vector<unsigned char*> small;
    std::vector<unsigned char*> large;
    auto const make = [](std::vector<unsigned char*>& into, std::size_t bytes) {
      void* block = nullptr;
      EXPECT_EQ(cudaMallocHost(&block, bytes), cudaSuccess);
      into.push_back(static_cast<unsigned char*>(block));
    };
    for (int i = 0; i < 8; ++i) make(large, large_bytes), make(small, small_bytes);
    for (unsigned char* const block : small) std::fill_n(block, small_bytes, 1);
    for (unsigned char* const block : large) EXPECT_EQ(cudaFreeHost(block), cudaSuccess);
    for (unsigned char* const block : small) {
      EXPECT_TRUE(std::all_of(block, block + small_bytes, [](unsigned char c) { return c == 1; }));
      for (unsigned char const* const other : large)
        behind += block >= other + large_bytes && block < other + large_bytes + (1 << 20);
    }
  });
  EXPECT_GT(behind, 0) << "none lay behind another one";
}

TEST(Memory, OfADeviceHasALimitThatAFreeMakesRoomUnder) {
  Options options;
  options.device_bytes = 1000;
  Report const report = run(
      1,
      [](int) {
        void* first = nullptr;
        void* second = nullptr;
        EXPECT_EQ(cudaMalloc(&first, 1001), cudaErrorMemoryAllocation);
        EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
        EXPECT_EQ(cudaMalloc(&first, 600), cudaSuccess);
        EXPECT_EQ(cudaMalloc(&second, 401), cudaErrorMemoryAllocation);
        EXPECT_EQ(second, nullptr);
        EXPECT_EQ(cudaFree(first), cudaSuccess);
        EXPECT_EQ(cudaMalloc(&second, 401), cudaSuccess);
        EXPECT_EQ(cudaMalloc(&first, SIZE_MAX), cudaErrorMemoryAllocation);
      },
      options);
  EXPECT_EQ(report.device_peak_bytes, 600U);
}

TEST(Memory, PinnedHasALimitOfItsOwn) {
  Options options;
  options.pinned_bytes = 100;
  Report const report = run(
      1,
      [](int) {
        void* data = nullptr;
        EXPECT_EQ(cudaMallocHost(&data, 101), cudaErrorMemoryAllocation);
        EXPECT_EQ(cudaMallocHost(&data, 100), cudaSuccess);
        EXPECT_EQ(cudaMalloc(&data, 101), cudaSuccess);
      },
      options);
  EXPECT_EQ(report.pinned_peak_bytes, 100U);
}

TEST(Memory, AllocatesMoreThanFourGigabytesWithoutCommittingThem) {
  constexpr std::size_t bytes = std::size_t{40} << 30;
  Options options;
  options.checked = false;
  Report const report = run(
      1,
      [](int) {
        char* data = nullptr;
        ASSERT_EQ(cudaMalloc(&data, bytes), cudaSuccess);
        ASSERT_EQ(cudaMemset(data + bytes - 4, 0, 4), cudaSuccess);
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        ASSERT_EQ(cudaFree(data), cudaSuccess);
      },
      options);
  EXPECT_EQ(report.device_peak_bytes, bytes);
}

std::size_t resident_bytes() {
  std::ifstream stream("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  stream >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

TEST(Memory, ClearsManyGigabytesWithoutCommittingThem) {
  constexpr std::size_t bytes = std::size_t{40} << 30;
  constexpr std::size_t odd = 5;  // neither end is a page's
  Options options;
  options.checked = false;
  run(
      1,
      [](int) {
        char* data = nullptr;
        char ends[] = {1, 2, 3, 4};
        ASSERT_EQ(cudaMalloc(&data, bytes), cudaSuccess);
        ASSERT_EQ(cudaMemset(data, 7, odd + 9000), cudaSuccess);
        ASSERT_EQ(cudaMemset(data + odd, 0, bytes - 2 * odd), cudaSuccess);
        char const* const looked_at[] = {data + odd - 1, data + odd, data + odd + 8192,
                                         data + bytes - odd - 1};
        for (int i = 0; i < 4; ++i)
          ASSERT_EQ(cudaMemcpy(&ends[i], looked_at[i], 1, cudaMemcpyDeviceToHost), cudaSuccess);
        EXPECT_EQ(std::string(ends, 4), std::string("\7\0\0\0", 4));
        EXPECT_LT(resident_bytes(), std::size_t{1} << 30);
        ASSERT_EQ(cudaFree(data), cudaSuccess);
      },
      options);
}

/// The addresses that the second of two allocations got over many seeds; `second` releases the
/// first in its own way before.
template <typename Second>
int times_reused(Second&& second) {
  int reused = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    run(
        1,
        [&](int) {
          cudaStream_t const a = new_stream();
          void* const first = in_order(256, a);
          reused += second(first, a) == first;
        },
        seeded(seed));
  }
  return reused;
}

TEST(Memory, OfAStreamMayBeUsedAgainInItsOrder) {
  int const reused = times_reused([](void* first, cudaStream_t a) {
    cudaFreeAsync(first, a);
    return in_order(256, a);
  });
  EXPECT_GT(reused, 0);
  EXPECT_LT(reused, 40);
}

TEST(Memory, IsNotUsedAgainBeforeItsRelease) {
  int const reused = times_reused([](void*, cudaStream_t a) { return in_order(256, a); });
  EXPECT_EQ(reused, 0);
}

void do_nothing(void*) {}

TEST(Memory, OfAnotherStreamIsUsedAgainOnlyOnceItsReleaseIsDone) {
  int const after = times_reused([](void* first, cudaStream_t a) {
    cudaFreeAsync(first, a);
    settle();
    return in_order(256, new_stream());
  });
  EXPECT_GT(after, 0);
  int blocked_and_reused = 0;
  int const before = times_reused([&](void* first, cudaStream_t a) {
    for (int i = 0; i < 8; ++i) cudaLaunchHostFunc(a, do_nothing, nullptr);
    cudaFreeAsync(first, a);
    cudaStream_t const b = new_stream();
    bool const pending = cudaStreamQuery(a) == cudaErrorNotReady;
    void* const second = in_order(256, b);
    blocked_and_reused += pending && second == first && cudaStreamQuery(a) == cudaErrorNotReady;
    return second;
  });
  EXPECT_LT(before, 40);
  EXPECT_EQ(blocked_and_reused, 0);
}

TEST(Memory, IsUsedAgainOnlyForBlocksOfAboutItsSize) {
  int const reused = times_reused([](void* first, cudaStream_t a) {
    cudaFreeAsync(first, a);
    return in_order(4096, a);
  });
  EXPECT_EQ(reused, 0);
}

TEST(Memory, NeverOverlaps) {
  run(
      1,
      [](int) {
        std::set<std::pair<std::uintptr_t, std::uintptr_t>> blocks;
        for (std::size_t i = 0; i < 100; ++i) {
          void* data = nullptr;
          ASSERT_EQ(cudaMalloc(&data, 1 + 37 * i), cudaSuccess);
          blocks.insert({number(data), number(data) + 1 + 37 * i});
        }
        std::uintptr_t end = 0;
        for (auto const& [begin, past] : blocks) {
          EXPECT_GT(begin, end);
          end = past;
        }
      },
      seeded(7));
}

}  // namespace
}  // namespace adamant::sim
