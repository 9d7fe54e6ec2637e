#include "real/step/work_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::real {
namespace {

std::vector<WorkPiece> pieces_of(std::vector<ParameterSpec> const& specs, RankOfMesh where = {}) {
  return make_work_list(Layout(specs, where), Split(Layout(specs, where)));
}

TEST(WorkList, CutsAtSixtyFourThousandElements) {
  auto const pieces = pieces_of({{.name = "a", .shape = {2 * 65'536 + 1}}});
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].count, 65'536);
  EXPECT_EQ(pieces[1].weight, 65'536 * 4);
  EXPECT_EQ(pieces[2].weight, 131'072 * 4);
  EXPECT_EQ(pieces[2].count, 1);
}

TEST(WorkList, OffsetsGoOnBehindTwoGibibytes) {
  constexpr std::int64_t numel = std::int64_t{3} << 30;
  auto const pieces =
      pieces_of({{.name = "a", .shape = {3, numel / 3}}, {.name = "b", .shape = {5}}});
  ASSERT_EQ(pieces.size(), numel / piece_numel_max + 1);
  WorkPiece const& last = pieces[pieces.size() - 2];
  EXPECT_EQ(last.weight, 4 * (numel - piece_numel_max));
  EXPECT_EQ(last.exp_avg_sq, last.weight);
  EXPECT_EQ(last.count, piece_numel_max);
  EXPECT_EQ(pieces.back().weight, 4 * numel);
  EXPECT_EQ(pieces.back().count, 5);
}

TEST(WorkList, ReachesAsFarAsItsLongestPiece) {
  WorkListExtent const extent =
      extent_of(pieces_of({{.name = "a", .shape = {3}}, {.name = "b", .shape = {65'536 + 7}}}));
  EXPECT_EQ(extent.piece_count, 3);
  EXPECT_EQ(extent.longest, 65'536);
  EXPECT_EQ(extent_of(pieces_of({{.name = "a", .shape = {5}}})).longest, 5);
}

TEST(WorkList, IsFp32WhereNothingHasToBeConverted) {
  auto const is_fp32 = [](std::vector<Formats> const& of_parameters) {
    std::vector<ParameterSpec> specs;
    for (Formats const& formats : of_parameters)
      specs.push_back({.name = "a", .shape = {32, 32}, .formats = formats});
    return extent_of(pieces_of(specs)).is_fp32;
  };
  EXPECT_TRUE(is_fp32({{}, {}}));
  EXPECT_FALSE(is_fp32({{}, {.exp_avg_sq = NumberFormat::bf16}}));
  EXPECT_FALSE(is_fp32({{.exp_avg = NumberFormat::fp8}}));
  EXPECT_FALSE(is_fp32({{.gradient = NumberFormat::fp16}}));
  EXPECT_FALSE(is_fp32({{.parameter = NumberFormat::bf16, .main = NumberFormat::fp32}}));
  // Cast before the step; quantised behind it.
  EXPECT_TRUE(is_fp32({{.gradient = NumberFormat::bf16, .decoupled_gradient = false}}));
  EXPECT_TRUE(is_fp32({{.main = NumberFormat::fp32, .recipe = Recipe::mxfp8}}));
}

TEST(WorkList, PiecesDoNotCrossParametersNorCoverPadding) {
  auto const pieces = pieces_of({{.name = "a", .shape = {3}}, {.name = "b", .shape = {5}}});
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].count, 3);
  EXPECT_EQ(pieces[1].weight, 16);  // after one element of padding
  EXPECT_EQ(pieces[1].count, 5);
  EXPECT_EQ(pieces[1].parameter, 1);
}

TEST(WorkList, OffsetsFollowTheFormatsOfEachKind) {
  std::vector<ParameterSpec> specs = {
      {.name = "a", .shape = {10}}, {.name = "b", .shape = {65'537}}, {.name = "c", .shape = {1}}};
  specs[1].formats = {
      .parameter = NumberFormat::bf16, .exp_avg = NumberFormat::bf16, .main = NumberFormat::fp32};
  specs[2].formats = {.parameter = NumberFormat::fp16, .decoupled_gradient = false};
  auto const pieces = pieces_of(specs);
  ASSERT_EQ(pieces.size(), 4U);
  WorkPiece const& second = pieces[2];
  EXPECT_EQ(second.weight, 65'536 * 4);  // the only main weight
  EXPECT_EQ(second.parameter_copy, 48 + 65'536 * 2);
  EXPECT_EQ(second.gradient, 48 + 65'536 * 4);
  EXPECT_EQ(second.exp_avg, 48 + 65'536 * 2);
  EXPECT_EQ(second.exp_avg_sq, 48 + 65'536 * 4);
  EXPECT_EQ(second.formats.copies, 1);
  EXPECT_EQ(second.formats.cast, 0);
  EXPECT_EQ(pieces[3].formats.gradient, NumberFormat::fp16);
  EXPECT_EQ(pieces[3].formats.copies, 0);
  EXPECT_EQ(pieces[3].formats.cast, 1);
  EXPECT_EQ(pieces[3].gradient, 0);  // the only cast copy
  EXPECT_EQ(pieces[3].weight, pieces[3].parameter_copy);
}

// Codes are made after the step, from the main weight alone.
TEST(WorkList, QuantisedParametersAreNotWritten) {
  std::vector<ParameterSpec> specs = {
      {.name = "a", .shape = {2, 32}, .formats = {.main = NumberFormat::fp32}},
      {.name = "b", .shape = {3, 2}}};
  specs[1].formats = {.main = NumberFormat::fp32, .recipe = Recipe::fp8_current};
  auto const pieces = pieces_of(specs);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].formats.main, 1);
  EXPECT_EQ(pieces[0].formats.copies, 1);
  EXPECT_EQ(pieces[1].formats.main, 1);
  EXPECT_EQ(pieces[1].formats.copies, 0);
  EXPECT_EQ(pieces[1].weight, 2 * 32 * 4);
  EXPECT_EQ(pieces[1].formats.weight, NumberFormat::fp32);
}

TEST(WorkList, RanksWithoutElementsGetNoPieces) {
  std::vector<ParameterSpec> const specs = {{.name = "a", .shape = {5}}};
  EXPECT_TRUE(pieces_of(specs, {.rank = 3, .mesh = {.shards = 4}}).empty());
  EXPECT_EQ(pieces_of(specs, {.rank = 2, .mesh = {.shards = 4}}).size(), 1U);
}

TEST(WorkList, PiecesTileEveryShardFromAlignedStarts) {
  std::vector<ParameterSpec> const specs = {{.name = "a", .shape = {70'001, 3}},
                                            {.name = "b", .shape = {0, 3}},
                                            {.name = "c", .shape = {9, 65'536}}};
  for (int rank = 0; rank < 3; ++rank) {
    Layout const layout(specs, {.rank = rank, .mesh = {.shards = 3}});
    std::vector<std::int64_t> covered(specs.size(), 0);
    for (WorkPiece const& piece : make_work_list(layout, Split(layout))) {
      auto const p = static_cast<std::size_t>(piece.parameter);
      auto const begin =
          static_cast<std::int64_t>(layout[piece.parameter].begin(TensorKind::parameter));
      EXPECT_EQ(piece.weight, begin + 4 * covered[p]);
      EXPECT_EQ(piece.weight % 16, 0);
      EXPECT_GT(piece.count, 0);
      covered[p] += piece.count;
    }
    for (std::size_t p = 0; p < specs.size(); ++p)
      EXPECT_EQ(covered[p], layout[static_cast<int>(p)].stepped_numel());
  }
}

}  // namespace
}  // namespace adamant::real
