#include "real/shard/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace adamant::real {
namespace {

ParameterSpec rows(std::int64_t count, int unit = 0) {
  return {.name = "p", .shape = {count, 3}, .group = 0, .unit = unit};
}

std::vector<std::int64_t> rows_of_each_rank(std::int64_t count, int world_size) {
  std::vector<ParameterSpec> const specs = {rows(count)};
  std::vector<std::int64_t> owned;
  for (int rank = 0; rank < world_size; ++rank) {
    Layout const layout(specs, {.rank = rank, .mesh = {.shards = world_size}});
    owned.push_back(layout[0].held_numel() / 3);
  }
  return owned;
}

TEST(Layout, TrailingRanksAreShortOrEmpty) {
  EXPECT_EQ(rows_of_each_rank(6, 4), (std::vector<std::int64_t>{2, 2, 2, 0}));
  EXPECT_EQ(rows_of_each_rank(5, 4), (std::vector<std::int64_t>{2, 2, 1, 0}));
  EXPECT_EQ(rows_of_each_rank(2, 4), (std::vector<std::int64_t>{1, 1, 0, 0}));
  EXPECT_EQ(rows_of_each_rank(0, 3), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(Layout, EmptyShardsLieAtTheEndOfTheTensor) {
  std::vector<ParameterSpec> const specs = {rows(5)};
  Layout const layout(specs, {.rank = 3, .mesh = {.shards = 4}});
  EXPECT_EQ(layout[0].held, (ElementRange{15, 15}));
}

TEST(Layout, CountsBehindTwoGibibytes) {
  constexpr std::int64_t row = std::int64_t{1} << 31;
  std::vector<ParameterSpec> const specs = {{.name = "p", .shape = {3, row}}, rows(1)};
  Layout const layout(specs, {.rank = 1, .mesh = {.shards = 2}});
  EXPECT_EQ(layout[0].held, (ElementRange{2 * row, 3 * row}));
  EXPECT_EQ(layout.bucket_of(0).own.chunk_numel, 2 * row);
  EXPECT_EQ(layout[1].begin(TensorKind::exp_avg), 2 * row * sizeof(float));
}

TEST(Layout, RanksTileEveryTensorForAllSmallSizes) {
  for (int world_size = 1; world_size <= 8; ++world_size)
    for (std::int64_t count = 0; count <= 20; ++count) {
      std::vector<ParameterSpec> const specs = {rows(count)};
      std::int64_t next = 0;
      for (int rank = 0; rank < world_size; ++rank) {
        Layout const layout(specs, {.rank = rank, .mesh = {.shards = world_size}});
        EXPECT_EQ(layout[0].held.begin, next) << count << " rows, rank " << rank;
        next = layout[0].held.end;
        // What a collective moves must hold what the rank owns, and the room must hold both.
        EXPECT_LE(layout[0].held_numel(), layout.bucket_of(0).own.chunk_numel);
        EXPECT_LE(static_cast<std::size_t>(layout.bucket_of(0).own.chunk_numel) * sizeof(float),
                  layout.bucket_of(0).room_bytes(TensorKind::parameter));
      }
      EXPECT_EQ(next, 3 * count) << "in a world of " << world_size;
    }
}

TEST(Layout, AShardHasTheElementsOfItsRangesOneAfterTheOther) {
  std::vector<float> const whole = {0, 1, 2, 3, 4, 5, 6};
  std::vector<ElementRange> const ranges = {{0, 1}, {2, 2}, {2, 4}, {6, 7}};
  EXPECT_EQ(elements_of(whole, ranges), (std::vector<float>{0, 2, 3, 6}));
  EXPECT_EQ(elements_of(whole, {}), std::vector<float>());
  EXPECT_EQ(numel_of(ranges), 4);
}

TEST(Layout, EveryRankReservesTheSameRoomAtAlignedOffsets) {
  std::vector<ParameterSpec> const specs = {rows(5), rows(1, 1), rows(7, 1)};
  for (int rank = 0; rank < 4; ++rank) {
    Layout const layout(specs, {.rank = rank, .mesh = {.shards = 4}});
    for (TensorKind const kind : {TensorKind::parameter, TensorKind::exp_avg}) {
      EXPECT_EQ(layout.bucket_of(0).room_bytes(kind),
                32U);  // 2 rows of 3 elements of 4 bytes, rounded up
      EXPECT_EQ(layout.bucket_of(1).room_bytes(kind), 16U);
      EXPECT_EQ(layout.bucket_of(2).room_bytes(kind), 32U);
      EXPECT_EQ(layout[1].begin(kind), 32U);
      EXPECT_EQ(layout[2].begin(kind), 48U);
      EXPECT_EQ(layout.flat_bytes(kind), 80U);
    }
    EXPECT_EQ(layout.flat_bytes(TensorKind::main), 0U);
    EXPECT_EQ(layout.flat_bytes(TensorKind::cast_gradient), 0U);
  }
}

TEST(Layout, EachKindIsPackedInTheFormatsOfItsParameters) {
  std::vector<ParameterSpec> specs = {rows(5), rows(1), rows(7)};
  specs[0].formats = {.parameter = NumberFormat::bf16,
                      .gradient = NumberFormat::bf16,
                      .exp_avg = NumberFormat::bf16,
                      .main = NumberFormat::fp32,
                      .decoupled_gradient = false};
  specs[2].formats = {.parameter = NumberFormat::fp16, .decoupled_gradient = false};
  Layout const layout(specs, {.rank = 1, .mesh = {.shards = 4}});
  EXPECT_EQ(layout[1].begin(TensorKind::parameter), 16U);  // 6 elements of 2 bytes
  EXPECT_EQ(layout[2].begin(TensorKind::parameter), 32U);
  EXPECT_EQ(layout.flat_bytes(TensorKind::parameter), 48U);
  EXPECT_EQ(layout.flat_bytes(TensorKind::gradient), 16U + 16U + 32U);
  EXPECT_EQ(layout.flat_bytes(TensorKind::exp_avg), 16U + 16U + 32U);
  EXPECT_EQ(layout.flat_bytes(TensorKind::exp_avg_sq), 80U);
  EXPECT_EQ(layout.flat_bytes(TensorKind::main), 32U);  // of the first alone
  EXPECT_EQ(layout[0].format(TensorKind::cast_gradient), NumberFormat::fp32);
  EXPECT_EQ(layout[1].format(TensorKind::cast_gradient), std::nullopt);
  EXPECT_EQ(layout[2].format(TensorKind::cast_gradient), NumberFormat::fp16);
  EXPECT_EQ(layout[2].begin(TensorKind::cast_gradient), 32U);
}

TEST(Layout, WholeTensorsHaveRoomForEveryRanksPadding) {
  std::vector<ParameterSpec> specs = {rows(5)};
  specs[0].formats.exp_avg = NumberFormat::fp16;
  Layout const layout(specs, {.rank = 0, .mesh = {.shards = 4}});
  EXPECT_EQ(layout.bucket_of(0).whole_bytes(TensorKind::parameter),
            96U);  // 4 ranks x 2 rows x 3 x 4 bytes
  EXPECT_EQ(layout.bucket_of(0).whole_bytes(TensorKind::exp_avg), 48U);
  EXPECT_EQ(layout.bucket_of(0).whole_bytes(TensorKind::main), 0U);
  Layout const three(specs, {.rank = 0, .mesh = {.shards = 3}});
  EXPECT_EQ(three.bucket_of(0).whole_bytes(TensorKind::parameter), 80U);  // 72 rounded up to 16
}

// On 3 ranks, in a flat buffer and gathered: codes, and scale codes behind those of mxfp8.
TEST(Layout, QuantisedParametersHaveRoomForTheirCodes) {
  struct Case {
    Recipe recipe;
    std::vector<std::int64_t> shape;
    std::size_t chunk;
    std::size_t whole;
  };
  for (Case const& is : {Case{Recipe::fp8_delayed, {5, 3}, 16, 32},  // 2 x 3, 18
                         Case{Recipe::fp8_current, {4, 2, 3}, 16, 48},
                         Case{Recipe::fp8_block, {256, 128}, 86 * 128, 3 * 86 * 128},
                         Case{Recipe::mxfp8, {32, 32}, 11 * 32 + 16, 33 * 32 + 48},
                         Case{Recipe::nvfp4, {32, 16}, 96, 272}}) {  // 11 x 8 and 33 x 8, padded
    std::vector<ParameterSpec> const specs = {
        {.name = "p",
         .shape = is.shape,
         .formats = {.main = NumberFormat::fp32, .recipe = is.recipe}},
        rows(5)};
    Layout const layout(specs, {.rank = 1, .mesh = {.shards = 3}});
    EXPECT_EQ(layout[0].format(TensorKind::parameter), std::nullopt);
    EXPECT_TRUE(layout[0].has(TensorKind::parameter));
    EXPECT_EQ(layout.bucket_of(0).room_bytes(TensorKind::parameter), is.chunk)
        << name_of(is.recipe);
    EXPECT_EQ(layout.bucket_of(0).whole_bytes(TensorKind::parameter), is.whole)
        << name_of(is.recipe);
    EXPECT_EQ(layout[1].begin(TensorKind::parameter), is.chunk);
    EXPECT_EQ(layout[0].quantised->columns, is.shape.back());
  }
}

TEST(Layout, UnitsKeepRegistrationOrder) {
  std::vector<ParameterSpec> const specs = {rows(1), rows(2), rows(3, 1)};
  Layout const layout(specs, {});
  ASSERT_EQ(layout.unit_count(), 2);
  ASSERT_EQ(layout.buckets_of(0).size(), 2U);
  EXPECT_EQ(layout.buckets_of(0)[1].parameters, std::vector<int>{1});
  ASSERT_EQ(layout.buckets_of(1).size(), 1U);
  EXPECT_EQ(layout.buckets_of(1)[0].parameters, std::vector<int>{2});
}

TEST(Layout, OffsetsDoNotWrapAtThirtyTwoBits) {
  std::vector<ParameterSpec> const specs = {{.name = "a", .shape = {1 << 20, 1 << 14}, .unit = 0},
                                            {.name = "b", .shape = {4}, .unit = 0}};
  Layout const layout(specs, {.rank = 1, .mesh = {.shards = 2}});
  EXPECT_EQ(layout[1].begin(TensorKind::parameter), std::size_t{1} << 35);
}

// Rank 4 of 3 shards and 2 replicas is replica 1 of shard 1.
TEST(Layout, ReplicasHaveTheSameParametersAndPerhapsAPartOfTheStates) {
  std::vector<ParameterSpec> const specs = {rows(10)};  // 4, 4 and 2 rows
  Mesh mesh{.shards = 3, .replicas = 2};
  Layout const same(specs, {.rank = 4, .mesh = mesh});
  EXPECT_EQ(same[0].held, (ElementRange{12, 24}));
  EXPECT_EQ(same[0].stepped, (ElementRange{12, 24}));
  mesh.outer = Outer::optim;
  Layout const part(specs, {.rank = 4, .mesh = mesh});
  EXPECT_EQ(part[0].held, (ElementRange{12, 24}));
  EXPECT_EQ(part[0].stepped, (ElementRange{18, 24}));
  EXPECT_EQ(part[0].stepped_begin(TensorKind::parameter), 6 * sizeof(float));
  EXPECT_EQ(part[0].stepped_begin(TensorKind::exp_avg), 0U);
  Layout const last(specs, {.rank = 5, .mesh = mesh});
  EXPECT_EQ(last[0].stepped, (ElementRange{27, 30}));
}

// 1 row over 4 replicas: each has room for one, so the shard has room for 4.
TEST(Layout, AShardHasRoomForWhatItsReplicasGather) {
  std::vector<ParameterSpec> const specs = {rows(5)};
  Mesh const mesh{.shards = 2, .replicas = 4, .outer = Outer::optim};
  Layout const layout(specs, {.rank = 0, .mesh = mesh});  // 3 rows
  EXPECT_EQ(layout.bucket_of(0).own.chunk_numel, 9);
  EXPECT_EQ(layout.bucket_of(0).own.states_numel, 3);
  EXPECT_EQ(layout.bucket_of(0).own.parameters_numel, 12);
}

// `b` comes first, in 16 elements, then `a`.
TEST(Layout, AFlatBufferIsCutAnywhere) {
  std::vector<ParameterSpec> const specs = {{.name = "a", .shape = {3, 3}},
                                            {.name = "b", .shape = {2, 5}}};
  Mesh const mesh{.shards = 2};
  Layout const first(specs, {.rank = 0, .mesh = mesh}, LayoutKind::flat);
  Layout const second(specs, {.rank = 1, .mesh = mesh}, LayoutKind::flat);
  ASSERT_EQ(first.buckets().size(), 1U);
  EXPECT_EQ(first.bucket_of(0).whole_numel, 32);
  EXPECT_EQ(first.storage_order(), (std::vector<int>{1, 0}));
  EXPECT_EQ(first[1].held, (ElementRange{0, 10}));
  EXPECT_EQ(first[0].held, (ElementRange{0, 0}));
  EXPECT_EQ(second[0].held, (ElementRange{0, 9}));
  EXPECT_EQ(second[0].begin(TensorKind::exp_avg), 0U);
}

TEST(Layout, BucketsAreOfOneUnitAndOneSetOfTypes) {
  std::vector<ParameterSpec> specs = {rows(1), rows(2), rows(3), rows(4, 1)};
  specs[1].formats.parameter = NumberFormat::bf16;
  specs[2].formats.state_scale = StateScale::local;  // no type
  Layout const layout(specs, {}, LayoutKind::bucketed);
  ASSERT_EQ(layout.buckets().size(), 3U);
  EXPECT_EQ(layout.buckets()[0].parameters, (std::vector<int>{0, 2}));
  EXPECT_EQ(layout.buckets()[1].parameters, (std::vector<int>{1}));
  EXPECT_EQ(layout.buckets()[2].parameters, (std::vector<int>{3}));
}

TEST(LayoutDeath, UnitsWithGapsAreAMistakeOfTheCaller) {
  std::vector<ParameterSpec> const specs = {rows(1), rows(1, 2)};
  EXPECT_DEATH(Layout(specs, {}), "spec.unit == unit_count_");
}

}  // namespace
}  // namespace adamant::real
