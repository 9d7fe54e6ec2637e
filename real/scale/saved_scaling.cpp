#include "real/scale/saved_scaling.h"

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/manifest_limits.h"

namespace adamant::real {

namespace {

using NumbersByName = std::map<std::string, double>;

constexpr char scale_name[] = "loss_scale";
constexpr char dynamic_name[] = "loss_scale_dynamic";  // 1: it moves
constexpr char tracker_name[] = "growth_tracker";
constexpr char hysteresis_name[] = "hysteresis";
constexpr char norm_name[] = "clip";

/// A number of this name, if there is one, and then one that can be.
std::optional<double> find(NumbersByName const& numbers, char const* name,
                           std::string const& where) {
  auto const found = numbers.find(name);
  if (found == numbers.end()) return std::nullopt;
  return within_limits(name, found->second, where);
}

/// What there has to be beside a loss scale that moves.
int whole_number(NumbersByName const& numbers, char const* name, std::string const& where) {
  std::optional<double> const found = find(numbers, name, where);
  if (!found)
    refuse_damaged(where, ": has no ", name, ", expected one beside ", dynamic_name, " 1");
  return static_cast<int>(*found);
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

SavedScaling scaling_of(NumbersByName const& numbers, std::string const& where) {
  SavedScaling scaling;
  if (auto const norm = find(numbers, norm_name, where))
    scaling.max_norm = static_cast<float>(*norm);
  auto const scale = find(numbers, scale_name, where);
  if (!scale) return scaling;
  scaling.scale = static_cast<float>(*scale);
  scaling.loss_scale = {.kind = LossScale::Kind::fixed, .value = scaling.scale};
  if (find(numbers, dynamic_name, where).value_or(0) == 0) return scaling;
  scaling.loss_scale = {.kind = LossScale::Kind::dynamic};
  scaling.growth_tracker = whole_number(numbers, tracker_name, where);
  scaling.hysteresis = whole_number(numbers, hysteresis_name, where);
  return scaling;
}

}  // namespace adamant::real
