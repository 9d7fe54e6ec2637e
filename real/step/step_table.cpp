#include "real/step/step_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "real/bug.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

// The decimal that a user is likely to have written, for bugs that never round it to binary32.
double decimal_of(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", static_cast<double>(value));
  return std::strtod(text, nullptr);
}

float bias_correction(float beta, std::int64_t step) {
  if (ADAMANT_BUG(bias_correction_in_float)) return 1.0F - std::pow(beta, static_cast<float>(step));
  double base = static_cast<double>(beta);
  if (ADAMANT_BUG(bias_correction_from_decimal_beta)) base = decimal_of(beta);
  double const correction = 1.0 - std::pow(base, static_cast<double>(step));
  return static_cast<float>(ADAMANT_BUG(kozistr_308) ? 1.0 - correction : correction);
}

/// The upper half of the bits, as a truncating conversion to bf16 leaves them.
float upper_half(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000U);
}

void advance_one(std::int64_t& counter) {
  if (ADAMANT_BUG(olmo_core_309) && counter > 0) return;
  ++counter;
}

AdamConfig with_short_betas(AdamConfig config) {
  config.beta1 = upper_half(config.beta1);
  config.beta2 = upper_half(config.beta2);
  return config;
}

float complement(float beta) {
  if (ADAMANT_BUG(complement_in_double)) return static_cast<float>(1.0 - decimal_of(beta));
  return 1.0F - beta;
}

}  // namespace

StepScalars step_scalars(AdamConfig const& asked, std::int64_t step, bool apply) {
  AdamConfig const config = ADAMANT_BUG(tt_metal_55935) ? with_short_betas(asked) : asked;
  ADAMANT_REAL_ASSERT(step >= (apply ? 1 : 0));
  StepScalars row;
  row.learning_rate = config.learning_rate;
  row.beta1 = config.beta1;
  row.one_minus_beta1 = complement(config.beta1);
  row.beta2 = config.beta2;
  row.one_minus_beta2 = complement(config.beta2);
  row.epsilon = config.epsilon;
  row.weight_decay = config.weight_decay;
  row.decoupled = config.mode == AdamMode::adamw ? 1 : 0;
  row.apply = apply ? 1 : 0;
  if (config.bias_correction) {
    std::int64_t const number = ADAMANT_BUG(counter_off_by_one) ? step + 1 : step;
    row.correction1 = bias_correction(config.beta1, number);
    row.correction2 = bias_correction(config.beta2, number);
  }
  return row;
}

StepCounters::StepCounters(std::span<ParameterSpec const> parameters, int group_count,
                           StepCounter kind)
    : kind_(kind),
      group_steps_(static_cast<std::size_t>(group_count), 0),
      parameter_steps_(parameters.size(), 0) {
  for (ParameterSpec const& spec : parameters) {
    ADAMANT_REAL_ASSERT(spec.group >= 0);
    ADAMANT_REAL_ASSERT(spec.group < group_count);
    group_of_.push_back(spec.group);
  }
}

void StepCounters::advance(std::vector<bool> const& has_gradient, Layout const& layout) {
  ADAMANT_REAL_ASSERT(has_gradient.size() == parameter_steps_.size());
  std::vector<bool> owns_some(group_steps_.size(), false);
  for (std::size_t p = 0; p < parameter_steps_.size(); ++p) {
    auto const group = static_cast<std::size_t>(group_of_[p]);
    if (layout[static_cast<int>(p)].shard_numel() > 0) owns_some[group] = true;
    if (has_gradient[p]) advance_one(parameter_steps_[p]);
    if (ADAMANT_BUG(flashlight_143)) ++group_steps_[group];
  }
  if (ADAMANT_BUG(flashlight_143)) return;
  for (std::size_t g = 0; g < group_steps_.size(); ++g) {
    if (ADAMANT_BUG(te_3318) && !owns_some[g]) continue;
    advance_one(group_steps_[g]);
  }
}

void StepCounters::restore(std::vector<std::int64_t> group_steps,
                           std::vector<std::int64_t> parameter_steps) {
  ADAMANT_REAL_ASSERT(group_steps.size() == group_steps_.size());
  ADAMANT_REAL_ASSERT(parameter_steps.size() == parameter_steps_.size());
  group_steps_ = std::move(group_steps);
  parameter_steps_ = std::move(parameter_steps);
}

std::int64_t StepCounters::of(int parameter) const {
  ADAMANT_REAL_ASSERT(parameter >= 0);
  auto const p = static_cast<std::size_t>(parameter);
  ADAMANT_REAL_ASSERT(p < parameter_steps_.size());
  std::int64_t const more = ADAMANT_BUG(canary) ? 1 : 0;
  bool const own =
      kind_ == StepCounter::parameter && !ADAMANT_BUG(group_counter_for_late_parameter);
  if (own) return parameter_steps_[p] + more;
  return group_steps_[static_cast<std::size_t>(group_of_[p])] + more;
}

}  // namespace adamant::real
