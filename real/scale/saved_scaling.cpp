#include "real/scale/saved_scaling.h"

#include <cmath>

#include "real/checkpoint/checkpoint_error.h"

namespace adamant::real {

namespace {

using NumbersByName = std::map<std::string, double>;

constexpr char scale_name[] = "loss_scale";
constexpr char dynamic_name[] = "loss_scale_dynamic";  // 1: it moves
constexpr char tracker_name[] = "growth_tracker";
constexpr char hysteresis_name[] = "hysteresis";
constexpr char norm_name[] = "clip";

std::optional<double> find(NumbersByName const& numbers, char const* name) {
  auto const found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

/// A binary32 number above 0.
float positive(double number, char const* name) {
  auto const value = static_cast<float>(number);
  bool const same = static_cast<double>(value) == number;
  if (!same || !std::isfinite(value) || value <= 0)
    refuse_damaged("number ", name, ": is ", std::to_string(number),
                   ", expected a binary32 number above 0");
  return value;
}

int whole_number(double number, char const* name) {
  bool const whole = std::abs(number) <= 1e9 && std::trunc(number) == number;
  if (!whole)
    refuse_damaged("number ", name, ": is ", std::to_string(number), ", expected a whole number");
  return static_cast<int>(number);
}

}  // namespace

NumbersByName numbers_of(SavedScaling const& scaling) {
  NumbersByName numbers;
  if (scaling.max_norm) numbers[norm_name] = double{*scaling.max_norm};
  if (scaling.loss_scale.kind == LossScale::Kind::none) return numbers;
  numbers[scale_name] = double{scaling.scale};
  if (scaling.loss_scale.kind == LossScale::Kind::fixed) return numbers;
  numbers[dynamic_name] = 1;
  numbers[tracker_name] = scaling.growth_tracker;
  numbers[hysteresis_name] = scaling.hysteresis;
  return numbers;
}

SavedScaling scaling_of(NumbersByName const& numbers) {
  SavedScaling scaling;
  if (auto const norm = find(numbers, norm_name)) scaling.max_norm = positive(*norm, norm_name);
  auto const scale = find(numbers, scale_name);
  if (!scale) return scaling;
  scaling.scale = positive(*scale, scale_name);
  scaling.loss_scale = {.kind = LossScale::Kind::fixed, .value = scaling.scale};
  if (find(numbers, dynamic_name).value_or(0) == 0) return scaling;
  scaling.loss_scale = {.kind = LossScale::Kind::dynamic};
  scaling.growth_tracker = whole_number(find(numbers, tracker_name).value_or(0), tracker_name);
  scaling.hysteresis = whole_number(find(numbers, hysteresis_name).value_or(0), hysteresis_name);
  return scaling;
}

}  // namespace adamant::real
