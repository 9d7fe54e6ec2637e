#include "scenarios/language/recipe.h"

#include "scenarios/language/table.h"

namespace adamant::scenarios {

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
  return changed(recipe, change);
}

PrecisionOverride difference(Precision const& from, Precision const& to) {
  return difference_of<PrecisionOverride>(from, to);
}

AdamOverride difference(AdamConfig const& config) {
  return difference_of<AdamOverride>(AdamConfig{}, config);
}

AdamConfig with(AdamConfig config, AdamOverride const& change) {
  return changed(config, change);
}

Optimizer with(Optimizer optimizer, SettingsChange const& change) {
  return changed(optimizer, change);
}

std::vector<AdamConfig> group_configs(Optimizer const& optimizer,
                                      std::vector<Group> const& groups) {
  std::vector<AdamConfig> configs{optimizer.adam};
  for (Group const& group : groups) configs.push_back(with(optimizer.adam, group.settings));
  return configs;
}

bool duplicates_main(Precision const& precision) {
  return (precision.param == ParamType::fp32 && precision.main == MainType::fp32) ||
         (precision.param == ParamType::bf16 && precision.main == MainType::bf16) ||
         (precision.param == ParamType::fp16 && precision.main == MainType::fp16);
}

}  // namespace adamant::scenarios
