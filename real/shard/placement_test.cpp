#include "real/shard/placement.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "oracle/types.h"
#include "real/shard/bucketed.h"
#include "real/shard/flat.h"

namespace adamant::real {
namespace {

using Offsets = std::vector<std::int64_t>;

std::vector<TensorSize> sizes_of(std::vector<std::vector<std::int64_t>> const& shapes) {
  std::vector<TensorSize> sizes;
  for (auto const& shape : shapes)
    sizes.push_back({.numel = numel_of(shape), .row_numel = numel_of(std::span(shape).subspan(1))});
  return sizes;
}

TEST(PlaceFlat, BeginsWithTheLastTensorAtMultiplesOfEight) {
  Placement const placement = place_flat(sizes_of({{5}, {3, 3}, {8}}), 3);
  EXPECT_EQ(placement.offsets, (Offsets{24, 8, 0}));
  EXPECT_EQ(placement.numel, 48);  // 29 rounded up to 3 x 8
}

TEST(PlaceFlat, EmptyTensorsTakeNoPlace) {
  Placement const placement = place_flat(sizes_of({{5}, {0, 3}, {2}}), 1);
  EXPECT_EQ(placement.offsets, (Offsets{8, 8, 0}));
  EXPECT_EQ(placement.numel, 16);
  EXPECT_EQ(place_flat(sizes_of({{0}}), 4).numel, 0);
}

// The example in Megatron-FSDP's own documentation of GlobalLayout.
TEST(PlaceBucketed, PutsOddRowsTogetherAndFragmentsBetweenThem) {
  Placement const placement = place_bucketed(sizes_of({{2, 6}, {4, 4}, {4, 4}, {1, 2}, {1, 6}}), 5);
  EXPECT_EQ(placement.offsets, (Offsets{0, 12, 32, 28, 48}));
  EXPECT_EQ(placement.numel, 60);
}

// Of which another implementation cuts the third one's rows.
TEST(PlaceBucketed, FragmentsAtTheEndBeginAtTheirRows) {
  auto const sizes = sizes_of({{2, 8}, {4, 6}, {4, 3}, {5, 2}, {7}});
  Placement const placement = place_bucketed(sizes, 5);
  EXPECT_EQ(placement.numel % (5 * 24), 0);
  std::int64_t const part = placement.numel / 5;
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    EXPECT_EQ(placement.offsets[t] % sizes[t].row_numel, 0) << "tensor " << t;
    for (std::int64_t cut = part; cut < placement.numel; cut += part) {
      bool const inside = placement.offsets[t] < cut && cut < placement.offsets[t] + sizes[t].numel;
      std::int64_t const into_row = (cut - placement.offsets[t]) % sizes[t].row_numel;
      EXPECT_TRUE(!inside || into_row == 0) << "tensor " << t;
    }
  }
}

TEST(PlaceBucketed, EmptyTensorsDoNotWidenTheChunk) {
  Placement const placement = place_bucketed(sizes_of({{2, 2}, {0, 7}, {3, 0}}), 2);
  EXPECT_EQ(placement.offsets[0], 0);
  EXPECT_EQ(placement.numel, 4);
}

}  // namespace
}  // namespace adamant::real
