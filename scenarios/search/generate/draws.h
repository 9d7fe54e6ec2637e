// Small integers for the generator, one after another from one seed. The numbers are the same with
// every compiler; it knows nothing of what they decide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace adamant::scenarios {

/// Steele, Lea & Flood 2014, splitmix64.
class Draws {
 public:
  /// Two pairs (seed, index) that differ give unrelated draws: states that are a few steps apart
  /// would give the same ones later.
  Draws(std::uint64_t seed, std::uint64_t index) : state_(seed) {
    state_ = bits() + index * step;
    state_ = bits();
  }

  std::uint64_t bits() {
    std::uint64_t z = state_ += step;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  /// In [0, end); 0 where `end` is 0. The bias is below 2^-40, which no distribution here can show.
  std::int64_t below(std::int64_t end) {
    if (end <= 0) return 0;
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(end));
  }

  /// In [first, last].
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + below(last - first + 1);
  }

  bool chance(int percent) { return below(100) < percent; }

  /// REQUIRES: `values` has some.
  template <typename T>
  T const& one_of(std::vector<T> const& values) {
    return values[static_cast<std::size_t>(below(std::ssize(values)))];
  }

  template <typename T, std::size_t N>
  T const& one_of(std::array<T, N> const& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(N)))];
  }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;
  std::uint64_t state_;
};

}  // namespace adamant::scenarios
