// What a scenario has beside its world, its types and its program: groups, optimizer, gradients,
// offload and schedule.
#include <algorithm>
#include <array>
#include <string>

#include "scenarios/search/generate/drawing.h"

namespace adamant::scenarios {

namespace {

constexpr std::array extreme_betas{0.0F, 0.5F, 0.99999F, 0.99999994F};
constexpr std::array extreme_epsilons{0.0F, 1e-30F, 0.1F, 1.0F};
constexpr std::array extreme_rates{0.0F, 1e-30F, 1.0F, 1e10F};
constexpr std::array extreme_decays{0.0F, 1.0F, 100.0F};
constexpr std::array norms{1e-30F, 1e-3F, 0.3F, 60.1F, 1e6F};
constexpr std::array exact_scales{0.5F, 1.0F, 8.0F, 256.0F};  // also of fp16 gradients
constexpr std::array rounding_scales{0.1F, 3.0F, 1000.0F, 1e30F};
constexpr std::array usual_rates{1e-3F, 3e-4F, 1e-2F};

/// The only choice where there is one.
void keep_to_offers(Optimizer& optimizer, Capabilities const& able) {
  if (!offers(able.optimizers, optimizer.adam.mode)) optimizer.adam.mode = able.optimizers.front();
  if (!offers(able.step_counters, optimizer.step_counter))
    optimizer.step_counter = able.step_counters.front();
  if (!offers(able.bias_correction, optimizer.adam.bias_correction))
    optimizer.adam.bias_correction = able.bias_correction.front();
}

std::array<float, 2> draw_betas(Drawing& draws, bool extreme) {
  if (!extreme) return {0.8F, 0.95F};
  float const beta1 = draws.one_of(extreme_betas);
  float const beta2 = draws.one_of(extreme_betas);
  return {beta1, beta2};
}

/// A group that says the same as the optimizer says the opposite.
void override_bias_correction(Drawing const& draws, Scenario& scenario) {
  bool const of_all = scenario.optimizer.adam.bias_correction;
  if (!offers(draws.able().bias_correction, !of_all)) return;
  for (Group& group : scenario.groups)
    if (group.settings.bias_correction) group.settings.bias_correction = !of_all;
}

float draw_scale(Drawing& draws, Optimizer const& optimizer) {
  bool const rounds = draws.feature(Feature::loss_scale_rounds, 30);
  return rounds && may_round(draws, optimizer) ? draws.one_of(rounding_scales)
                                               : draws.one_of(exact_scales);
}

// More than a launch takes, or than a word of a set has bits.
void add_many_params(Drawing& draws, Scenario& scenario) {
  std::int64_t const count = draws.between(32, 66);
  for (std::int64_t i = 0; i < count; ++i)
    scenario.params.push_back({.name = "many" + std::to_string(i), .shape = {draws.between(1, 3)}});
}

// What a decay of 1 leaves of them are updates over a huge epsilon: scales that bring these to a
// range overflow.
void let_weights_vanish(AdamConfig& adam) {
  adam.mode = AdamMode::adamw;
  adam.learning_rate = 1;
  adam.epsilon = 1e38F;
  adam.weight_decay = 1;
}

}  // namespace

void draw_groups(Drawing& draws, Scenario& scenario) {
  if (!draws.feature(Feature::group, 40)) return;
  std::int64_t const count = draws.between(1, 2);
  for (std::int64_t g = 0; g < count; ++g) {
    scenario.groups.push_back({.name = "group" + std::to_string(g), .settings = {}});
    draw_override(draws, scenario.groups.back().settings, true);
  }
  for (Param& param : scenario.params) {
    std::int64_t const group = draws.below(count + 1);
    if (group < count) param.group = "group" + std::to_string(group);
  }
}

void draw_override(Drawing& draws, AdamOverride& settings, bool in_group) {
  bool const extreme = draws.feature(Feature::extreme_settings, 25);
  std::int64_t const which = draws.below(4);
  if (which == 0) settings.lr = extreme ? draws.one_of(extreme_rates) : draws.one_of(usual_rates);
  if (which == 1) settings.betas = draw_betas(draws, extreme);
  if (which == 2) settings.eps = extreme ? draws.one_of(extreme_epsilons) : 1e-6F;
  if (which == 3) settings.weight_decay = extreme ? draws.one_of(extreme_decays) : 0.1F;
  if (in_group && draws.feature(Feature::no_bias_correction, 20)) settings.bias_correction = false;
}

void draw_optimizer(Drawing& draws, Scenario& scenario) {
  Optimizer& optimizer = scenario.optimizer;
  if (draws.feature(Feature::adam_l2, 40)) optimizer.adam.mode = AdamMode::adam;
  if (draws.feature(Feature::counter_per_parameter, 40))
    optimizer.step_counter = StepCounter::parameter;
  if (draws.feature(Feature::no_bias_correction, 20)) optimizer.adam.bias_correction = false;
  keep_to_offers(optimizer, draws.able());
  if (draws.feature(Feature::cast_gradient, 15)) optimizer.decoupled_grad = false;
  if (!optimizer.decoupled_grad) optimizer.keep_cast_grad = draws.chance(40);
  if (draws.feature(Feature::capturable, 20)) optimizer.capturable = true;
  if (draws.feature(Feature::clip, 25)) optimizer.clip = draw_norm(draws);
  draw_loss_scale(draws, optimizer, optimizer.loss_scale);
  std::int64_t const changes = draws.below(3);
  for (std::int64_t i = 0; i < changes; ++i) {
    AdamOverride change;
    draw_override(draws, change, false);
    optimizer.adam = with(optimizer.adam, change);
  }
  override_bias_correction(draws, scenario);
}

float draw_norm(Drawing& draws) {
  return draws.one_of(norms);
}

void draw_loss_scale(Drawing& draws, Optimizer const& optimizer, LossScale& scale) {
  if (draws.feature(Feature::loss_scale_fixed, 20))
    scale = {.kind = LossScale::Kind::fixed, .value = draw_scale(draws, optimizer)};
  if (draws.feature(Feature::loss_scale_dynamic, 15))
    scale = {.kind = LossScale::Kind::dynamic, .value = 0};
  auto const& offered = draws.able().loss_scale;
  if (offers(offered, scale.kind)) return;
  scale = {.kind = offered.front()};
  if (scale.kind == LossScale::Kind::fixed) scale.value = exact_scales.front();
}

bool may_round(Drawing const& draws, Optimizer const& optimizer) {
  return draws.allowed(Feature::loss_scale_rounds) && !optimizer.capturable;
}

void draw_gradients(Drawing& draws, Scenario& scenario) {
  if (draws.feature(Feature::gradients_normal, 25)) scenario.gradients = GradientClass::normal;
  if (draws.feature(Feature::gradients_wild, 25)) scenario.gradients = GradientClass::wild;
  auto const& offered = draws.able().gradients;
  if (!offers(offered, scenario.gradients)) scenario.gradients = offered.front();
  std::int64_t count = draws.between(1, draws.scaled(1, 9));
  bool const as_many_as_ranks = draws.chance(30);
  if (as_many_as_ranks) return;
  std::int64_t const ranks = scenario.world.rank_count();
  if (!draws.allowed(Feature::idle_rank)) count = std::max(count, ranks);
  if (!draws.allowed(Feature::several_microbatches)) count = std::min(count, ranks);
  scenario.microbatches = count;
}

Offload draw_offload(Drawing& draws) {
  if (draws.feature(Feature::offload_states, 15)) {
    constexpr std::array some{OffloadedStates{true, true}, OffloadedStates{true, false},
                              OffloadedStates{false, true}};
    return draws.one_of(some);
  }
  if (!draws.feature(Feature::hybrid, 20)) return {};
  constexpr std::array fractions{0.1, 0.25, 0.5, 0.5, 0.75, 0.9};
  HybridOffload hybrid{.fraction = draws.chance(50) ? 1.0 : 0.0};
  if (draws.feature(Feature::hybrid_shared, 80)) hybrid.fraction = draws.one_of(fractions);
  hybrid.overlap = draws.chance(60);
  if (draws.feature(Feature::hybrid_pageable, 40)) {
    hybrid.pin_grads = draws.chance(50);
    hybrid.pin_params = !hybrid.pin_grads && draws.chance(50);
  }
  return hybrid;
}

void draw_schedule(Drawing& draws, Schedule& schedule) {
  if (draws.feature(Feature::schedule_random, 50)) schedule.strategy = Schedule::Strategy::random;
  if (draws.feature(Feature::schedule_pct, 35)) schedule.strategy = Schedule::Strategy::pct;
  if (schedule.strategy == Schedule::Strategy::fifo) return;
  schedule.seed = draws.bits() >> 32;
  if (schedule.strategy == Schedule::Strategy::pct) schedule.depth = draws.between(1, 5);
}

void draw_rare(Drawing& draws, Scenario& scenario) {
  if (draws.feature(Feature::several_params, 1)) add_many_params(draws, scenario);
  bool const have_codes = std::ranges::any_of(scenario.params, [&](Param const& param) {
    return is_quantised(scenario.precision_of(param).param);
  });
  if (draws.feature(Feature::extreme_settings, have_codes ? 15 : 3))
    let_weights_vanish(scenario.optimizer.adam);
}

}  // namespace adamant::scenarios
