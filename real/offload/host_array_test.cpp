#include "real/offload/host_array.h"

#include <gtest/gtest.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdint>

namespace adamant::real {
namespace {

HostArray pageable(std::size_t bytes) {
  static Ledger ledger;
  return {ledger, Purpose::exp_avg, {.bytes = bytes, .slot = 2, .pinned = false}};
}

TEST(HostArray, PageableMemoryHoldsZerosFromALineOn) {
  for (std::size_t const bytes : {std::size_t{1}, std::size_t{4095}, std::size_t{3} << 20}) {
    HostArray const array = pageable(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0U);
    EXPECT_TRUE(std::all_of(array.data(), array.data() + bytes,
                            [](std::byte byte) { return byte == std::byte{0}; }));
  }
  EXPECT_EQ(pageable(0).data(), nullptr);
}

#ifdef __GLIBC__
// So much is mapped from the system by itself, which the allocator counts.
TEST(HostArray, GivesPageableMemoryBack) {
  constexpr std::size_t bytes = 64 << 20;
  std::size_t const before = mallinfo2().hblkhd;
  {
    HostArray const array = pageable(bytes);
    if (mallinfo2().hblkhd < before + bytes) GTEST_SKIP() << "another allocator is at work";
  }
  EXPECT_LT(mallinfo2().hblkhd, before + bytes);
}
#endif

}  // namespace
}  // namespace adamant::real
