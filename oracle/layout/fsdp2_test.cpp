#include "oracle/layout/fsdp2.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::oracle {
namespace {

constexpr std::int64_t row_numel = 3;

ParameterSpec rows(std::int64_t count) {
  return {.name = "w", .shape = {count, row_numel}};
}

std::vector<ElementRange> all_shards(ParameterSpec const& parameter, int world_size) {
  std::vector<ElementRange> shards;
  for (int rank = 0; rank < world_size; ++rank)
    shards.push_back(fsdp2_range(parameter, {rank, world_size}));
  return shards;
}

TEST(Fsdp2Layout, KnownCases) {
  EXPECT_EQ(all_shards(rows(6), 4),
            (std::vector<ElementRange>{{0, 6}, {6, 12}, {12, 18}, {18, 18}}));
  EXPECT_EQ(all_shards(rows(5), 4),
            (std::vector<ElementRange>{{0, 6}, {6, 12}, {12, 15}, {15, 15}}));
  EXPECT_EQ(all_shards(rows(1), 3), (std::vector<ElementRange>{{0, 3}, {3, 3}, {3, 3}}));
  EXPECT_EQ(all_shards(rows(0), 2), (std::vector<ElementRange>{{0, 0}, {0, 0}}));
  EXPECT_EQ(all_shards({.name = "w", .shape = {5}}, 2),
            (std::vector<ElementRange>{{0, 3}, {3, 5}}));
}

TEST(Fsdp2Layout, ShardsAreWholeRowsThatPartitionTheParameterInOrder) {
  for (std::int64_t count = 0; count <= 16; ++count)
    for (int world_size = 1; world_size <= 16; ++world_size) {
      std::int64_t next = 0;
      for (auto const shard : all_shards(rows(count), world_size)) {
        EXPECT_EQ(shard.begin, next) << count << " rows, " << world_size << " ranks";
        EXPECT_GE(shard.numel(), 0);
        EXPECT_EQ(shard.numel() % row_numel, 0);
        next = shard.end;
      }
      EXPECT_EQ(next, rows(count).numel()) << count << " rows, " << world_size << " ranks";
    }
}

TEST(Fsdp2Layout, OnlyTheLastShardWithRowsMayBeShort) {
  for (std::int64_t count = 1; count <= 16; ++count)
    for (int world_size = 1; world_size <= 16; ++world_size)
      for (auto const shard : all_shards(rows(count), world_size))
        if (shard.end < rows(count).numel()) {
          EXPECT_EQ(shard.numel(), chunk_numel(rows(count), world_size))
              << count << ", " << world_size;
        }
}

// The smallest chunk of rows with which the ranks can hold all.
TEST(Fsdp2Layout, ChunksAreAsSmallAsTheyCanBe) {
  for (std::int64_t count = 0; count <= 16; ++count)
    for (int world_size = 1; world_size <= 16; ++world_size) {
      auto const chunk = chunk_numel(rows(count), world_size);
      auto const numel = rows(count).numel();
      EXPECT_GE(chunk * world_size, numel);
      EXPECT_TRUE(chunk == 0 || (chunk - row_numel) * world_size < numel)
          << count << ", " << world_size;
    }
}

TEST(Fsdp2Layout, HugeParametersDoNotOverflow) {
  constexpr std::int64_t count = std::int64_t{1} << 40;
  constexpr int world_size = 1 << 20;
  EXPECT_EQ(chunk_numel(rows(count), world_size), row_numel << 20);
  EXPECT_EQ(fsdp2_range(rows(count), {world_size - 1, world_size}).end, row_numel * count);
  EXPECT_EQ(fsdp2_range(rows(count - 1), {world_size - 1, world_size}).numel(),
            row_numel * ((1 << 20) - 1));
}

// 10 x 3 over 4 ranks: chunks of 9 elements, stored in 48 or 32 bytes; the last rank owns one row.
TEST(Fsdp2Layout, PaddingIsTheSameOnEveryRank) {
  EXPECT_EQ(padded_bytes(rows(10), 4, NumberFormat::fp32), 48);
  EXPECT_EQ(padded_bytes(rows(10), 4, NumberFormat::bf16), 32);
  EXPECT_EQ(shard_numel(rows(10), {0, 4}), 9);
  EXPECT_EQ(shard_numel(rows(10), {3, 4}), 3);
}

TEST(Fsdp2Layout, StorageHoldsTheShardUpToTheNextBoundaryAndNoMore) {
  for (std::int64_t count = 0; count <= 16; ++count)
    for (int world_size = 1; world_size <= 16; ++world_size) {
      for (auto const format : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16}) {
        auto const padded = padded_bytes(rows(count), world_size, format);
        auto const largest =
            shard_numel(rows(count), {0, world_size}) * static_cast<std::int64_t>(bytes_of(format));
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
  EXPECT_DEATH(fsdp2_range(rows(4), {2, 2}), "in its world");
}

}  // namespace
}  // namespace adamant::oracle
