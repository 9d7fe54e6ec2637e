#include "real/quantise/block_walk.h"

#include <gtest/gtest.h>

namespace adamant::real {
namespace {

/// As the recipes say it, by divisions.
std::int64_t block_by_division(RecipeShape const& shape, std::int64_t element) {
  std::int64_t const side_rows = block_rows(shape.recipe);
  std::int64_t const side_columns = block_columns(shape.recipe);
  std::int64_t const row = element / shape.columns;
  std::int64_t const column = element % shape.columns;
  return row / side_rows * (shape.columns / side_columns) + column / side_columns;
}

constexpr Recipe recipes[] = {Recipe::fp8_block, Recipe::mxfp8, Recipe::nvfp4};

TEST(BlockWalk, GoesWhereDivisionsDo) {
  for (Recipe const recipe : recipes)
    for (std::int64_t const columns : {128, 384, 1152}) {
      RecipeShape const shape{.numel = 256 * columns, .columns = columns, .recipe = recipe};
      for (std::int64_t const first : {0, 1, 7, 8, 71, 500})
        for (std::int64_t const stride : {1, 5, 8, 24, 72, 100, 1000}) {
          BlockWalk walk(shape, first, stride);
          for (std::int64_t run = first; run * run_numel < shape.numel; run += stride) {
            ASSERT_EQ(walk.block(), block_by_division(shape, run * run_numel))
                << name_of(recipe) << ", " << columns << " columns, from run " << first << " by "
                << stride << ": run " << run;
            walk.step();
          }
        }
    }
}

TEST(BlockWalk, BlocksOfElementsAreThoseOfDivisions) {
  for (Recipe const recipe : recipes) {
    RecipeShape const shape{.numel = 256 * 384, .columns = 384, .recipe = recipe};
    for (std::int64_t element = 0; element < shape.numel; element += 5)
      ASSERT_EQ(block_of(shape, element), block_by_division(shape, element)) << element;
    EXPECT_EQ(block_count(shape), block_of(shape, shape.numel - 1) + 1);
  }
  EXPECT_EQ(block_of({.numel = 100, .columns = 10, .recipe = Recipe::fp8_current}, 99), 0);
}

TEST(BlockWalk, CountsPast32Bits) {
  RecipeShape const shape{
      .numel = std::int64_t{1} << 42, .columns = std::int64_t{1} << 38, .recipe = Recipe::nvfp4};
  std::int64_t const first = (std::int64_t{1} << 37) + 3;
  BlockWalk walk(shape, first, std::int64_t{1} << 35);
  walk.step();
  EXPECT_EQ(walk.block(), block_by_division(shape, (first + (std::int64_t{1} << 35)) * run_numel));
}

}  // namespace
}  // namespace adamant::real
