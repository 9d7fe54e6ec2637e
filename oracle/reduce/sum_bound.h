// What a gradient's mean may be when its sum was rounded in an order that nobody promised: a set of
// admissible values for each element, derived from its inputs alone. It knows no collective
// algorithm; ring, tree, any split over ranks and any number of added zeros are inside.
//
// A sum is taken in a format of p significant bits (24 of fp32, 11 of fp16, 8 of bf16): each
// addition rounds to it once, u = 2^-p. Of the inputs x_1 ... x_n of one element, which are numbers
// of that format, k are finite and not zero: k_P positive ones with the sum P, k_N negative ones
// with the magnitude sum N. s = P - N is the exact sum, and ufp(x) is the largest power of two not
// above |x|. One order is one binary tree of additions.
//
// 1. Zeros are free: fl(a + 0) = a. At most k - 1 additions round.
// 2. Partial sums. fl(a + b) is monotone in a and b, so dropping the negative inputs only raises
//    every partial sum; a tree of positive inputs rounds each of them at most k_P - 1 times, so it
//    stays below P (1 + u)^(k_P - 1) <= P (1 + 2 (k_P - 1) u). With N alike, no partial sum,
//    rounded or not, exceeds in magnitude
//      M = max(P (1 + 2 (k_P - 1) u), N (1 + 2 (k_N - 1) u)).
// 3. The result of a tree that does not overflow is s plus the errors of its additions. Rounding
//    x to nearest errs by at most u ufp(x) (by nothing if x is subnormal), so
//      |result - s| <= (k - 1) u ufp(M).
// 4. k <= 2 leaves one possible result: fl(x_i + x_j), whatever the order.
// 5. Rounding is monotone: a division by n in fp32, rounded to the format, and the addition to an
//    older gradient, rounded to it, map the ends of an interval to the ends of the next, each end
//    rounded as the engine rounds. fp32 has at least 2 p + 2 bits where the format is shorter, so
//    that an operation in it, rounded once more, is correctly rounded in the format.
// 6. Overflow. +infinity can arise only if a sum of positive inputs reaches the largest number plus
//    half a step, 2^128 - 2^103 in fp32, from where rounding gives infinity. Before its own
//    rounding that sum is at most P (1 + 2 (k_P - 2) u), k_P >= 2. -infinity alike with N. Which
//    classes can come out:
//      a NaN input, or infinities of both signs            NaN only
//      an infinity of one sign                             that infinity; also NaN, if finite
//                                                          inputs can overflow to the other sign
//      none, but P can overflow                            +infinity, as well as finite values
//      none, but N can overflow                            -infinity, as well as finite values
//      both can                                            and NaN
//    Finite values are out only if the whole interval lies beyond the largest finite number.
// 7. P and N are kept in binary64. Their own error and that of the arithmetic here are below
//    2^-51 k M, and (k - 1) u ufp(M) is at least 2^-26 k M for k >= 3; so widening it by a factor
//    of 1 + 2^-24 covers them.
// 8. Step 2's last inequality needs (k - 1) u <= 1: at most inputs_max() of them, also in steps 4
//    and 6.
//
// Not said: the sign of a zero result (both are admissible), and correlations between elements.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/interval/admissible.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// The inputs of one sign: the sum of their magnitudes (P or N), and how many there are.
struct SideSum {
  double sum = 0.0;
  std::uint32_t count = 0;
};

/// How many inputs the bound holds for: 2^22 in fp32, where (k - 1) u stays well below 1, and 2^p
/// in shorter formats.
int inputs_max(NumberFormat format);

/// What the mean of one element's inputs may be: any order of additions in `format`, then one
/// division by the number of inputs, rounded to it.
///
/// Errors: asserts 1 <= inputs.size() <= inputs_max(format).
Admissible mean_bound(std::span<float const> inputs, NumberFormat format = NumberFormat::fp32);

/// What a gradient may be after such a mean was added to its older value: fl(older + mean).
Admissible add_to(float older, Admissible const& mean, NumberFormat format = NumberFormat::fp32);

/// The same for a whole tensor, fed one microbatch at a time, so that none need be kept.
///
/// Units: 33 bytes per element; cut large tensors into blocks.
class MeanBounds {
 public:
  explicit MeanBounds(std::int64_t numel, NumberFormat format = NumberFormat::fp32);

  /// Takes one microbatch's gradient, flat [numel].
  void add(std::span<float const> microbatch);

  std::int64_t numel() const;
  int count() const { return count_; }

  /// What the mean over the microbatches added so far may be. REQUIRES: count() >= 1.
  Admissible at(std::int64_t index) const { return at(index, count_); }
  /// Their sum over another number, where each of them is itself a sum of several.
  Admissible at(std::int64_t index, int divisor) const;

 private:
  std::vector<SideSum> positive_;
  std::vector<SideSum> negative_;
  NumberFormat format_;
  std::vector<std::uint8_t> nonfinite_;  // which non-finite classes were seen
  int count_ = 0;
};

}  // namespace adamant::oracle
