#include "real/checkpoint/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace adamant::real {
namespace {

std::span<std::byte const> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

// RFC 3720, appendix B.4.
TEST(Crc32c, OfKnownBytesIsAsPublished) {
  std::vector<std::byte> const zeros(32, std::byte{0});
  std::vector<std::byte> const ones(32, std::byte{0xff});
  std::vector<std::byte> counting(32);
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<std::byte>(i);
  for (auto* const function : {&crc32c, &crc32c_by_tables}) {
    EXPECT_EQ(function(bytes_of("123456789"), 0), 0xe3069283U);
    EXPECT_EQ(function(zeros, 0), 0x8a9136aaU);
    EXPECT_EQ(function(ones, 0), 0x62a8ab43U);
    EXPECT_EQ(function(counting, 0), 0x46dd794eU);
    EXPECT_EQ(function({}, 0), 0U);
  }
}

TEST(Crc32c, InstructionAndTablesAgreeAtEveryLengthAndPlace) {
  std::vector<std::byte> const bytes = some_bytes(70'000);
  std::span<std::byte const> const all(bytes);
  for (std::size_t size = 0; size < 80; ++size)
    for (std::size_t begin = 0; begin < 9; ++begin)
      EXPECT_EQ(crc32c(all.subspan(begin, size)), crc32c_by_tables(all.subspan(begin, size)));
  for (std::size_t const size :
       {767, 768, 769, 1'537, 12'289, 24'576, 32'639, 32'640, 32'641, 65'281, 69'900})
    EXPECT_EQ(crc32c(all.subspan(3, size)), crc32c_by_tables(all.subspan(3, size))) << size;
}

TEST(Crc32c, OfACopyIsThatOfItsBytesAtEveryLengthAndPlace) {
  std::vector<std::byte> const bytes = some_bytes(70'000);
  std::span<std::byte const> const all(bytes);
  auto const expect_copied = [&](std::size_t from, std::size_t to, std::size_t size) {
    std::vector<std::byte> copy(size + 80, std::byte{7});
    std::vector<std::byte> expected = copy;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), size,
                expected.begin() + static_cast<std::ptrdiff_t>(to));
    EXPECT_EQ(crc32c_of_copy(copy.data() + to, all.subspan(from, size), 5),
              crc32c_by_tables(all.subspan(from, size), 5));
    EXPECT_TRUE(copy == expected) << size << " bytes from " << from << " to " << to;
  };
  for (std::size_t size = 0; size < 200; ++size)
    for (std::size_t to = 0; to < 66; to += 5) expect_copied(size % 7, to, size);
  for (std::size_t const size : {767, 768, 832, 1'537, 24'576, 32'640, 32'704, 65'281, 69'900})
    for (std::size_t to = 0; to < 66; ++to) expect_copied(size % 7, to, size);
}

TEST(Crc32c, OfTwoPartsIsThatOfTheWhole) {
  std::vector<std::byte> const bytes = some_bytes(30'000);
  std::span<std::byte const> const all(bytes);
  for (std::size_t const cut : {0, 1, 7, 8, 13'000, 30'000})
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all)) << cut;
}

TEST(Crc32c, NoticesEveryFlippedBit) {
  std::vector<std::byte> bytes = some_bytes(100);
  std::uint32_t const right = crc32c(bytes);
  for (std::size_t bit = 0; bit < 800; ++bit) {
    auto const mask = static_cast<std::byte>(1U << (bit % 8));
    bytes[bit / 8] ^= mask;
    EXPECT_NE(crc32c(bytes), right) << bit;
    bytes[bit / 8] ^= mask;
  }
}

}  // namespace
}  // namespace adamant::real
