#include "oracle/interval/norm_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "oracle/formats/formats.h"
#include "oracle/testing/random_values.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

SquareSum squares_of(std::vector<float> const& values) {
  SquareSum sum;
  sum.add(values);
  return sum;
}

/// The norm as ranks and tensors take it: roots of parts, squared and summed, in `format`.
float norm_in_parts(std::vector<float> const& values, std::size_t part, NumberFormat format) {
  float sum = 0.0F;
  for (std::size_t begin = 0; begin < values.size(); begin += part) {
    float squares = 0.0F;
    for (std::size_t i = begin; i < std::min(begin + part, values.size()); ++i)
      squares += values[i] * values[i];
    float const root = rounded(std::sqrt(squares), format);
    sum = rounded(sum + rounded(root * root, format), format);
  }
  return rounded(std::sqrt(sum), format);
}

TEST(NormBound, HoldsWhateverThePartsAndTheirOrder) {
  RandomValues random(3);
  for (NumberFormat const format : {NumberFormat::fp32, NumberFormat::bf16}) {
    for (int round = 0; round < 400; ++round) {
      std::vector<float> values(1 + random.below(300));
      for (float& value : values) value = rounded(random.scaled(-20, 20), format);
      std::size_t const part = 1 + random.below(values.size());
      int const parts = static_cast<int>((values.size() + part - 1) / part);
      auto const bound = norm_bound(squares_of(values),
                                    {.elements = std::ssize(values), .tensors = parts}, format);
      float const norm = norm_in_parts(values, part, format);
      EXPECT_TRUE(bound.contains(norm)) << norm << " of [" << bound.lo << ", " << bound.hi << "]";
    }
  }
}

TEST(NormBound, AMissingPartOrAMeanInPlaceOfASumIsOutside) {
  RandomValues random(4);
  std::vector<float> values(200);
  for (float& value : values) value = random.scaled(-2, 0);
  NormShape const shape{.elements = 200, .tensors = 4, .ranks = 4};
  for (NumberFormat const format : {NumberFormat::fp32, NumberFormat::bf16}) {
    auto const bound = norm_bound(squares_of(values), shape, format);
    float const norm = norm_of(squares_of(values));
    EXPECT_TRUE(bound.contains(rounded(norm, format)));
    EXPECT_FALSE(bound.contains(rounded(norm / 2.0F, format)));  // a mean over ranks
    EXPECT_FALSE(bound.contains(rounded(norm * norm, format)));  // without the root
    std::vector<float> const three_ranks(values.begin(), values.begin() + 150);
    EXPECT_FALSE(bound.contains(rounded(norm_of(squares_of(three_ranks)), format)));
  }
  auto const bound = norm_bound(squares_of(values), shape, NumberFormat::fp32);
  EXPECT_LT((bound.hi - bound.lo) / bound.lo, 1e-4);
}

// What PyTorch's DTensor does to norms in fp16, and a square in binary32 does not.
TEST(NormBound, LeavesNoRoomForSquaresInTheRangeOfFp16) {
  NormShape const shape{.elements = 2, .tensors = 1, .ranks = 2};
  Admissible const large = norm_bound(squares_of({240.0F, 320.0F}), shape, NumberFormat::fp16);
  EXPECT_TRUE(large.contains(400.0F));
  EXPECT_FALSE(large.contains(inf));
  Admissible const small = norm_bound(squares_of({0x3p-16F, 0x4p-16F}), shape, NumberFormat::fp16);
  EXPECT_TRUE(small.contains(0x5p-16F));
  EXPECT_FALSE(small.contains(0.0F));
  EXPECT_TRUE(
      norm_bound(squares_of({60000.0F, 60000.0F}), shape, NumberFormat::fp16).contains(inf));
}

// One element that was rounded two times in another way than in the sum.
TEST(NormBound, HoldsNormsOfElementsThatWereRounded) {
  SquareSum const squares = squares_of({1.0F});
  float const norm = 1.0F + 10 * 0x1p-24F;
  EXPECT_FALSE(norm_bound(squares, {.elements = 1}, NumberFormat::fp32).contains(norm));
  NormShape const rounded{.elements = 1, .element_roundings = 2};
  EXPECT_TRUE(norm_bound(squares, rounded, NumberFormat::fp32).contains(norm));
  EXPECT_FALSE(norm_bound(squares, rounded, NumberFormat::fp32).contains(1.0F + 0x1p-20F));
}

TEST(NormBound, NamesWhatIsNotFinite) {
  NormShape const shape{.elements = 2};
  EXPECT_EQ(norm_bound(squares_of({NAN, inf}), shape, NumberFormat::fp32), only_nan());
  EXPECT_EQ(norm_bound(squares_of({1.0F, -inf}), shape, NumberFormat::fp32), only(inf));
  auto const huge = norm_bound(squares_of({1e30F, 1.0F}), shape, NumberFormat::fp32);
  EXPECT_TRUE(huge.contains(inf));
  EXPECT_TRUE(huge.contains(1e30F));
  EXPECT_EQ(norm_bound(squares_of({0.0F, 0.0F}), shape, NumberFormat::fp32), only(0.0F));
}

}  // namespace
}  // namespace adamant::oracle
