// Reproducible numbers for the oracle's own tests: the same on every compiler and machine, with no
// standard distribution in between. Tests alone include it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace adamant::oracle {

/// Steele, Lea & Flood 2014, splitmix64.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t below(std::uint64_t end) { return bits() % end; }

  /// Any finite pattern: subnormals, zeros and huge values are as likely as their patterns.
  float finite() {
    for (;;) {
      auto const x = std::bit_cast<float>(static_cast<std::uint32_t>(bits()));
      if (std::isfinite(x)) return x;
    }
  }

  /// Sign and 24 random bits, with an exponent drawn from [exponent_min, exponent_max].
  float scaled(int exponent_min, int exponent_max) {
    auto const exponents = static_cast<std::uint64_t>(exponent_max - exponent_min + 1);
    auto const mantissa = static_cast<float>(static_cast<std::int64_t>(below(1U << 24)));
    auto const exponent = exponent_min + static_cast<int>(below(exponents));
    auto const magnitude = std::ldexp(mantissa, exponent - 24);
    return below(2) == 0 ? magnitude : -magnitude;
  }

 private:
  std::uint64_t state_;
};

}  // namespace adamant::oracle
