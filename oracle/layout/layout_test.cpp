#include "oracle/layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace adamant::oracle {
namespace {

using Ranges = std::vector<ElementRange>;

Ranges of(Layout const& layout, int parameter, int rank) {
  auto const ranges = layout.ranges(parameter, rank, TensorKind::parameter);
  return {ranges.begin(), ranges.end()};
}

// Two ranks that take turns in a parameter of seven elements; of a second one rank 1 owns all.
Layout taking_turns() {
  Layout layout({.shards = 2});
  layout.add(Ranges{{0, 2}, {3, 4}, {6, 7}});
  layout.add(Ranges{{2, 3}, {4, 6}});
  layout.add(Ranges{});
  layout.add(Ranges{{0, 5}});
  return layout;
}

TEST(Layout, KeepsAllRangesOfARank) {
  Layout const layout = taking_turns();
  EXPECT_EQ(of(layout, 0, 0), (Ranges{{0, 2}, {3, 4}, {6, 7}}));
  EXPECT_EQ(of(layout, 0, 1), (Ranges{{2, 3}, {4, 6}}));
  EXPECT_EQ(of(layout, 1, 0), Ranges{});
  EXPECT_EQ(of(layout, 1, 1), (Ranges{{0, 5}}));
  EXPECT_EQ(numel_of(layout.ranges(0, 0, TensorKind::main)), 4);
}

TEST(Layout, KnowsWhoOwnsAnElement) {
  Layout const layout = taking_turns();
  std::vector<int> owners;
  for (std::int64_t element = 0; element < 7; ++element)
    owners.push_back(layout.owner(0, element, TensorKind::parameter));
  EXPECT_EQ(owners, (std::vector<int>{0, 0, 1, 0, 1, 1, 0}));
  EXPECT_EQ(layout.owner(1, 4, TensorKind::exp_avg), 1);
}

// 5 x 3 over 4 ranks: two rows, two, one and none.
TEST(Layout, Fsdp2IsOneRangeARank) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {2}},
                                                 {.name = "b", .shape = {5, 3}}};
  Layout const layout = lay_out(LayoutKind::fsdp2, parameters, {.shards = 4});
  EXPECT_EQ(of(layout, 0, 1), (Ranges{{1, 2}}));
  EXPECT_EQ(of(layout, 1, 0), (Ranges{{0, 6}}));
  EXPECT_EQ(of(layout, 1, 2), (Ranges{{12, 15}}));
  EXPECT_EQ(of(layout, 1, 3), (Ranges{{15, 15}}));
}

/// What all ranks hold of a parameter, where each has one range.
Ranges of_all(Layout const& layout, int parameter, TensorKind kind) {
  Ranges held;
  for (int rank = 0; rank < layout.mesh().rank_count(); ++rank)
    held.push_back(layout.ranges(parameter, rank, kind).front());
  return held;
}

constexpr Mesh cut_across{.shards = 2, .replicas = 2, .outer = Outer::optim};

// b lies at 0 and a at 16, in 48 elements; the third shard of 16 begins inside of a's last row.
TEST(Layout, FlatCutsWhereABufferIsCut) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {4, 5}},
                                                 {.name = "b", .shape = {3, 4}}};
  Layout const layout = lay_out(LayoutKind::flat, parameters, {.shards = 3});
  EXPECT_EQ(of_all(layout, 0, TensorKind::parameter), (Ranges{{0, 0}, {0, 16}, {16, 20}}));
  EXPECT_EQ(of_all(layout, 1, TensorKind::parameter), (Ranges{{0, 12}, {12, 12}, {12, 12}}));
}

// 20 elements on 2 shards of 2 replicas: a buffer of 32, shards of 16, states of 8: the first
// replica (ranks 0, 1) has those that begin at 0 and 16, the second those at 8 and 24.
TEST(Layout, StatesAreCutWithinAShardFirst) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {4, 5}}};
  Layout const layout = lay_out(LayoutKind::flat, parameters, cut_across);
  EXPECT_EQ(of_all(layout, 0, TensorKind::parameter),
            (Ranges{{0, 16}, {16, 20}, {0, 16}, {16, 20}}));
  for (auto const kind : all_tensor_kinds) {
    if (kind == TensorKind::parameter) continue;
    EXPECT_EQ(of_all(layout, 0, kind), (Ranges{{0, 8}, {16, 20}, {8, 16}, {20, 20}}));
  }
  EXPECT_EQ(layout.owner(0, 9, TensorKind::parameter), 0);
  EXPECT_EQ(layout.owner(0, 9, TensorKind::main), 2);
  EXPECT_EQ(layout.owner(0, 19, TensorKind::gradient), 1);
}

