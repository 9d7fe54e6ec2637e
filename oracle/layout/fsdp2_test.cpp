#include "oracle/layout/fsdp2.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::oracle {
namespace {

std::vector<ElementRange> all_parts(std::int64_t rows, int count) {
  std::vector<ElementRange> parts;
  for (int index = 0; index < count; ++index) parts.push_back(rows_of(rows, {index, count}));
  return parts;
}

TEST(Fsdp2Layout, KnownCases) {
  EXPECT_EQ(all_parts(6, 4), (std::vector<ElementRange>{{0, 2}, {2, 4}, {4, 6}, {6, 6}}));
  EXPECT_EQ(all_parts(5, 4), (std::vector<ElementRange>{{0, 2}, {2, 4}, {4, 5}, {5, 5}}));
  EXPECT_EQ(all_parts(1, 3), (std::vector<ElementRange>{{0, 1}, {1, 1}, {1, 1}}));
  EXPECT_EQ(all_parts(0, 2), (std::vector<ElementRange>{{0, 0}, {0, 0}}));
}

TEST(Fsdp2Layout, PartsAreRowsInOrder) {
  for (std::int64_t rows = 0; rows <= 16; ++rows)
    for (int count = 1; count <= 16; ++count) {
      std::int64_t next = 0;
      for (auto const part : all_parts(rows, count)) {
        EXPECT_EQ(part.begin, next) << rows << " rows, " << count << " parts";
        EXPECT_GE(part.numel(), 0);
        next = part.end;
      }
      EXPECT_EQ(next, rows) << rows << " rows, " << count << " parts";
    }
}

TEST(Fsdp2Layout, OnlyTheLastPartWithRowsMayBeShort) {
  for (std::int64_t rows = 1; rows <= 16; ++rows)
    for (int count = 1; count <= 16; ++count)
      for (auto const part : all_parts(rows, count))
        if (part.end < rows) {
          EXPECT_EQ(part.numel(), chunk_rows(rows, count)) << rows << ", " << count;
        }
}

// The smallest chunk of rows with which the parts can hold all.
TEST(Fsdp2Layout, ChunksAreAsSmallAsTheyCanBe) {
  for (std::int64_t rows = 0; rows <= 16; ++rows)
    for (int count = 1; count <= 16; ++count) {
      auto const chunk = chunk_rows(rows, count);
      EXPECT_GE(chunk * count, rows);
      EXPECT_TRUE(chunk == 0 || (chunk - 1) * count < rows) << rows << ", " << count;
    }
}

TEST(Fsdp2Layout, HugeParametersDoNotOverflow) {
  constexpr std::int64_t rows = std::int64_t{1} << 40;
  constexpr int count = 1 << 20;
  EXPECT_EQ(chunk_rows(rows, count), 1 << 20);
  EXPECT_EQ(rows_of(rows, {count - 1, count}).end, rows);
  EXPECT_EQ(rows_of(rows - 1, {count - 1, count}).numel(), (1 << 20) - 1);
}

TEST(Fsdp2LayoutDeathTest, PartsAreSomeOfAll) {
  EXPECT_DEATH(rows_of(4, {2, 2}), "one of all parts");
}

}  // namespace
}  // namespace adamant::oracle
