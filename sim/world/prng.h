// The one generator of pseudo-random numbers. Streams of numbers for different uses come from
// different seeds; none of the standard library's distributions is used, because their results
// differ between implementations.
#pragma once

#include <cstdint>

namespace adamant::sim {

/// A bijection on 64 bits that looks random. Source: Steele, Lea, Flood 2014 (SplitMix64).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

class Prng {
 public:
  explicit constexpr Prng(std::uint64_t seed = 0) : state_(seed) {}

  constexpr std::uint64_t next() { return mix64(state_ += 0x9E3779B97F4A7C15ULL); }

  /// Uniform in [0, count). REQUIRES: count >= 1. The bias of the multiplication, at most
  /// count / 2^32, does not matter to a search.
  constexpr std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(((next() >> 32) * count) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace adamant::sim
