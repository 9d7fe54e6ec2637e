#include "scenarios/language/recipe.h"

namespace adamant::scenarios {

namespace {

template <typename T>
void replace(T& value, std::optional<T> const& change) {
  if (change) value = *change;
}

}  // namespace

std::optional<NumberFormat> format_of(ParamType type) {
  switch (type) {
    case ParamType::fp32:
      return NumberFormat::fp32;
    case ParamType::bf16:
      return NumberFormat::bf16;
    case ParamType::fp16:
      return NumberFormat::fp16;
    default:
      return std::nullopt;
  }
}

NumberFormat format_of(GradType type) {
  constexpr NumberFormat formats[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16};
  return formats[static_cast<std::size_t>(type)];
}

std::optional<NumberFormat> format_of(MainType type) {
  switch (type) {
    case MainType::fp32:
      return NumberFormat::fp32;
    case MainType::bf16:
      return NumberFormat::bf16;
    case MainType::fp16:
      return NumberFormat::fp16;
    default:
      return std::nullopt;
  }
}

// fp16 moments carry a scale, so they are no plain numbers.
std::optional<NumberFormat> format_of(StateType type) {
  if (type == StateType::fp32) return NumberFormat::fp32;
  if (type == StateType::bf16) return NumberFormat::bf16;
  return std::nullopt;
}

Precision with(Precision recipe, PrecisionOverride const& change) {
  replace(recipe.param, change.param);
  replace(recipe.grad, change.grad);
  replace(recipe.main, change.main);
  replace(recipe.exp_avg, change.exp_avg);
  replace(recipe.exp_avg_sq, change.exp_avg_sq);
  replace(recipe.state_scale, change.state_scale);
  return recipe;
}

AdamOverride difference(AdamConfig const& config) {
  AdamConfig const defaults;
  AdamOverride changed;
  if (config.learning_rate != defaults.learning_rate) changed.lr = config.learning_rate;
  if (config.beta1 != defaults.beta1 || config.beta2 != defaults.beta2)
    changed.betas = {config.beta1, config.beta2};
  if (config.epsilon != defaults.epsilon) changed.eps = config.epsilon;
  if (config.weight_decay != defaults.weight_decay) changed.weight_decay = config.weight_decay;
  if (config.bias_correction != defaults.bias_correction)
    changed.bias_correction = config.bias_correction;
  return changed;
}

AdamConfig with(AdamConfig config, AdamOverride const& change) {
  replace(config.learning_rate, change.lr);
  if (change.betas) {
    config.beta1 = change.betas->front();
    config.beta2 = change.betas->back();
  }
  replace(config.epsilon, change.eps);
  replace(config.weight_decay, change.weight_decay);
  replace(config.bias_correction, change.bias_correction);
  return config;
}

Optimizer with(Optimizer optimizer, SettingsChange const& change) {
  optimizer.adam = with(optimizer.adam, change.adam);
  replace(optimizer.clip, change.clip);
  replace(optimizer.loss_scale, change.loss_scale);
  return optimizer;
}

std::vector<AdamConfig> group_configs(Optimizer const& optimizer,
                                      std::vector<Group> const& groups) {
  std::vector<AdamConfig> configs{optimizer.adam};
  for (Group const& group : groups) configs.push_back(with(optimizer.adam, group.settings));
  return configs;
}

PrecisionOverride difference(Precision const& from, Precision const& to) {
  PrecisionOverride change;
  if (to.param != from.param) change.param = to.param;
  if (to.grad != from.grad) change.grad = to.grad;
  if (to.main != from.main) change.main = to.main;
  if (to.exp_avg != from.exp_avg) change.exp_avg = to.exp_avg;
  if (to.exp_avg_sq != from.exp_avg_sq) change.exp_avg_sq = to.exp_avg_sq;
  if (to.state_scale != from.state_scale) change.state_scale = to.state_scale;
  return change;
}

bool duplicates_main(Precision const& precision) {
  return (precision.param == ParamType::fp32 && precision.main == MainType::fp32) ||
         (precision.param == ParamType::bf16 && precision.main == MainType::bf16) ||
         (precision.param == ParamType::fp16 && precision.main == MainType::fp16);
}

}  // namespace adamant::scenarios
