#include "sim/cuda/region.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/world/prng.h"

namespace adamant::sim {
namespace {

constexpr std::uint64_t bits = 700;

/// The same maps as one bool per bit.
struct Naive {
  std::vector<bool> set = std::vector<bool>(bits);
  void put(std::uint64_t begin, std::uint64_t end, bool value) {
    for (std::uint64_t at = begin; at < end; ++at) set[at] = value;
  }
  std::uint64_t first_clear(std::uint64_t begin, std::uint64_t end) const {
    while (begin < end && set[begin]) ++begin;
    return begin;
  }
};

TEST(Region, MapsAgreeWithAModelBitByBit) {
  Prng prng(1);
  Naive naive;
  std::vector<std::uint8_t> map((bits + 7) / 8);
  for (int step = 0; step < 20'000; ++step) {
    std::uint64_t const begin = prng.below(bits);
    std::uint64_t const longest = bits - begin;
    std::uint64_t const end = begin + prng.below(static_cast<std::uint32_t>(longest) + 1);
    bool const value = prng.below(3) != 0;
    value ? set_bits(map.data(), begin, end) : clear_bits(map.data(), begin, end);
    naive.put(begin, end, value);
    std::uint64_t const from = prng.below(bits);
    ASSERT_EQ(first_clear(map.data(), from, bits), naive.first_clear(from, bits));
    ASSERT_EQ(all_set(map.data(), begin, end), value || begin == end);
  }
}

TEST(Region, ReadsAsZerosOnceDiscarded) {
  Region::reserve();
  auto* const at = static_cast<unsigned char*>(region_address(0));
  at[4096] = 5;
  at[8192] = 7;
  Region::discard(4000, 8192);
  EXPECT_EQ(at[4096], 0);
  EXPECT_EQ(at[8192], 7);
  Region::discard(8192, 12288);
}

TEST(Region, ClearsSmallAndLargeStretchesOfItsMapsAlike) {
  Region::reserve();
  for (std::uint64_t const end : {std::uint64_t{100'000}, (std::uint64_t{16} << 20) + 3}) {
    std::uint64_t const begin = 1001;
    set_bits(written_bits, begin - 1, end + 1);
    set_bits(usable_bits, begin - 1, end + 1);
    Region::clear_maps(begin, end);
    for (std::uint8_t* const map : {written_bits, usable_bits}) {
      EXPECT_TRUE(all_set(map, begin - 1, begin));
      EXPECT_TRUE(all_set(map, end, end + 1));
      for (std::uint64_t at = begin; at < end; at += 997) EXPECT_FALSE(all_set(map, at, at + 1));
      clear_bits(map, begin - 1, end + 1);
    }
  }
}

}  // namespace
}  // namespace adamant::sim
