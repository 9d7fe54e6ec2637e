#include "real/step/step_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

// As many steps of one iteration may differ before they are shared out now and then.
constexpr std::size_t repeated_max = 8;

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

void StepCounters::advance(ParameterSet const& have_gradients) {
  ADAMANT_REAL_ASSERT(have_gradients.count() == parameter_steps_.size());
  for (std::int64_t& steps : group_steps_) ++steps;
  auto const same = std::ranges::find(repeated_, have_gradients, &Repeated::have_gradients);
  if (same != repeated_.end()) {
    ++same->times;
    return;
  }
  if (repeated_.size() == repeated_max) share_out();
  repeated_.push_back({.have_gradients = have_gradients, .times = 1});
}

void StepCounters::share_out() {
  for (std::size_t p = 0; p < parameter_steps_.size(); ++p)
    parameter_steps_[p] = of_parameter_alone(static_cast<int>(p));
  repeated_.clear();
}

std::int64_t StepCounters::of_parameter_alone(int parameter) const {
  std::int64_t steps = parameter_steps_[static_cast<std::size_t>(parameter)];
  for (Repeated const& repeated : repeated_)
    if (repeated.have_gradients.has(parameter)) steps += repeated.times;
  return steps;
}

void StepCounters::restore(std::vector<std::int64_t> group_steps,
                           std::vector<std::int64_t> parameter_steps) {
  ADAMANT_REAL_ASSERT(group_steps.size() == group_steps_.size());
  ADAMANT_REAL_ASSERT(parameter_steps.size() == parameter_steps_.size());
  group_steps_ = std::move(group_steps);
  parameter_steps_ = std::move(parameter_steps);
  repeated_.clear();
}

std::int64_t StepCounters::of(int parameter) const {
  ADAMANT_REAL_ASSERT(parameter >= 0);
  auto const p = static_cast<std::size_t>(parameter);
  ADAMANT_REAL_ASSERT(p < parameter_steps_.size());
  if (kind_ == StepCounter::parameter) return of_parameter_alone(parameter);
  return group_steps_[static_cast<std::size_t>(group_of_[p])];
}

}  // namespace adamant::real
