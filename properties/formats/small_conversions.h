// Whole ranges of numbers through CUDA's conversions to 8 and 4 bits and back, as the clone's
// headers or an installed toolkit's compile them for a host.
#pragma once

#include <cstdint>
#include <span>

namespace adamant::properties {

/// What a conversion makes: a code of e4m3 or e5m2 that saturates or does not, of e2m1, of e8m0;
/// and of e4m3 and e2m1 as the engine makes them: the one does not saturate by a conversion that
/// does, the other is made without any.
enum class SmallKind { e4m3, e4m3_beyond, e4m3_stored, e5m2, e5m2_beyond, e2m1, e2m1_stored, e8m0 };
inline constexpr SmallKind small_kinds[] = {
    SmallKind::e4m3,        SmallKind::e4m3_beyond, SmallKind::e4m3_stored, SmallKind::e5m2,
    SmallKind::e5m2_beyond, SmallKind::e2m1,        SmallKind::e2m1_stored, SmallKind::e8m0};

/// One header set's conversions.
struct SmallConversions {
  /// codes[i] = what `values[i]` becomes.
  void (*narrow)(SmallKind kind, std::span<float const> values, std::span<std::uint8_t> codes);
  /// What a code is worth.
  float (*widen)(SmallKind kind, std::uint8_t code);
};

SmallConversions cloned_small();
SmallConversions installed_small();

}  // namespace adamant::properties
