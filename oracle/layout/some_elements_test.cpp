// What elements are is said only where it holds for exactly these.
#include "oracle/layout/some_elements.h"

#include <gtest/gtest.h>

#include "oracle/compare/first_difference.h"

namespace adamant::oracle {
namespace {

using Part = SomeElements::Part;
using Ranges = std::vector<ElementRange>;
using Ranks = std::vector<int>;

Layout cut_at(std::int64_t element, std::int64_t numel) {
  Layout layout({.shards = 2});
  layout.add(Ranges{{0, element}});
  layout.add(Ranges{{element, numel}});
  return layout;
}

/// Of a tensor of 3 rows of 4, which was cut after 8 elements, and is now after 6.
SomeElements told(Ranges elements) {
  ParameterSpec const spec{.name = "w", .shape = {3, 4}};
  Layout const now = cut_at(6, 12);
  Layout const saved = cut_at(8, 12);
  return some_elements(std::move(elements), {.spec = spec, .now = &now, .saved = &saved});
}

TEST(SomeElements, AreAllOfTheTensor) {
  SomeElements const all = told({{6, 12}, {0, 6}});
  EXPECT_EQ(all.part, Part::whole);
  EXPECT_EQ(all.ranges, (Ranges{{0, 12}})) << "joined, in their order";
  EXPECT_EQ(all.count, 12);
  EXPECT_EQ(told({{0, 11}}).part, Part::some);
}

TEST(SomeElements, AreAllThatARankHasOrHad) {
  EXPECT_EQ(told({{6, 12}}).part, Part::shards);
  EXPECT_EQ(told({{6, 12}}).ranks, Ranks{1});
  EXPECT_EQ(told({{8, 12}}).part, Part::saved_shards);
  EXPECT_EQ(told({{8, 12}}).ranks, Ranks{1});
}

TEST(SomeElements, AreOtherwiseOfWhatSomeRanksHave) {
  EXPECT_EQ(told({{7, 12}}).part, Part::some);
  EXPECT_EQ(told({{7, 12}}).ranks, Ranks{1});
  EXPECT_EQ(told({{5, 7}}).ranks, Ranks{}) << "all have some";
  EXPECT_EQ(told({{0, 1}, {2, 3}}).ranks, Ranks{0});
}

TEST(SomeElements, AreFew) {
  Ranges every_other;
  for (std::int64_t i = 0; i < 60; i += 2) append(every_other, i);
  ParameterSpec const spec{.name = "w", .shape = {80}};
  SomeElements const many = some_elements(every_other, {.spec = spec});
  EXPECT_EQ(many.count, 30);
  EXPECT_EQ(many.ranges.size(), SomeElements::ranges_kept);
}

TEST(SomeElements, AreABlockOfTheirRecipe) {
  ParameterSpec spec{.name = "w", .shape = {32, 32}};
  spec.formats.recipe = Recipe::nvfp4;  // blocks of 16 x 16
  auto const block = [&](std::int64_t row, std::int64_t column) {
    Ranges rows;
    for (auto r = row; r < row + 16; ++r)
      rows.push_back({.begin = r * 32 + column, .end = r * 32 + column + 16});
    return rows;
  };
  EXPECT_EQ(some_elements(block(16, 16), {.spec = spec}).part, Part::last_block);
  EXPECT_EQ(some_elements(block(0, 16), {.spec = spec}).part, Part::block);
  EXPECT_EQ(some_elements(block(8, 16), {.spec = spec}).part, Part::some) << "of two blocks";
  spec.formats.recipe = Recipe::mxfp8;  // of 1 x 32
  EXPECT_EQ(some_elements({{64, 96}}, {.spec = spec}).part, Part::block);
}

}  // namespace
}  // namespace adamant::oracle
