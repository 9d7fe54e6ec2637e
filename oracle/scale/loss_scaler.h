// The loss scale as a small state machine: what gradients are multiplied by before they are
// reduced, and how that number moves from step to step. It sees one bit a step, whether anything
// was not finite, and knows no gradient.
#pragma once

#include "oracle/types.h"

namespace adamant::oracle {

/// The numbers of a dynamic scaler that others may set.
struct ScalerRules {
  float first_scale = 0x1p32F;
  float least_scale = 1.0F;
  int steps_to_growth = 1000;
  int overflows_to_backoff = 2;
  bool counts_steps_without_gradients = true;

  friend bool operator==(ScalerRules const&, ScalerRules const&) = default;
};

/// Megatron-LM's DynamicGradScaler, which has no upper end.
inline constexpr ScalerRules megatron_scaler = {};
/// torch.amp.GradScaler, which has no lower end either and no hysteresis. It refuses a step in
/// which no parameter has a gradient, so that such a step has to go past it.
inline constexpr ScalerRules torch_scaler = {.first_scale = 0x1p16F,
                                             .least_scale = 0.0F,
                                             .steps_to_growth = 2000,
                                             .overflows_to_backoff = 1,
                                             .counts_steps_without_gradients = false};

/// States of a dynamic scaler, with its settings and Megatron-LM's numbers:
///
///   overflow   growth tracker <- 0, hysteresis <- hysteresis - 1;
///              if that is <= 0:          scale <- max(scale / 2, 1)
///   otherwise  growth tracker <- growth tracker + 1; when it reaches 1000:
///                                        scale <- 2 scale, growth tracker <- 0, hysteresis <- 2
///
/// Good steps do not refill the hysteresis, only growth does. A scale that would become infinite
/// stays. A fixed scale never moves; without one there is nothing to look for.
class LossScaler {
 public:
  LossScaler() : LossScaler(LossScale{}) {}
  /// Starts afresh, also where the same was set before.
  explicit LossScaler(LossScale const& setting, ScalerRules const& rules = megatron_scaler);

  /// Goes on from where one was.
  struct Progress {
    float scale = 1;
    int growth_tracker = 0;
    int hysteresis = 0;
  };
  LossScaler(LossScale const& setting, Progress const& progress,
             ScalerRules const& rules = megatron_scaler);

  /// Are gradients that are not finite looked for?
  bool looks() const { return setting_.kind != LossScale::Kind::none; }
  /// What gradients are multiplied by; 1 where there is no scale.
  float scale() const { return scale_; }
  /// fl32(1 / scale), the division in binary64.
  float inverse() const;

  /// One step was executed, or skipped because something was not finite.
  void after_step(bool overflowed);

  LossScale const& setting() const { return setting_; }
  ScalerRules const& rules() const { return rules_; }
  int growth_tracker() const { return growth_tracker_; }
  int hysteresis() const { return hysteresis_; }

  friend bool operator==(LossScaler const&, LossScaler const&) = default;

 private:
  LossScale setting_;
  ScalerRules rules_;
  float scale_ = 1;
  int growth_tracker_ = 0;
  int hysteresis_ = 0;
};

}  // namespace adamant::oracle
