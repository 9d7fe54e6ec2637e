#include "real/step/step_table.h"

#include <cmath>
#include <utility>

#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

float bias_correction(float beta, std::int64_t step) {
  return static_cast<float>(1.0 - std::pow(static_cast<double>(beta), static_cast<double>(step)));
}

}  // namespace

StepScalars step_scalars(AdamConfig const& config, std::int64_t step, bool apply) {
  ADAMANT_REAL_ASSERT(step >= (apply ? 1 : 0));
  StepScalars row;
  row.learning_rate = config.learning_rate;
  row.beta1 = config.beta1;
  row.one_minus_beta1 = 1.0F - row.beta1;
  row.beta2 = config.beta2;
  row.one_minus_beta2 = 1.0F - row.beta2;
  row.epsilon = config.epsilon;
  row.weight_decay = config.weight_decay;
  row.decoupled = config.mode == AdamMode::adamw ? 1 : 0;
  row.apply = apply ? 1 : 0;
  if (config.bias_correction) {
    row.correction1 = bias_correction(row.beta1, step);
    row.correction2 = bias_correction(row.beta2, step);
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

void StepCounters::advance(std::vector<bool> const& has_gradient) {
  ADAMANT_REAL_ASSERT(has_gradient.size() == parameter_steps_.size());
  for (std::int64_t& steps : group_steps_) ++steps;
  for (std::size_t p = 0; p < parameter_steps_.size(); ++p)
    if (has_gradient[p]) ++parameter_steps_[p];
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
  if (kind_ == StepCounter::parameter) return parameter_steps_[p];
  return group_steps_[static_cast<std::size_t>(group_of_[p])];
}

}  // namespace adamant::real
