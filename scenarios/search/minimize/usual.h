// The values that a minimised scenario prefers, each list simplest first. Whatever needs a setting
// at all is tried with these, so that one defect ends with one value whatever value found it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "scenarios/language/recipe.h"
#include "scenarios/language/world.h"

namespace adamant::scenarios {

/// Overrides of one Adam setting each.
std::span<AdamOverride const> usual_overrides();

/// 0 for no override, then the usual ones, then all others, those with fewer keys first.
std::uint64_t rank_of(AdamOverride const& settings);

inline constexpr std::array usual_clips{Clip(), Clip(1.0F), Clip(0.001F), Clip(1000.0F)};
std::uint64_t rank_of(Clip const& clip);

inline constexpr std::array usual_loss_scales{
    LossScale{}, LossScale{.kind = LossScale::Kind::fixed, .value = 2.0F},
    LossScale{.kind = LossScale::Kind::fixed, .value = 65536.0F},
    LossScale{.kind = LossScale::Kind::dynamic, .value = 0.0F}};
std::uint64_t rank_of(LossScale const& scale);

/// Fractions of a hybrid step; the first is the format's default.
inline constexpr std::array usual_fractions{0.5, 1.0, 0.0};
std::uint64_t rank_of_fraction(double fraction);

}  // namespace adamant::scenarios
