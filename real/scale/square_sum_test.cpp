#include "real/scale/square_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace adamant::real {
namespace {

using Values = std::vector<float>;

/// Words of one thread, and how often they were added to.
struct Kept {
  std::array<Word, word_count> words = {};
  std::int64_t additions = 0;
};

struct KeptWords {
  Kept* kept = nullptr;
  void add(int word, std::uint32_t part) const {
    kept->words.at(static_cast<std::size_t>(word)) += part;
    ++kept->additions;
  }
};

/// The squares of all values, lanes by lanes as a kernel takes them.
Kept summed(Values const& values) {
  Kept kept;
  SquareSum sum(KeptWords{&kept});
  for (std::size_t i = 0; i < values.size(); i += lanes) {
    std::size_t const count = std::min<std::size_t>(lanes, values.size() - i);
    float x[lanes] = {};
    std::copy_n(values.data() + i, count, x);
    sum.add(x, static_cast<int>(count));
  }
  sum.flush();
  carry(kept.words.data());
  return kept;
}

/// One after the other.
std::array<Word, word_count> expected(Values const& values) {
  std::array<Word, word_count> words = {};
  for (float const x : values) {
    if (!std::isfinite(x)) {
      ++words[std::isnan(x) ? nan_word : infinity_word];
      continue;
    }
    SquareParts const square = square_parts(x);
    for (int i = 0; i < 3; ++i) words[static_cast<std::size_t>(square.limb + i)] += square.parts[i];
  }
  carry(words.data());
  return words;
}

constexpr int numel = 100'000;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// SplitMix64.
class Bits {
 public:
  std::uint32_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
    return static_cast<std::uint32_t>(mixed >> 32);
  }

 private:
  std::uint64_t state_ = 7;
};

/// Of a normal distribution, for which 12 uniform numbers do.
Values normal_values(float deviation) {
  Bits bits;
  Values values(numel);
  for (float& value : values) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(bits.next()) * 0x1p-32;
    value = static_cast<float>(sum) * deviation;
  }
  return values;
}

/// All patterns of bits alike.
Values wild_values() {
  Bits bits;
  Values values(numel);
  for (float& value : values) value = __builtin_bit_cast(float, bits.next());
  return values;
}

TEST(SquareSum, OfAnyNumbersIsThatOfEach) {
  for (float const deviation : {1.0F, 1e-3F, 0x1p-14F, 1e-7F, 1e-20F, 1e-40F, 1e30F, 1e38F}) {
    Values const values = normal_values(deviation);
    EXPECT_EQ(summed(values).words, expected(values)) << deviation;
  }
  Values const wild = wild_values();
  EXPECT_EQ(summed(wild).words, expected(wild));
  EXPECT_EQ(summed({}).words, expected({}));
}

// Beside numbers of every magnitude, above and below, at both ends of their binades.
TEST(SquareSum, WhereverNumbersLieInAWindow) {
  for (int exponent = -149; exponent <= 127; ++exponent)
    for (int const distance : {-60, -41, -18, -17, -16, -1, 0, 1, 3, 4, 5, 40})
      for (float const fraction : {1.0F, 0x1.000002p0F, 0x1.555556p0F, 0x1.fffffep0F}) {
        float const x = std::ldexp(fraction, exponent);
        float const y = std::ldexp(fraction, std::min(exponent + distance, 127));
        Values const values = {x, x, 0, x, x, x, -0.0F, -x, y, -y, x};
        ASSERT_EQ(summed(values).words, expected(values)) << x << " and " << y;
      }
}

// Halves of what a number is split at go to the even side, both ways.
TEST(SquareSum, OfEveryLowPart) {
  Values values = {1};
  for (std::uint32_t low = 0; low < 1U << 23; low += 509)
    values.push_back(__builtin_bit_cast(float, 0x40000000U | low));
  for (int const exponent : {-2, -1, 0, 1, 2})
    for (int k = 0; k < 24; ++k)
      values.push_back(std::ldexp(1.0F + std::ldexp(1.0F, -k), exponent));
  EXPECT_EQ(summed(values).words, expected(values));
}

TEST(SquareSum, CountsWhatIsNoNumber) {
  Values const values = {nan, 1, infinity, -infinity, 2, -nan, infinity, 3, nan, 4};
  Kept const kept = summed(values);
  EXPECT_EQ(kept.words, expected(values));
  EXPECT_EQ(kept.words[nan_word], 3U);
  EXPECT_EQ(kept.words[infinity_word], 3U);
}

// What lies behind the last number does not count, whatever was made of it.
TEST(SquareSum, OfFewerThanThereAreLanes) {
  Kept kept;
  SquareSum sum(KeptWords{&kept});
  float x[lanes] = {3, 4, nan, infinity, 5, nan, 6, 7};
  sum.add(x, 2);
  sum.flush();
  EXPECT_EQ(kept.words, expected({3, 4}));
}

// More of the largest numbers in a window than a sum in registers has room for.
TEST(SquareSum, OfManyLargeNumbers) {
  constexpr Word many = 1 << 17;
  constexpr float large = 0x1.fffffep3F;
  Kept kept;
  SquareSum sum(KeptWords{&kept});
  float first[lanes] = {1};
  sum.add(first, 1);
  for (Word i = 0; i < many; ++i) {
    float x[lanes];
    std::fill_n(x, lanes, large);
    sum.add(x, lanes);
  }
  sum.flush();
  EXPECT_LE(kept.additions, 5 * 5);  // without moving the window
  Kept right;
  for (std::size_t w = 0; w < word_count; ++w)
    right.words[w] = expected({1})[w] + expected({large})[w] * many * lanes;
  carry(kept.words.data());
  carry(right.words.data());
  EXPECT_EQ(kept.words, right.words);
}

// What the words are reached for: the same number for gradients of any size.
TEST(SquareSum, SeldomReachesTheWords) {
  for (float const deviation : {1e-3F, 0x1p-14F, 1e-7F, 0x1p-112F, 0x1p120F}) {
    Kept const kept = summed(normal_values(deviation));
    EXPECT_LE(kept.additions, numel / 1'000) << deviation;
  }
  Values sparse = normal_values(1);
  for (std::size_t i = 0; i < sparse.size(); ++i)
    if (i % 16 != 0) sparse[i] = 0;
  EXPECT_LE(summed(sparse).additions, numel / 1'000);
  EXPECT_LE(summed(wild_values()).additions, 4 * numel);
}

}  // namespace
}  // namespace adamant::real
