#include "oracle/layout/fsdp2.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::oracle {
namespace {

std::vector<RowRange> all_shards(std::int64_t rows, int world_size) {
  std::vector<RowRange> shards;
  for (int rank = 0; rank < world_size; ++rank)
    shards.push_back(shard_rows(rows, {rank, world_size}));
  return shards;
}

TEST(Fsdp2Layout, KnownCases) {
  EXPECT_EQ(all_shards(6, 4), (std::vector<RowRange>{{0, 2}, {2, 4}, {4, 6}, {6, 6}}));
  EXPECT_EQ(all_shards(5, 4), (std::vector<RowRange>{{0, 2}, {2, 4}, {4, 5}, {5, 5}}));
  EXPECT_EQ(all_shards(1, 3), (std::vector<RowRange>{{0, 1}, {1, 1}, {1, 1}}));
  EXPECT_EQ(all_shards(0, 2), (std::vector<RowRange>{{0, 0}, {0, 0}}));
}

TEST(Fsdp2Layout, ShardsPartitionTheRowsInOrder) {
  for (std::int64_t rows = 0; rows <= 16; ++rows)
    for (int world_size = 1; world_size <= 16; ++world_size) {
      std::int64_t next = 0;
      for (auto const shard : all_shards(rows, world_size)) {
        EXPECT_EQ(shard.begin, next) << rows << " rows, " << world_size << " ranks";
        EXPECT_GE(shard.count(), 0);
        next = shard.end;
      }
      EXPECT_EQ(next, rows) << rows << " rows, " << world_size << " ranks";
    }
}

TEST(Fsdp2Layout, OnlyTheLastShardWithRowsMayBeShort) {
  for (std::int64_t rows = 1; rows <= 16; ++rows)
    for (int world_size = 1; world_size <= 16; ++world_size)
      for (auto const shard : all_shards(rows, world_size))
        if (shard.end < rows) {
          EXPECT_EQ(shard.count(), chunk_rows(rows, world_size)) << rows << ", " << world_size;
        }
}

// The smallest chunk with which the ranks can hold all rows.
TEST(Fsdp2Layout, ChunksAreAsSmallAsTheyCanBe) {
  for (std::int64_t rows = 0; rows <= 16; ++rows)
    for (int world_size = 1; world_size <= 16; ++world_size) {
      auto const chunk = chunk_rows(rows, world_size);
      EXPECT_GE(chunk * world_size, rows);
      EXPECT_TRUE(chunk == 0 || (chunk - 1) * world_size < rows) << rows << ", " << world_size;
    }
}

TEST(Fsdp2Layout, HugeRowCountsDoNotOverflow) {
  constexpr std::int64_t rows = std::int64_t{1} << 40;
  constexpr int world_size = 1 << 20;
  EXPECT_EQ(chunk_rows(rows, world_size), 1 << 20);
  EXPECT_EQ(shard_rows(rows, {world_size - 1, world_size}).end, rows);
  EXPECT_EQ(shard_rows(rows - 1, {world_size - 1, world_size}).count(), (1 << 20) - 1);
}

// 10 x 3 over 4 ranks: chunks of 3 rows, 9 elements, stored in 48 or 32 bytes; the last rank owns
// one row.
TEST(Fsdp2Layout, PaddingIsTheSameOnEveryRank) {
  ParameterSpec const parameter{.name = "w", .shape = {10, 3}};
  EXPECT_EQ(padded_bytes(parameter, 4, NumberFormat::fp32), 48);
  EXPECT_EQ(padded_bytes(parameter, 4, NumberFormat::bf16), 32);
  EXPECT_EQ(shard_numel(parameter, {0, 4}), 9);
  EXPECT_EQ(shard_numel(parameter, {3, 4}), 3);
}

TEST(Fsdp2Layout, StorageHoldsTheShardUpToTheNextBoundaryAndNoMore) {
  for (std::int64_t rows = 0; rows <= 16; ++rows)
    for (int world_size = 1; world_size <= 16; ++world_size) {
      ParameterSpec const parameter{.name = "w", .shape = {rows, 3}};
      for (auto const format : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16}) {
        auto const padded = padded_bytes(parameter, world_size, format);
        auto const largest =
            shard_numel(parameter, {0, world_size}) * static_cast<std::int64_t>(bytes_of(format));
        EXPECT_EQ(padded % 16, 0);
        EXPECT_GE(padded, largest);
        EXPECT_LT(padded, largest + 16);
      }
    }
}

TEST(Fsdp2Layout, EmptyTensorsTakeNoStorage) {
  EXPECT_EQ(padded_bytes({.name = "w", .shape = {0, 7}}, 3, NumberFormat::fp32), 0);
  EXPECT_EQ(padded_bytes({.name = "w", .shape = {7, 0}}, 3, NumberFormat::fp16), 0);
}

TEST(Fsdp2LayoutDeathTest, RanksBelongToTheirWorld) {
  EXPECT_DEATH(shard_rows(4, {2, 2}), "in its world");
}

}  // namespace
}  // namespace adamant::oracle