// 5 rows of 3 on 2 shards: 3 and 2; of these on 2 replicas 2 and 1, and 1 and 1.
TEST(Layout, Fsdp2AppliesItsRuleToTheRowsOfAShard) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {5, 3}},
                                                 {.name = "b", .shape = {1, 3}}};
  Layout const layout = lay_out(LayoutKind::fsdp2, parameters, cut_across);
  EXPECT_EQ(of_all(layout, 0, TensorKind::parameter), (Ranges{{0, 9}, {9, 15}, {0, 9}, {9, 15}}));
  EXPECT_EQ(of_all(layout, 0, TensorKind::exp_avg), (Ranges{{0, 6}, {9, 12}, {6, 9}, {12, 15}}));
  EXPECT_EQ(of_all(layout, 1, TensorKind::exp_avg), (Ranges{{0, 3}, {3, 3}, {3, 3}, {3, 3}}));
}

// C = 12 and 60 elements, the example of Megatron-FSDP.
TEST(Layout, BucketedCutsNoRow) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {2, 6}},
                                                 {.name = "b", .shape = {4, 4}},
                                                 {.name = "c", .shape = {4, 4}},
                                                 {.name = "d", .shape = {1, 2}},
                                                 {.name = "e", .shape = {1, 6}}};
  Layout const layout = lay_out(LayoutKind::bucketed, parameters, {.shards = 5});
  auto const owned = [&](int parameter) {
    return of_all(layout, parameter, TensorKind::parameter);
  };
  EXPECT_EQ(owned(1), (Ranges{{0, 0}, {0, 12}, {12, 16}, {16, 16}, {16, 16}}));
  EXPECT_EQ(owned(2), (Ranges{{0, 0}, {0, 0}, {0, 4}, {4, 16}, {16, 16}}));
  EXPECT_EQ(owned(3), (Ranges{{0, 0}, {0, 0}, {0, 2}, {2, 2}, {2, 2}}));
  EXPECT_EQ(owned(4), (Ranges{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 6}}));
}

// Of 120 elements, c has 42 ... 53 and e 64 ... 70: the third shard of 24 begins with c's third
// row, where it would be inside of the fourth if c came right behind a, at 40.
TEST(Layout, BucketedCutsNoRowOfFragments) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {2, 8}},
                                                 {.name = "b", .shape = {4, 6}},
                                                 {.name = "c", .shape = {4, 3}},
                                                 {.name = "d", .shape = {5, 2}},
                                                 {.name = "e", .shape = {7}}};
  Layout const layout = lay_out(LayoutKind::bucketed, parameters, {.shards = 5});
  EXPECT_EQ(of_all(layout, 2, TensorKind::parameter),
            (Ranges{{0, 0}, {0, 6}, {6, 12}, {12, 12}, {12, 12}}));
  EXPECT_EQ(of_all(layout, 4, TensorKind::parameter),
            (Ranges{{0, 0}, {0, 0}, {0, 7}, {7, 7}, {7, 7}}));
}

TEST(Layout, HugeParametersDoNotOverflow) {
  constexpr std::int64_t rows = std::int64_t{1} << 40;
  constexpr int shards = 1 << 20;
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {rows, 1 << 20}}};
  for (auto const kind : {LayoutKind::fsdp2, LayoutKind::flat, LayoutKind::bucketed}) {
    Layout const layout = lay_out(kind, parameters, {.shards = shards});
    auto const last = layout.ranges(0, shards - 1, TensorKind::main).front();
    EXPECT_EQ(last.begin, (rows << 20) - rows);
    EXPECT_EQ(last.end, rows << 20);
  }
}

// One row of 2^60 on 2^20 ranks, all but one of which hold nothing.
TEST(Layout, HugeRowsDoNotOverflow) {
  constexpr std::int64_t numel = std::int64_t{1} << 60;
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {1, numel}}};
  Layout const layout = lay_out(LayoutKind::fsdp2, parameters, {.shards = 1 << 20});
  EXPECT_EQ(layout.ranges(0, 0, TensorKind::parameter).front(), (ElementRange{0, numel}));
  EXPECT_EQ(layout.ranges(0, 1, TensorKind::parameter).front(), (ElementRange{numel, numel}));
}

TEST(LayoutDeathTest, StatesHaveTheirOwnRangesOnlyWhereTheyAreCutAcross) {
  EXPECT_DEATH(Layout({.shards = 2, .replicas = 2}).add_states(Ranges{{0, 1}}),
               "cut as parameters");
}

TEST(LayoutDeathTest, RangesAscend) {
  EXPECT_DEATH(Layout({}).add(Ranges{{2, 3}, {1, 2}}), "ascend");
  EXPECT_DEATH(Layout({}).add(Ranges{{0, 3}, {2, 4}}), "overlap");
}

TEST(LayoutDeathTest, RanksAndParametersAreOfTheWorld) {
  EXPECT_DEATH(taking_turns().ranges(0, 2, TensorKind::main), "in its world");
  EXPECT_DEATH(taking_turns().ranges(2, 0, TensorKind::main), "laid out");
}

}  // namespace
}  // namespace adamant::oracle
