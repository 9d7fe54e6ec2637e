#include "oracle/layout/packing.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::oracle {
namespace {

using Offsets = std::vector<std::int64_t>;

TensorSize tensor(std::int64_t rows, std::int64_t row_numel) {
  return {.numel = rows * row_numel, .row_numel = row_numel};
}

// c of 7 elements comes first, then b of 6 at 8, a of 16 at 16: 32 elements of which 3 parts need a
// multiple of 24.
TEST(FlatPacking, BeginsWithTheLastTensor) {
  auto const packing = pack_flat(std::vector{tensor(2, 8), tensor(2, 3), tensor(7, 1)}, 3);
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->offsets, (Offsets{16, 8, 0}));
  EXPECT_EQ(packing->size, 48);
}

TEST(FlatPacking, TensorsWithoutElementsTakeNoPlace) {
  auto const packing = pack_flat(std::vector{tensor(1, 5), tensor(0, 4), tensor(1, 3)}, 1);
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->offsets, (Offsets{8, 0, 0}));
  EXPECT_EQ(packing->size, 16);
  EXPECT_EQ(pack_flat(std::vector{tensor(0, 4)}, 5)->size, 0);
}

// The example in the docstring of Megatron-FSDP's GlobalLayout.build: C = 12.
TEST(BucketedPacking, OfAPublicExample) {
  auto const packing = pack_bucketed(
      std::vector{tensor(2, 6), tensor(4, 4), tensor(4, 4), tensor(1, 2), tensor(1, 6)}, 5);
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->offsets, (Offsets{0, 12, 32, 28, 48}));
  EXPECT_EQ(packing->size, 60);
}

// C = 24, and all but (4,6) are fragments: after its 24 elements 16, 12, 10 and 7, each at a
// multiple of its row: 24, 42 up to 54, 54, 64. The older Megatron-FSDP, with no such multiples,
// cuts (4,3) at 48. Here 48 is 2 rows behind 42.
TEST(BucketedPacking, FragmentsBeginAtTheirOwnRows) {
  auto const packing = pack_bucketed(
      std::vector{tensor(2, 8), tensor(4, 6), tensor(4, 3), tensor(5, 2), tensor(7, 1)}, 5);
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->offsets, (Offsets{24, 0, 42, 54, 64}));
  EXPECT_EQ(packing->size, 120);
}

// C = 6, of 8, 11, 9 and 6 elements: 8 leave 4 of a C, too few for the 5 of 11 beyond 6, enough for
// the 3 of 9, which begin 3 before 12. 11 begin at 18, and 6 at 30.
TEST(BucketedPacking, APartnerIsDrawnForward) {
  auto const packing =
      pack_bucketed(std::vector{tensor(4, 2), tensor(11, 1), tensor(3, 3), tensor(2, 3)}, 1);
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->offsets, (Offsets{0, 18, 9, 30}));
  EXPECT_EQ(packing->size, 36);
}

// C = 6: 8 elements leave 4, which are just what 10 have beyond 6.
TEST(BucketedPacking, APartnerMayFillAllThatIsLeft) {
  auto const packing = pack_bucketed(std::vector{tensor(4, 2), tensor(5, 2), tensor(2, 3)}, 1);
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->offsets, (Offsets{0, 8, 18}));
  EXPECT_EQ(packing->size, 24);
}

// C = 4: behind 8 elements both fragments of 3, the first before the second, then 2, then 1.
TEST(BucketedPacking, TiesGoByTheirOrder) {
  auto const packing = pack_bucketed(
      std::vector{tensor(2, 1), tensor(3, 1), tensor(3, 1), tensor(1, 1), tensor(2, 4)}, 1);
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->offsets, (Offsets{14, 8, 11, 16, 0}));
  EXPECT_EQ(packing->size, 20);
}

TEST(BucketedPacking, RowsOfTensorsWithoutElementsDoNotCount) {
  auto const packing = pack_bucketed(std::vector{tensor(3, 2), tensor(0, 7), tensor(5, 0)}, 2);
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->offsets, (Offsets{0, 0, 0}));
  EXPECT_EQ(packing->size, 8);
  EXPECT_EQ(pack_bucketed(std::vector{tensor(0, 7)}, 3)->size, 0);
}

// One element in a buffer of 2^31 + 1 leaves 2^31; one more part or element of a row is too much.
TEST(BucketedPacking, PaddingHasALimit) {
  constexpr std::int64_t limit = padding_numel_max;
  EXPECT_EQ(pack_bucketed(std::vector{tensor(1, 1)}, limit + 1)->size, limit + 1);
  EXPECT_FALSE(pack_bucketed(std::vector{tensor(1, 1)}, limit + 2).has_value());
  // Rows of 2^16 and 2^15 + 1: C is their product, 2^31 + 2^16, and so is the size.
  std::vector const rows{tensor(1, 1 << 16), tensor(1, (1 << 15) + 1)};
  EXPECT_TRUE(pack_bucketed(rows, 1).has_value());
  EXPECT_FALSE(pack_bucketed(rows, 2).has_value());
}

TEST(FlatPacking, PaddingHasALimit) {
  constexpr std::int64_t parts = padding_numel_max / 8;
  EXPECT_EQ(pack_flat(std::vector{tensor(1, 1)}, parts)->size, padding_numel_max);
  EXPECT_FALSE(pack_flat(std::vector{tensor(1, 1)}, parts + 1).has_value());
}

TEST(Packing, HugeTensorsDoNotOverflow) {
  constexpr std::int64_t rows = std::int64_t{1} << 40;
  constexpr std::int64_t ranks = std::int64_t{1} << 40;
  std::vector const tall{tensor(rows, 3), tensor(rows - 1, 2)};
  EXPECT_EQ(pack_bucketed(tall, 1 << 20)->offsets, (Offsets{0, 3 * rows}));
  EXPECT_EQ(pack_flat(tall, 1 << 20)->offsets, (Offsets{2 * rows, 0}));
  EXPECT_FALSE(pack_bucketed(tall, ranks).has_value());
  EXPECT_FALSE(pack_flat(std::vector{tensor(5, 1)}, ranks).has_value());
  // Rows without a common divisor, whose product is beyond 2^63.
  std::vector<TensorSize> wide;
  for (std::int64_t i = 1; i <= 5; ++i)
    wide.push_back(tensor(1, (std::int64_t{1} << 57) + 2 * i - 1));
  EXPECT_FALSE(pack_bucketed(wide, 1).has_value());
  EXPECT_FALSE(pack_bucketed(wide, ranks).has_value());
}

}  // namespace
}  // namespace adamant::oracle
