#include "oracle/layout/buckets.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::oracle {
namespace {

using Members = std::vector<int>;

std::vector<Members> members_of(std::vector<Bucket> const& buckets) {
  std::vector<Members> members;
  for (Bucket const& bucket : buckets) {
    members.emplace_back();
    for (Placed const placed : bucket.parameters) members.back().push_back(placed.parameter);
  }
  return members;
}

// Two units; in the first, parameters 0 and 2 have other types than 1.
std::vector<ParameterSpec> two_units() {
  return {{.name = "a", .shape = {3}, .unit = 0},
          {.name = "b", .shape = {3}, .unit = 0, .formats = {.parameter = NumberFormat::bf16}},
          {.name = "c", .shape = {3}, .unit = 0, .formats = {.state_scale = StateScale::local}},
          {.name = "d", .shape = {3}, .unit = 1, .formats = {.parameter = NumberFormat::bf16}},
          {.name = "e", .shape = {0, 3}, .unit = 1, .formats = {.decoupled_gradient = false}},
          {.name = "f", .shape = {3}, .unit = 1}};
}

TEST(Buckets, AreOfOneUnitAndOneSetOfTypes) {
  // The last parameter first where there are several, but for those that take no place.
  EXPECT_EQ(members_of(buckets_of(LayoutKind::flat, two_units(), {})),
            (std::vector<Members>{{2, 0}, {1}, {3}, {4, 5}}));
  EXPECT_EQ(members_of(buckets_of(LayoutKind::bucketed, two_units(), {})),
            (std::vector<Members>{{0, 2}, {1}, {3}, {4, 5}}));
  EXPECT_EQ(members_of(buckets_of(LayoutKind::fsdp2, two_units(), {})),
            (std::vector<Members>{{0}, {1}, {2}, {3}, {4}, {5}}));
}

TEST(Buckets, EachTypeCounts) {
  Formats const different[] = {
      {.parameter = NumberFormat::bf16}, {.gradient = NumberFormat::bf16},
      {.exp_avg = NumberFormat::bf16},   {.exp_avg_sq = NumberFormat::bf16},
      {.main = NumberFormat::fp32},      {.recipe = Recipe::mxfp8}};
  for (Formats const& formats : different) {
    std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {3}},
                                                   {.name = "b", .shape = {3}, .formats = formats}};
    EXPECT_EQ(buckets_of(LayoutKind::flat, parameters, {}).size(), 2U);
  }
}

// 20 elements: 32 for 2 shards of 2 replicas, 4 parts of 8; 24 for 3 shards alone.
TEST(Buckets, RoomsOfABufferAreItsParts) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {4, 5}}};
  Mesh const across{.shards = 2, .replicas = 2, .outer = Outer::optim};
  Bucket const cut = buckets_of(LayoutKind::flat, parameters, across).front();
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(state_room(cut, across, rank), 8);
    EXPECT_EQ(parameter_room(cut, across, rank), 16);
  }
  EXPECT_EQ(cut.chunk, 16);
  Mesh const alone{.shards = 3, .replicas = 2};
  Bucket const whole = buckets_of(LayoutKind::flat, parameters, alone).front();
  EXPECT_EQ(state_room(whole, alone, 5), 8);
  EXPECT_EQ(parameter_room(whole, alone, 5), 8);
}

// 5 rows of 3 on 2 shards: 3, of which 2 replicas have room for 2 each, so that 4 are gathered; the
// second shard has 2, and room for 1 each.
TEST(Buckets, RoomsOfRowsAreOfWholeChunks) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {5, 3}}};
  Mesh const mesh{.shards = 2, .replicas = 2, .outer = Outer::optim};
  Bucket const bucket = buckets_of(LayoutKind::fsdp2, parameters, mesh).front();
  EXPECT_EQ(bucket.chunk, 9);
  for (int const rank : {0, 2}) {
    EXPECT_EQ(state_room(bucket, mesh, rank), 6);
    EXPECT_EQ(parameter_room(bucket, mesh, rank), 12);
  }
  for (int const rank : {1, 3}) {
    EXPECT_EQ(state_room(bucket, mesh, rank), 3);
    EXPECT_EQ(parameter_room(bucket, mesh, rank), 9);
  }
}

// Rows of 2^16 and 2^15 + 1 in one buffer; a single one would be exact.
TEST(Buckets, TheFirstParameterOfABufferThatIsTooWideIsNamed) {
  std::vector<ParameterSpec> parameters = {{.name = "a", .shape = {1, 1 << 16}, .unit = 0},
                                           {.name = "b", .shape = {0}, .unit = 1},
                                           {.name = "c", .shape = {1, 1 << 16}, .unit = 1},
                                           {.name = "d", .shape = {1, (1 << 15) + 1}, .unit = 1}};
  auto const named = [&](LayoutKind kind, Mesh const& mesh) {
    return first_parameter_with_too_much_padding(kind, parameters, mesh);
  };
  EXPECT_EQ(named(LayoutKind::bucketed, {}), std::nullopt);
  EXPECT_EQ(named(LayoutKind::bucketed, {.shards = 2}), 1);
  EXPECT_EQ(named(LayoutKind::bucketed, {.replicas = 2}), std::nullopt);
  EXPECT_EQ(named(LayoutKind::bucketed, {.replicas = 2, .outer = Outer::optim}), 1);
  EXPECT_EQ(named(LayoutKind::flat, {.shards = 2}), std::nullopt);
  EXPECT_EQ(named(LayoutKind::fsdp2, {.shards = 1 << 20}), std::nullopt);
  Mesh const most{.shards = 1 << 20, .replicas = 1 << 20, .outer = Outer::optim};
  EXPECT_EQ(named(LayoutKind::flat, most), 0);
  EXPECT_EQ(named(LayoutKind::bucketed, most), 0);
}

TEST(BucketsDeathTest, OnlyWhatIsNotTooWideIsLaidOut) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {1, 1 << 16}},
                                                 {.name = "b", .shape = {1, (1 << 15) + 1}}};
  EXPECT_DEATH(buckets_of(LayoutKind::bucketed, parameters, {.shards = 2}), "padding");
}

}  // namespace
}  // namespace adamant::oracle
