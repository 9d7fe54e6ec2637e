#include "scenarios/language/rounding_scale.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "scenarios/language/operations.h"

namespace adamant::scenarios {

bool has_fp16_gradients(Scenario const& scenario) {
  return std::any_of(scenario.params.begin(), scenario.params.end(), [&](Param const& param) {
    return scenario.precision_of(param).grad == GradType::fp16;
  });
}

// A dynamic scale begins at 2^32, which fp16 has no room for.
bool scale_rounds(LossScale const& scale, bool has_fp16) {
  if (scale.kind == LossScale::Kind::none) return false;
  if (scale.kind == LossScale::Kind::dynamic) return has_fp16;
  int exponent = 0;
  bool const power_of_two = std::frexp(scale.value, &exponent) == 0.5F;
  if (!power_of_two) return true;
  return has_fp16 ? exponent < -3 || exponent > 9 : exponent < -60 || exponent > 60;
}

bool any_scale_rounds(Scenario const& scenario) {
  bool const has_fp16 = has_fp16_gradients(scenario);
  if (scale_rounds(scenario.optimizer.loss_scale, has_fp16)) return true;
  return std::ranges::any_of(all<Set>(scenario.program), [&](Set const* set) {
    return scale_rounds(set->change.loss_scale.value_or(LossScale()), has_fp16);
  });
}

}  // namespace adamant::scenarios
