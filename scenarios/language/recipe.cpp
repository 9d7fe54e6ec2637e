#include "scenarios/language/recipe.h"

#include "scenarios/language/key.h"
#include "scenarios/language/recipe_table.h"

namespace adamant::scenarios {

namespace {

void add_numbers(std::vector<AdamNumber>& all, std::string_view key, float AdamConfig::*place) {
  all.push_back({.key = key, .name = key, .place = place});
}

void add_numbers(std::vector<AdamNumber>& all, std::string_view key, BetasOfConfig /*betas*/) {
  all.push_back({.key = key, .name = "beta1", .beta = 0, .place = &AdamConfig::beta1});
  all.push_back({.key = key, .name = "beta2", .beta = 1, .place = &AdamConfig::beta2});
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
  if (type == MainType::none) return std::nullopt;
  constexpr NumberFormat formats[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16,
                                      NumberFormat::remainder};
  return formats[static_cast<std::size_t>(type) - 1];
}

NumberFormat format_of(StateType type) {
  constexpr NumberFormat formats[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16,
                                      NumberFormat::fp8};
  return formats[static_cast<std::size_t>(type)];
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

AdamOverride without(AdamOverride change, AdamOverride const& own) {
  for_each_key<AdamOverride>([&](auto const& row) {
    if (value_at(own, row.place)) reset(change, row);
  });
  return change;
}

std::span<AdamNumber const> numbers_of_adam() {
  static auto const all = std::apply(
      [](auto const&... setting) {
        std::vector<AdamNumber> numbers;
        (add_numbers(numbers, setting.key, setting.in_config), ...);
        return numbers;
      },
      settable_of_adam);
  return all;
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

std::vector<TensorKind> named_kinds(PrecisionOverride const& change, PrecisionOverride const& own) {
  std::vector<TensorKind> kinds;
  auto const add = [&](TensorKind kind, auto const& named, auto const& said) {
    if (named && !said) kinds.push_back(kind);
  };
  add(TensorKind::parameter, change.param, own.param);
  add(TensorKind::main, change.main, own.main);
  add(TensorKind::exp_avg, change.exp_avg, own.exp_avg);
  add(TensorKind::exp_avg_sq, change.exp_avg_sq, own.exp_avg_sq);
  return kinds;
}

std::optional<Recipe> recipe_of(ParamType type) {
  switch (type) {
    case ParamType::fp8_delayed:
      return Recipe::fp8_delayed;
    case ParamType::fp8_current:
      return Recipe::fp8_current;
    case ParamType::fp8_block:
      return Recipe::fp8_block;
    case ParamType::mxfp8:
      return Recipe::mxfp8;
    case ParamType::nvfp4:
      return Recipe::nvfp4;
    default:
      return std::nullopt;
  }
}

bool is_quantised(ParamType type) {
  return recipe_of(type).has_value();
}

bool has_scalable_state(Precision const& precision) {
  auto const is_scaled = [](StateType type) {
    return type == StateType::fp16 || type == StateType::fp8;
  };
  return is_scaled(precision.exp_avg) || is_scaled(precision.exp_avg_sq) ||
         precision.main == MainType::fp16;
}

bool has_scaled_state(Precision const& precision) {
  return precision.state_scale != StateScale::none && has_scalable_state(precision);
}

std::int64_t block_side(ParamType recipe) {
  switch (recipe) {
    case ParamType::fp8_block:
      return 128;
    case ParamType::mxfp8:
      return 32;
    case ParamType::nvfp4:
      return 16;
    default:
      return 1;
  }
}

bool takes(ParamType recipe, std::span<std::int64_t const> shape) {
  if (shape.size() < 2) return false;
  std::int64_t rows = 1;
  for (std::int64_t const extent : shape.first(shape.size() - 1)) rows *= extent;
  std::int64_t const columns = shape.back();
  std::int64_t const side = block_side(recipe);
  return rows > 0 && columns > 0 && rows % side == 0 && columns % side == 0;
}

std::optional<TypeConflict> conflict_in(Precision const& precision) {
  ParamType const param = precision.param;
  MainType const main = precision.main;
  if (main == MainType::remainder && param != ParamType::bf16)
    return TypeConflict{"remainder", "a remainder is what a bf16 parameter lacks of its weight"};
  bool const same = (param == ParamType::fp32 && main == MainType::fp32) ||
                    (param == ParamType::bf16 && main == MainType::bf16) ||
                    (param == ParamType::fp16 && main == MainType::fp16);
  if (same)
    return TypeConflict{"duplicate_main",
                        "param and main would be two copies of one type; main: none keeps one"};
  if (param == ParamType::fp32 && main != MainType::none)
    return TypeConflict{"narrow_main",
                        "main would have fewer bits than param; main: none keeps the better one"};
  bool const fp8 = precision.exp_avg == StateType::fp8 || precision.exp_avg_sq == StateType::fp8;
  if (fp8 && precision.state_scale == StateScale::none)
    return TypeConflict{"state_scale", "numbers in fp8 are of use with a scale alone"};
  if (is_quantised(param) && main != MainType::fp32)
    return TypeConflict{"quantised_main",
                        "a quantised parameter is made from main: fp32 after each step"};
  return std::nullopt;
}

}  // namespace adamant::scenarios
