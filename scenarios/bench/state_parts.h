// The state of GPT-2 124M that suites move: parameters and moments, of which each element has bits
// of its own, so that one in another place is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "scenarios/bench/engine_parts.h"

namespace adamant::scenarios {

/// Elements of a whole tensor, and where a rank has them. Tensors are numbered parameter after
/// parameter, the kinds of each together.
struct StatePart {
  std::size_t tensor = 0;
  ElementRange elements;
  std::uint32_t* words = nullptr;

  void fill() const {
    for (std::int64_t i = 0; i < elements.numel(); ++i) words[i] = bits_of(elements.begin + i);
  }
  /// Errors: std::runtime_error where the bits are others than those of fill().
  void check() const {
    for (std::int64_t i = 0; i < elements.numel(); ++i)
      if (words[i] != bits_of(elements.begin + i))
        throw std::runtime_error("what was loaded is not what was saved");
  }

 private:
  std::uint32_t bits_of(std::int64_t index) const {
    return static_cast<std::uint32_t>(index) * 2654435761U +
           static_cast<std::uint32_t>(tensor) * 97U;
  }
};

/// Memory for what one rank has of all tensors, touched, one part after the other.
class RankMemory {
 public:
  RankMemory(std::span<ParameterSpec const> parameters, real::RankOfWorld rank) {
    std::vector<std::size_t> begins;
    std::size_t numel = 0;
    for (ParameterSpec const& parameter : parameters) {
      for (std::size_t kind = 0; kind < std::size(state_kinds); ++kind) {
        parts_.push_back({.tensor = parts_.size(), .elements = kept_range(rank, parameter)});
        begins.push_back(numel);
        numel += static_cast<std::size_t>(parts_.back().elements.numel());
      }
    }
    words_.resize(numel);
    for (StatePart& part : parts_) part.words = words_.data() + begins[part.tensor];
  }

  std::vector<StatePart> const& parts() const { return parts_; }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words_)); }
  std::span<std::byte const> bytes() const { return std::as_bytes(std::span(words_)); }
  /// Where a part begins in bytes().
  std::size_t begin_of(StatePart const& part) const {
    return static_cast<std::size_t>(part.words - words_.data()) * sizeof(std::uint32_t);
  }

 private:
  std::vector<std::uint32_t> words_;
  std::vector<StatePart> parts_;
};

}  // namespace adamant::scenarios
