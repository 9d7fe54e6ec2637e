// What a gradient's mean may be when its sum was rounded in an order that nobody promised: a set of
// admissible binary32 values for each element, derived from its inputs alone. It knows no
// collective algorithm; ring, tree, any split over ranks and any number of added zeros are inside.
//
// The inputs of one element are x_1 ... x_n, of which k are finite and not zero; u = 2^-24;
// S = |x_1| + ... + |x_n|; P and N are the sums of the positive and of the negated negative ones.
//
// 1. Zeros are free. fl(a + 0) = a, so at most k - 1 additions round.
// 2. Any tree of additions that never overflows ends within (k - 1) u S of the exact sum s.
//    By induction over the tree. A node joins results a and b of subtrees with k1 and k2 inputs,
//    absolute sums S1 and S2, and errors E1 <= (k1 - 1) u S1, E2 <= (k2 - 1) u S2. Addition
//    commits no underflow error (a sum in the subnormal range is exact), so its own error D obeys
//    both D <= u |a + b| and, as a itself is a candidate, D <= |b| (and D <= |a|).
//    - S2 <= u S1: D <= |b| <= S2 + E2 <= u S1 + E2, so E1 + E2 + D <= k1 u S1 + 2 (k2 - 1) u S2,
//      and 2 S2 <= S1 makes that <= (k1 + k2 - 1) u (S1 + S2). The same with 1 and 2 exchanged.
//    - otherwise u S2 < S1 and u S1 < S2: D <= u (S1 + S2) + u (E1 + E2), and
//      u E2 <= (k2 - 1) u (u S2) <= (k2 - 1) u S1, u E1 <= (k1 - 1) u S2; the sum of all is
//      (k1 + k2 - 1) u (S1 + S2).
//    (Jeannerod & Rump 2013 has the same bound for any order, without terms in u^2.)
// 3. k <= 2 leaves one possible result: fl(x_i + x_j), whatever the order.
// 4. Rounding is monotone: a division by n, and the addition to an older gradient, map the ends of
//    an interval to the ends of the next, each end rounded once as the engine rounds.
// 5. Overflow: dropping the negative inputs only raises every partial sum, so no partial sum
// exceeds
//    P + (k_P - 1) u P, and +infinity can arise only if that reaches 2^128 - 2^103, the number from
//    which rounding gives infinity. -infinity alike with N.
//    Which classes can come out:
//      a NaN input, or infinities of both signs            NaN only
//      an infinity of one sign                             that infinity; also NaN, if finite
//                                                          inputs can overflow to the other sign
//      none, but P can overflow                            +infinity, as well as finite values
//      none, but N can overflow                            -infinity, as well as finite values
//      both can                                            and NaN
//    Finite values are out only if the whole interval lies beyond the largest finite number.
// 6. P and N are kept in binary64. Their own error and that of the arithmetic here are below
//    (k - 1) u S 2^-26 for k <= 2^22, by which the bound is widened.
//
// Not said: the sign of a zero result (both are admissible), and correlations between elements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace adamant::oracle {

/// The values that one element may have: an interval of finite ones, and classes of others.
struct Admissible {
  bool finite_possible = false;  // if not, lo and hi mean nothing
  float lo = 0.0F;
  float hi = 0.0F;
  bool may_be_nan = false;
  bool may_be_pos_inf = false;
  bool may_be_neg_inf = false;

  bool contains(float actual) const;

  /// How much of the interval a value inside uses: its distance from the middle over half the
  /// width; 0 in an interval of one value, and for a value that is not finite.
  double used(float actual) const;

  friend bool operator==(Admissible const&, Admissible const&) = default;
};

/// What the mean of one element's inputs may be: any order of binary32 additions, then one division
/// by the number of inputs.
///
/// Errors: asserts 1 <= inputs.size() <= 2^22.
Admissible mean_bound(std::span<float const> inputs);

/// What a gradient may be after such a mean was added to its older value: fl(older + mean).
Admissible add_to(float older, Admissible const& mean);

/// The same for a whole tensor, fed one microbatch at a time, so that none need be kept.
///
/// Units: 21 bytes per element; cut large tensors into blocks.
class MeanBounds {
 public:
  explicit MeanBounds(std::int64_t numel);

  /// Takes one microbatch's gradient, flat [numel].
  void add(std::span<float const> microbatch);

  std::int64_t numel() const;
  int count() const { return count_; }

  /// What the mean over the microbatches added so far may be. REQUIRES: count() >= 1.
  Admissible at(std::int64_t index) const;

  /// The first element of `actual` that is not admissible. `older` is the gradient's value before
  /// this mean was added, or empty if there was none.
  std::optional<std::int64_t> first_outside(std::span<float const> actual,
                                            std::span<float const> older) const;

 private:
  std::vector<double> positive_;         // P
  std::vector<double> negative_;         // N
  std::vector<std::uint32_t> nonzero_;   // k
  std::vector<std::uint8_t> nonfinite_;  // which non-finite classes were seen
  int count_ = 0;
};

}  // namespace adamant::oracle
