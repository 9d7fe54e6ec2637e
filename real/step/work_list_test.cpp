#include "real/step/work_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::real {
namespace {

std::vector<WorkPiece> pieces_of(std::vector<ParameterSpec> const& specs, RankOfWorld where = {}) {
  return make_work_list(Layout(specs, where));
}

TEST(WorkList, CutsAtSixtyFourThousandElements) {
  auto const pieces = pieces_of({{.name = "a", .shape = {2 * 65'536 + 1}}});
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].count, 65'536);
  EXPECT_EQ(pieces[1].offset, 65'536);
  EXPECT_EQ(pieces[2].offset, 131'072);
  EXPECT_EQ(pieces[2].count, 1);
}

TEST(WorkList, PiecesDoNotCrossParametersNorCoverPadding) {
  auto const pieces = pieces_of({{.name = "a", .shape = {3}}, {.name = "b", .shape = {5}}});
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].count, 3);
  EXPECT_EQ(pieces[1].offset, 4);  // after one element of padding
  EXPECT_EQ(pieces[1].count, 5);
  EXPECT_EQ(pieces[1].parameter, 1);
}

TEST(WorkList, RanksWithoutElementsGetNoPieces) {
  std::vector<ParameterSpec> const specs = {{.name = "a", .shape = {5}}};
  EXPECT_TRUE(pieces_of(specs, {.rank = 3, .world_size = 4}).empty());
  EXPECT_EQ(pieces_of(specs, {.rank = 2, .world_size = 4}).size(), 1U);
}

TEST(WorkList, PiecesTileEveryShardFromAlignedStarts) {
  std::vector<ParameterSpec> const specs = {{.name = "a", .shape = {70'001, 3}},
                                            {.name = "b", .shape = {0, 3}},
                                            {.name = "c", .shape = {9, 65'536}}};
  for (int rank = 0; rank < 3; ++rank) {
    Layout const layout(specs, {.rank = rank, .world_size = 3});
    std::vector<std::int64_t> covered(specs.size(), 0);
    for (WorkPiece const& piece : make_work_list(layout)) {
      auto const p = static_cast<std::size_t>(piece.parameter);
      EXPECT_EQ(piece.offset, layout[piece.parameter].offset + covered[p]);
      EXPECT_EQ(piece.offset % 4, 0);
      EXPECT_GT(piece.count, 0);
      covered[p] += piece.count;
    }
    for (std::size_t p = 0; p < specs.size(); ++p)
      EXPECT_EQ(covered[p], layout[static_cast<int>(p)].shard_numel());
  }
}

}  // namespace
}  // namespace adamant::real
