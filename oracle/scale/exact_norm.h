// The global norm of a gradient, rounded a stated number of times and independent of any order: the
// sum of squares is exact. It sees values alone, no tensors, ranks or limbs of integers.
//
// The square of a binary32 number has 48 bits and an exponent that binary64 holds, so each square
// is one double. Their sum is kept as an expansion: doubles that do not overlap, of which none is
// lost (Shewchuk 1997, "Adaptive precision floating-point arithmetic", GROW-EXPANSION), and rounded
// to nearest even once, when somebody asks (as Python's math.fsum does it).
#pragma once

#include <span>
#include <vector>

namespace adamant::oracle {

/// An exact sum of squares.
class SquareSum {
 public:
  /// Adds the square of each value. A NaN or an infinity is remembered beside the sum.
  void add(std::span<float const> values);
  void add(SquareSum const& other);

  /// The exact sum, rounded once to binary64, to nearest even. NaN where a NaN was added, else
  /// infinity where an infinity was.
  double rounded() const;

 private:
  void grow(double x);

  std::vector<double> parts_;  // ascending in magnitude, without overlap; their sum is exact
  bool has_nan_ = false;
  bool has_infinity_ = false;
};

/// norm = fl32(sqrt(fl64(sum)))
///
/// Rounding: three times: the sum to binary64, its root in binary64, the root to binary32.
float norm_of(SquareSum const& sum);

/// What gradients are multiplied by so that their norm is at most `max_norm`:
///
///   coefficient = min(fl32(max_norm / fl32(norm + 1e-6)), 1)
///
/// Rounding: one binary32 addition, one division. A NaN norm gives NaN, an infinite one 0.
/// Source:   torch.nn.utils.clip_grad_norm_, Megatron-LM's clip_by_total_norm_fp32.
float clip_coefficient(float max_norm, float norm);

}  // namespace adamant::oracle
