#include "oracle/layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace adamant::oracle {
namespace {

using Ranges = std::vector<ElementRange>;

Ranges of(Layout const& layout, int parameter, int rank) {
  auto const ranges = layout.ranges(parameter, rank);
  return {ranges.begin(), ranges.end()};
}

// Two ranks that take turns in a parameter of seven elements; of a second one rank 1 owns all.
Layout taking_turns() {
  Layout layout(2);
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
  EXPECT_EQ(numel_of(layout.ranges(0, 0)), 4);
}

TEST(Layout, KnowsWhoOwnsAnElement) {
  Layout const layout = taking_turns();
  std::vector<int> owners;
  for (std::int64_t element = 0; element < 7; ++element) owners.push_back(layout.owner(0, element));
  EXPECT_EQ(owners, (std::vector<int>{0, 0, 1, 0, 1, 1, 0}));
  EXPECT_EQ(layout.owner(1, 4), 1);
}

// 5 x 3 over 4 ranks: two rows, two, one and none.
TEST(Layout, Fsdp2IsOneRangeARank) {
  std::vector<ParameterSpec> const parameters = {{.name = "a", .shape = {2}},
                                                 {.name = "b", .shape = {5, 3}}};
  Layout const layout = lay_out(LayoutKind::fsdp2, parameters, 4);
  EXPECT_EQ(of(layout, 0, 1), (Ranges{{1, 2}}));
  EXPECT_EQ(of(layout, 1, 0), (Ranges{{0, 6}}));
  EXPECT_EQ(of(layout, 1, 2), (Ranges{{12, 15}}));
  EXPECT_EQ(of(layout, 1, 3), (Ranges{{15, 15}}));
}

TEST(LayoutDeathTest, RangesAscend) {
  EXPECT_DEATH(Layout(1).add(Ranges{{2, 3}, {1, 2}}), "ascend");
  EXPECT_DEATH(Layout(1).add(Ranges{{0, 3}, {2, 4}}), "overlap");
}

TEST(LayoutDeathTest, RanksAndParametersAreOfTheWorld) {
  EXPECT_DEATH(taking_turns().ranges(0, 2), "in its world");
  EXPECT_DEATH(taking_turns().ranges(2, 0), "laid out");
}

}  // namespace
}  // namespace adamant::oracle
