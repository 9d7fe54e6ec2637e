// Some of a model's parameters, by number: those that have a gradient, say. 64 to a word, so that
// the sets of 10,000 parameters are compared and copied as 157 numbers. It knows nothing of
// parameters but how many there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "real/cuda/assert.h"

namespace adamant::real {

/// Invariant: bits beyond the last parameter are 0, so that equal sets have equal words.
class ParameterSet {
 public:
  /// None of `count` parameters.
  explicit ParameterSet(std::size_t count = 0)
      : count_(count), words_((count + word_bits - 1) / word_bits) {}

  /// Of parameters, whether they are in it or not.
  std::size_t count() const { return count_; }
  bool empty() const {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
  }
  bool has(int parameter) const {
    std::size_t const p = checked(parameter);
    return (words_[p / word_bits] >> (p % word_bits) & 1) != 0;
  }

  void add(int parameter) {
    std::size_t const p = checked(parameter);
    words_[p / word_bits] |= std::uint64_t{1} << (p % word_bits);
  }
  void add_all() {
    std::ranges::fill(words_, ~std::uint64_t{0});
    if (std::size_t const last = count_ % word_bits; last != 0)
      words_.back() = (std::uint64_t{1} << last) - 1;
  }
  void clear() { std::ranges::fill(words_, 0); }

  friend bool operator==(ParameterSet const&, ParameterSet const&) = default;

 private:
  static constexpr std::size_t word_bits = 64;

  std::size_t checked(int parameter) const {
    ADAMANT_REAL_ASSERT(parameter >= 0);
    ADAMANT_REAL_ASSERT(static_cast<std::size_t>(parameter) < count_);
    return static_cast<std::size_t>(parameter);
  }

  std::size_t count_;
  std::vector<std::uint64_t> words_;
};

}  // namespace adamant::real
