// The values that a minimised scenario prefers, each list simplest first. Whatever needs a setting
// at all is tried with these, so that one defect ends with one value whatever value found it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenarios/language/kinds.h"

namespace adamant::scenarios {

/// Overrides of one Adam setting each.
std::span<AdamOverride const> usual_overrides();

inline constexpr std::array usual_clips{Clip(), Clip(1.0F), Clip(0.001F), Clip(1000.0F)};

inline constexpr std::array usual_loss_scales{
    LossScale{}, LossScale{.kind = LossScale::Kind::fixed, .value = 2.0F},
    LossScale{.kind = LossScale::Kind::fixed, .value = 65536.0F},
    LossScale{.kind = LossScale::Kind::dynamic, .value = 0.0F}};

/// Fractions of a hybrid step; the first is the format's default.
inline constexpr std::array usual_fractions{0.5, 1.0, 0.0};

/// 0 for no override, then the usual ones, then all others, those with fewer keys first.
std::uint64_t usual_place(AdamOverride const& settings);

// ---- where a value stands among those of its kind, the simplest first ---------------------------

/// Words in the order of the format's lists.
template <typename Enum>
std::uint64_t usual_place(kinds::Words<Enum>, Enum value) {
  return static_cast<std::uint64_t>(value);
}
std::uint64_t usual_place(kinds::Integer, std::int64_t value);
std::uint64_t usual_place(kinds::Fraction, double value);
std::uint64_t usual_place(kinds::Names, std::vector<std::string> const& value);
std::uint64_t usual_place(kinds::Norm, Clip const& value);
std::uint64_t usual_place(kinds::Scale, LossScale const& value);
/// Of all others one value is as good as any other; Adam's are weighed together, see above.
template <typename Kind>
std::uint64_t usual_place(Kind, typename Kind::Value const&) {
  return 0;
}

}  // namespace adamant::scenarios
