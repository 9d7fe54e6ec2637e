// The combinations of formats that steps are measured in, as the table of bytes has them.
#pragma once

#include <vector>

#include "oracle/types.h"

namespace adamant::scenarios {

struct StepCombination {
  char const* name;
  Formats formats;
};

inline std::vector<StepCombination> const& combinations() {
  using F = NumberFormat;
  static std::vector<StepCombination> const all = {
      {"fp32", {}},
      {"bf16_main_fp32", {.parameter = F::bf16, .gradient = F::bf16, .main = F::fp32}},
      {"bf16_main_fp32_gradient_fp32", {.parameter = F::bf16, .main = F::fp32}},
      {"bf16_remainder", {.parameter = F::bf16, .gradient = F::bf16, .main = F::remainder}},
      {"bf16_main_fp32_moments_bf16",
       {.parameter = F::bf16,
        .gradient = F::bf16,
        .exp_avg = F::bf16,
        .exp_avg_sq = F::bf16,
        .main = F::fp32}},
      {"bf16_remainder_moments_bf16",
       {.parameter = F::bf16,
        .gradient = F::bf16,
        .exp_avg = F::bf16,
        .exp_avg_sq = F::bf16,
        .main = F::remainder}},
      {"bf16_main_fp32_moments_fp8",
       {.parameter = F::bf16,
        .gradient = F::bf16,
        .exp_avg = F::fp8,
        .exp_avg_sq = F::fp8,
        .main = F::fp32}},
      {"bf16",
       {.parameter = F::bf16, .gradient = F::bf16, .exp_avg = F::bf16, .exp_avg_sq = F::bf16}}};
  return all;
}

}  // namespace adamant::scenarios
