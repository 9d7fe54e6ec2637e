// Words of documents for what a violation is about, in the order of the enumerations.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

inline constexpr auto format_names =
    std::to_array<std::string_view>({"fp32", "bf16", "fp16", "fp8", "remainder"});
inline constexpr auto recipe_names =
    std::to_array<std::string_view>({"fp8_delayed", "fp8_current", "fp8_block", "mxfp8", "nvfp4"});
inline constexpr auto kind_names = std::to_array<std::string_view>(
    {"parameter", "gradient", "exp_avg", "exp_avg_sq", "main", "cast_gradient"});
inline constexpr auto scaling_names =
    std::to_array<std::string_view>({"loss_scale", "skipped", "inverse", "norm", "coefficient",
                                     "max_norm", "growth_tracker", "hysteresis"});
static_assert(scaling_names.size() == scaling_number_count);
inline constexpr auto part_names = std::to_array<std::string_view>(
    {"some", "whole", "shards", "saved_shards", "block", "last_block"});
inline constexpr auto ending_names =
    std::to_array<std::string_view>({"error", "signal", "exit", "none"});

template <typename Enum>
std::string_view name_in(std::span<std::string_view const> names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace adamant::scenarios
