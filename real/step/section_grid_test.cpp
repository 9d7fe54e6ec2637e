#include "real/step/section_grid.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace adamant::real {
namespace {

using Stretch = std::array<std::int64_t, 3>;  // piece, begin, end

std::vector<WorkPiece> pieces_of(std::vector<std::int32_t> const& counts) {
  std::vector<WorkPiece> pieces(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) pieces[i].count = counts[i];
  return pieces;
}

/// What the blocks of a launch have, one after the other.
std::vector<Stretch> stretches_of(std::vector<WorkPiece> const& pieces) {
  SectionGrid const grid = grid_of(extent_of(pieces));
  std::vector<Stretch> stretches;
  for (std::uint32_t block = 0; block < grid.blocks; ++block) {
    std::uint32_t const piece = grid.piece_of(block);
    Section const section = grid.section_of(pieces.at(piece), block);
    if (section.count > 0)
      stretches.push_back({std::int64_t{piece}, section.begin, section.begin + section.count});
  }
  return stretches;
}

TEST(SectionGrid, BlocksThatFollowEachOtherHaveSectionsThatDo) {
  std::vector<Stretch> const expected = {{0, 0, 4'096}, {0, 4'096, 8'192}, {0, 8'192, 8'195},
                                         {1, 0, 1},     {2, 0, 4'096},     {2, 4'096, 8'192}};
  EXPECT_EQ(stretches_of(pieces_of({8'195, 1, 8'192})), expected);
}

TEST(SectionGrid, ThereAreNoMoreBlocksThanSectionsOfTheLongest) {
  EXPECT_EQ(grid_of(extent_of(pieces_of({1}))).blocks, 1U);
  EXPECT_EQ(grid_of(extent_of(pieces_of({4'096, 7}))).blocks, 2U);
  EXPECT_EQ(grid_of(extent_of(pieces_of({7, 4'097}))).blocks, 4U);
  EXPECT_EQ(grid_of(extent_of(pieces_of({65'536, 65'536}))).blocks, 32U);
}

// More pieces than a grid has in its second and third dimension.
TEST(SectionGrid, ReachesAsManyPiecesAsAGridIsWide) {
  constexpr std::int64_t most = 0x7fffffff / 16;
  SectionGrid const grid = grid_of({.piece_count = most, .longest = piece_numel_max});
  EXPECT_EQ(grid.blocks, 16U * most);
  EXPECT_EQ(grid.piece_of(grid.blocks - 1), most - 1);
  WorkPiece const whole = {.count = static_cast<std::int32_t>(piece_numel_max)};
  EXPECT_EQ(grid.section_of(whole, grid.blocks - 1).begin, piece_numel_max - section_numel);
}

}  // namespace
}  // namespace adamant::real
