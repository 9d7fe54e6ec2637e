#include "oracle/scale/loss_scaler.h"

#include <algorithm>
#include <cmath>

namespace adamant::oracle {

LossScaler::LossScaler(LossScale const& setting, ScalerRules const& rules)
    : setting_(setting), rules_(rules) {
  if (setting.kind == LossScale::Kind::fixed) scale_ = setting.value;
  if (setting.kind != LossScale::Kind::dynamic) return;
  scale_ = rules_.first_scale;
  hysteresis_ = rules_.overflows_to_backoff;
}

LossScaler::LossScaler(LossScale const& setting, Progress const& progress, ScalerRules const& rules)
    : setting_(setting),
      rules_(rules),
      scale_(progress.scale),
      growth_tracker_(progress.growth_tracker),
      hysteresis_(progress.hysteresis) {}

float LossScaler::inverse() const {
  return static_cast<float>(1.0 / static_cast<double>(scale_));
}

void LossScaler::after_step(bool overflowed) {
  if (setting_.kind != LossScale::Kind::dynamic) return;
  if (overflowed) {
    growth_tracker_ = 0;
    if (--hysteresis_ <= 0) scale_ = std::max(scale_ * 0.5F, rules_.least_scale);
    return;
  }
  if (++growth_tracker_ < rules_.steps_to_growth) return;
  growth_tracker_ = 0;
  hysteresis_ = rules_.overflows_to_backoff;
  if (std::isfinite(scale_ * 2.0F)) scale_ *= 2.0F;
}

}  // namespace adamant::oracle
