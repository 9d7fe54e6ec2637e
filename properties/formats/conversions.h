// Whole ranges of numbers through CUDA's conversions to 16 bits and back, as the clone's headers or
// an installed toolkit's compile them for a host. Each header set has a source of its own, because
// their names are the same.
#pragma once

#include <cstdint>
#include <span>

namespace adamant::properties {

/// One header set's conversions of one format.
struct Conversions {
  /// bits[i] = the number that `values[i]` becomes.
  void (*narrow)(std::span<float const> values, std::span<std::uint16_t> bits);
  /// values[i] = what `bits[i]` is worth.
  void (*widen)(std::span<std::uint16_t const> bits, std::span<float> values);
};

Conversions cloned_bf16();
Conversions cloned_fp16();
Conversions installed_bf16();
Conversions installed_fp16();

}  // namespace adamant::properties
