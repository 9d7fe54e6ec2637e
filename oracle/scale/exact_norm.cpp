#include "oracle/scale/exact_norm.h"

#include <cmath>
#include <limits>
#include <utility>

namespace adamant::oracle {

void SquareSum::add(std::span<float const> values) {
  for (float const value : values) {
    if (std::isnan(value)) has_nan_ = true;
    if (std::isinf(value)) has_infinity_ = true;
    if (!std::isfinite(value) || value == 0.0F) continue;
    auto const wide = static_cast<double>(value);
    grow(wide * wide);
  }
}

void SquareSum::add(SquareSum const& other) {
  has_nan_ = has_nan_ || other.has_nan_;
  has_infinity_ = has_infinity_ || other.has_infinity_;
  for (double const part : std::vector(other.parts_)) grow(part);
}

// Two doubles become their rounded sum and its exact error; the errors stay, the sum goes on.
void SquareSum::grow(double x) {
  std::size_t kept = 0;
  for (double part : parts_) {
    if (std::abs(x) < std::abs(part)) std::swap(x, part);
    double const sum = x + part;
    double const error = part - (sum - x);
    if (error != 0.0) parts_[kept++] = error;
    x = sum;
  }
  parts_.resize(kept);
  parts_.push_back(x);
}

// From the largest part down until one leaves an error: what is below it cannot change the sum but
// by breaking a tie, which the rounding to even has decided without knowing of it.
double SquareSum::rounded() const {
  if (has_nan_) return std::numeric_limits<double>::quiet_NaN();
  if (has_infinity_) return std::numeric_limits<double>::infinity();
  double sum = 0;
  double error = 0;
  std::size_t left = parts_.size();
  while (left > 0 && error == 0.0) {
    double const before = sum;
    double const part = parts_[--left];
    sum = before + part;
    error = part - (sum - before);
  }
  bool const same_side =
      left > 0 && error != 0.0 && std::signbit(error) == std::signbit(parts_[left - 1]);
  if (!same_side) return sum;
  double const beyond = error * 2;
  double const next = sum + beyond;
  return next - sum == beyond ? next : sum;
}

float norm_of(SquareSum const& sum) {
  return static_cast<float>(std::sqrt(sum.rounded()));
}

float clip_coefficient(float max_norm, float norm) {
  float const coefficient = max_norm / (norm + 1e-6F);
  return coefficient > 1.0F ? 1.0F : coefficient;
}

}  // namespace adamant::oracle
