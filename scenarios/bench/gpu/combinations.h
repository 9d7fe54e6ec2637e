// The combinations of formats that steps are measured in, as the table of bytes has them.
#pragma once

#include <string>
#include <vector>

#include "oracle/types.h"
#include "scenarios/bench/gpu/measures.h"

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

/// Calls visit(name, numels, formats) for one flat tensor, GPT-2's and very many of a combination.
template <typename Visit>
void for_each_shape(StepCombination const& combination, GpuSizes const& sizes, Visit const& visit) {
  std::vector<std::int64_t> const many(static_cast<std::size_t>(sizes.many_tensors), sizes.of_many);
  std::string const name = combination.name;
  visit(name + "_flat", std::vector{sizes.flat}, combination.formats);
  visit(name + "_gpt2", sizes.gpt2, combination.formats);
  visit(name + "_many", many, combination.formats);
}

}  // namespace adamant::scenarios
