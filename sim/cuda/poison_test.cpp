// How large blocks are cut for the threads that fill them.
#include "sim/cuda/poison.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace adamant::sim {
namespace {

constexpr std::uint64_t large_page = 2 << 20;

TEST(Poison, NoTwoThreadsFillOnePage) {
  for (std::uint64_t const begin : {std::uint64_t{0}, std::uint64_t{512}, large_page - 512,
                                    large_page, 7 * large_page + 4096}) {
    for (std::uint64_t const bytes :
         {std::uint64_t{1}, large_page - 512, large_page, large_page + 512, 5 * large_page + 1}) {
      std::uint64_t filled = begin;
      for (Stretch const& part : by_large_pages(begin, begin + bytes)) {
        EXPECT_EQ(part.begin, filled);
        EXPECT_EQ(part.begin / large_page, (part.end - 1) / large_page);
        EXPECT_TRUE(part.begin == begin || part.begin % large_page == 0) << part.begin;
        filled = part.end;
      }
      EXPECT_EQ(filled, begin + bytes);
    }
  }
}

}  // namespace
}  // namespace adamant::sim
