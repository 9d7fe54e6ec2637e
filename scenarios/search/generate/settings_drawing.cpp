#include "scenarios/search/generate/settings_drawing.h"

#include <algorithm>

#include "scenarios/language/registry.h"
#include "scenarios/language/state_location.h"
#include "scenarios/seam/layout_padding.h"

namespace adamant::scenarios {

namespace {

constexpr std::array prime_rows{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 61, 97};
constexpr std::array extreme_betas{0.0F, 0.5F, 0.99999F, 0.99999994F};
constexpr std::array extreme_epsilons{0.0F, 1e-30F, 0.1F, 1.0F};
constexpr std::array extreme_rates{0.0F, 1e-30F, 1.0F, 1e10F};
constexpr std::array extreme_decays{0.0F, 1.0F, 100.0F};
constexpr std::array norms{1e-30F, 1e-3F, 0.3F, 60.1F, 1e6F};
constexpr std::array exact_scales{0.5F, 1.0F, 8.0F, 256.0F};  // also of fp16 gradients
constexpr std::array rounding_scales{0.1F, 3.0F, 1000.0F, 1e30F};
constexpr std::array usual_rates{1e-3F, 3e-4F, 1e-2F};
constexpr std::int64_t vectors_max = 72;  // elements: over four vectors of 16 floats

/// The only choice where there is one.
void keep_to_offers(Optimizer& optimizer, Capabilities const& able) {
  if (!offers(able.optimizers, optimizer.adam.mode)) optimizer.adam.mode = able.optimizers.front();
  if (!offers(able.step_counters, optimizer.step_counter))
    optimizer.step_counter = able.step_counters.front();
  if (!offers(able.bias_correction, optimizer.adam.bias_correction))
    optimizer.adam.bias_correction = able.bias_correction.front();
}

}  // namespace

void SettingsDrawing::make_model() {
  make_world();
  make_params();
}

void SettingsDrawing::make_before_program() {
  make_groups();
  make_ties();
  make_optimizer();
  make_gradients();
  make_offload();
  if (draws_.able().isolated) make_offered_precision();
}

void SettingsDrawing::make_after_program() {
  make_schedule();
  if (!draws_.able().isolated) {
    make_precision();
    make_quantised();
    if (!may_round()) widen_gradients();
    make_types_of_loads();
  }
  make_parts();
  bound_padding();
  drop_vain_reloads();
}

float SettingsDrawing::draw_norm() {
  return draws_.one_of(norms);
}

void SettingsDrawing::make_world() {
  if (model_.able().isolated) {
    scenario_.world = draw_small_world();
    scenario_.layout = draw_layout();
    return;
  }
  constexpr std::array usual{1, 2, 2, 3, 3, 4, 4, 4, 4, 4};
  bool const large = model_.chance(26);
  std::int64_t const ranks = large ? model_.between(5, 8) : model_.one_of(usual);
  std::int64_t ranks_max =
      std::min(model_.scaled(1, model_.options().ranks_max), model_.options().ranks_max);
  if (!model_.allowed(Feature::more_than_four_ranks))
    ranks_max = std::min<std::int64_t>(ranks_max, 4);
  scenario_.world = draw_mesh(std::min(ranks, ranks_max), Feature::replicated);
  scenario_.layout = draw_layout();
}

World SettingsDrawing::draw_mesh(std::int64_t ranks, Feature why) {
  bool const replicates = model_.feature(why, 30) && model_.allowed(Feature::replicated);
  std::int64_t const replicas = model_.between(2, 4);
  bool const shares_out = model_.chance(50) && model_.allowed(Feature::outer_optim);
  if (!replicates || ranks < 2) return {.shard = ranks};
  World world{.shard = std::max<std::int64_t>(ranks / replicas, 1)};
  world.replicate = ranks / world.shard;
  if (shares_out) world.outer = Outer::optim;
  return world;
}

Layout SettingsDrawing::draw_layout() {
  bool const flat = model_.feature(Feature::layout_flat, 25);
  bool const bucketed = model_.feature(Feature::layout_bucketed, 33);
  if (flat) return Layout::flat;
  return bucketed ? Layout::bucketed : model_.able().layouts.front();
}

World SettingsDrawing::draw_small_world() {
  constexpr std::array usual{1, 1, 2, 2, 2, 2, 3, 3, 4};
  bool const replicates = model_.feature(Feature::replicated, 15);
  bool const large = model_.chance(2);
  std::int64_t const ranks = large ? model_.between(5, 8) : model_.one_of(usual);
  std::int64_t most =
      std::min(model_.scaled(1, model_.options().ranks_max), model_.able().ranks_max);
  if (!model_.allowed(Feature::more_than_four_ranks)) most = std::min<std::int64_t>(most, 4);
  std::int64_t const replicas_max = std::min(model_.able().replicate_max, most);
  World world{.shard = std::min(ranks, most)};
  if (replicates && replicas_max > 1) world = draw_small_mesh(most, replicas_max);
  bool const shares_out = model_.chance(50) && model_.allowed(Feature::outer_optim);
  if (shares_out && world.replicate > 1) world.outer = Outer::optim;
  return world;
}

/// Some have three ranks in a shard group: two averages round otherwise than one there. Most have
/// two replicas, for each more costs as many ranks as a group has.
World SettingsDrawing::draw_small_mesh(std::int64_t ranks_max, std::int64_t replicas_max) {
  constexpr std::array replicas{2, 2, 2, 2, 2, 2, 3, 4};
  constexpr std::array shards{1, 1, 2, 2, 2, 3};
  World world;
  world.replicate = std::min<std::int64_t>(model_.one_of(replicas), replicas_max);
  world.shard = std::min<std::int64_t>(model_.one_of(shards), ranks_max / world.replicate);
  return world;
}

void SettingsDrawing::make_params() {
  std::int64_t const params_max =
      model_.allowed(Feature::several_params) ? model_.scaled(1, model_.options().params_max) : 1;
  // An engine outside the process takes time for each, and few of its defects need more than two.
  constexpr std::array usual{1, 1, 2, 2, 3, 4};
  std::int64_t const count = model_.able().isolated
                                 ? std::min<std::int64_t>(model_.one_of(usual), params_max)
                                 : model_.between(1, params_max);
  bool const in_units = model_.feature(Feature::several_units, 60);
  // What takes one parameter for another shows where all have the same shape.
  bool const alike = model_.able().isolated && model_.chance(50);
  for (std::int64_t i = 0; i < count; ++i) {
    Param param;
    param.name = name_of_param(i, in_units);
    make_shape(param.shape);
    if (alike && i > 0) param.shape = scenario_.params.front().shape;
    scenario_.params.push_back(std::move(param));
  }
}

std::string SettingsDrawing::name_of_param(std::int64_t index, bool in_units) {
  static constexpr std::array<char const*, 2> parts{".w", ".b"};
  if (!in_units) return std::string("p").append(std::to_string(index));  // "p" + …: g++ 12 warns
  std::string name = "layers." + std::to_string(index / 2);
  return name + parts[static_cast<std::size_t>(index % 2)];
}

void SettingsDrawing::make_shape(std::vector<std::int64_t>& shape) {
  // Each shape that is new to an engine outside the process may cost it more than the step itself.
  constexpr std::array usual{1, 1, 1, 2, 2, 2, 2, 3};
  std::int64_t const dimensions =
      model_.able().isolated ? model_.one_of(usual) : model_.between(1, 3);
  shape.push_back(make_rows());
  for (std::int64_t d = 1; d < dimensions; ++d) {
    std::int64_t const largest = model_.able().isolated ? 4 : dimensions == 2 ? 12 : 5;
    shape.push_back(model_.between(1, model_.scaled(1, largest)));
  }
  // Kernels of CPUs take what fills their vectors in another way than what is left over.
  bool const fills_vectors = model_.able().isolated && model_.chance(20);
  if (fills_vectors) shape.back() = model_.between(1, model_.scaled(1, vectors_max));
  if (model_.feature(Feature::empty_tensor, 8)) {
    shape[static_cast<std::size_t>(model_.below(dimensions))] = 0;
  }
}

// Around the numbers of ranks, where shards are uneven or empty.
std::int64_t SettingsDrawing::make_few_rows() {
  bool const prime = model_.chance(30);
  std::int64_t const rows = model_.between(1, 6);
  return std::min<std::int64_t>(prime ? model_.between(0, 2) * 4 + 3 : rows, model_.scaled(1, 11));
}

std::int64_t SettingsDrawing::make_rows() {
  if (model_.able().isolated) return make_few_rows();
  std::int64_t const kind = model_.below(10);
  std::int64_t rows = model_.between(1, 9);
  if (kind >= 4) rows = model_.one_of(prime_rows);
  if (kind >= 8) rows = model_.between(64, 300);
  return std::min(rows, model_.scaled(1, 300));
}

void SettingsDrawing::make_groups() {
  if (!draws_.feature(Feature::group, 40)) return;
  std::int64_t const count = draws_.between(1, 2);
  for (std::int64_t g = 0; g < count; ++g) {
    scenario_.groups.push_back({.name = "group" + std::to_string(g), .settings = {}});
    make_override(scenario_.groups.back().settings, true);
  }
  for (Param& param : scenario_.params) {
    std::int64_t const group = draws_.below(count + 1);
    if (group < count) param.group = "group" + std::to_string(group);
  }
}

// Behind its target, with others between them or not.
void SettingsDrawing::make_ties() {
  bool const ties = draws_.feature(Feature::tied, 7) && draws_.allowed(Feature::several_params);
  std::int64_t const count = draws_.chance(20) ? 2 : 1;
  if (!ties || draws_.options().size < 20) return;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t const size = std::ssize(scenario_.params);
    std::int64_t const target = draws_.below(size);
    std::int64_t const place = draws_.between(target + 1, size);
    if (scenario_.params[static_cast<std::size_t>(target)].is_tied()) continue;
    Param param{.name = "tied" + std::to_string(i),
                .tied = scenario_.params[static_cast<std::size_t>(target)].name};
    scenario_.params.insert(scenario_.params.begin() + place, std::move(param));
  }
}

// Of a parameter whose rows happen to be as many.
void SettingsDrawing::make_parts() {
  bool const cuts = draws_.feature(Feature::parts, 12);
  std::size_t const count = draws_.chance(30) ? 3 : 2;
  if (!cuts) return;
  static constexpr std::array names{"q", "k", "v"};
  for (Param& param : scenario_.params) {
    if (param.is_tied() || param.shape.front() % static_cast<std::int64_t>(count) != 0) continue;
    param.parts.assign(names.begin(), names.begin() + count);
    if (draws_.chance(60)) return;
  }
}

void SettingsDrawing::bound_padding() {
  auto const is_wasteful = [](Scenario const& setting) {
    if (setting.layout == Layout::fsdp2) return false;
    std::int64_t numel = 0;
    for (ParameterSpec const& spec : parameter_specs(setting)) numel += spec.numel();
    auto const padding = padding_of(setting);
    return !padding || *padding > 1000 + 4 * numel;
  };
  Layout const usual = draws_.able().layouts.front();
  if (is_wasteful(scenario_)) scenario_.layout = usual;
  Scenario setting = scenario_;
  for (Operation& operation : scenario_.program) {
    auto* const load = std::get_if<Load>(&operation.action);
    if (load == nullptr) continue;
    Scenario const before = setting;
    setting = with(before, *load);
    if (load->keeps_addresses() || !is_wasteful(setting)) continue;
    load->layout = usual;
    setting = with(before, *load);
  }
}

// A load that got other types behind its program begins anew, with states on the device.
void SettingsDrawing::drop_vain_reloads() {
  StateLocation states(scenario_);
  std::erase_if(scenario_.program, [&](Operation const& operation) {
    bool const vain = std::holds_alternative<ReloadStates>(operation.action) && !states.away();
    states.follow(operation.action);
    return vain;
  });
}

void SettingsDrawing::make_override(AdamOverride& settings, bool in_group) {
  bool const extreme = draws_.feature(Feature::extreme_settings, 25);
  std::int64_t const which = draws_.below(4);
  if (which == 0) settings.lr = draw_rate(extreme);
  if (which == 1) settings.betas = draw_betas(extreme);
  if (which == 2) settings.eps = draw_epsilon(extreme);
  if (which == 3) settings.weight_decay = draw_decay(extreme);
  if (in_group && draws_.feature(Feature::no_bias_correction, 20)) settings.bias_correction = false;
}

float SettingsDrawing::draw_rate(bool extreme) {
  return extreme ? draws_.one_of(extreme_rates) : draws_.one_of(usual_rates);
}

float SettingsDrawing::draw_epsilon(bool extreme) {
  return extreme ? draws_.one_of(extreme_epsilons) : 1e-6F;
}

float SettingsDrawing::draw_decay(bool extreme) {
  return extreme ? draws_.one_of(extreme_decays) : 0.1F;
}

std::array<float, 2> SettingsDrawing::draw_betas(bool extreme) {
  if (!extreme) return {0.8F, 0.95F};
  float const beta1 = draws_.one_of(extreme_betas);
  float const beta2 = draws_.one_of(extreme_betas);
  return {beta1, beta2};
}

void SettingsDrawing::make_optimizer() {
  Optimizer& optimizer = scenario_.optimizer;
  if (draws_.feature(Feature::adam_l2, 40)) optimizer.adam.mode = AdamMode::adam;
  if (draws_.feature(Feature::counter_per_parameter, 40))
    optimizer.step_counter = StepCounter::parameter;
  if (draws_.feature(Feature::no_bias_correction, 20)) optimizer.adam.bias_correction = false;
  keep_to_offers(optimizer, draws_.able());
  if (draws_.feature(Feature::cast_gradient, 15)) optimizer.decoupled_grad = false;
  if (!optimizer.decoupled_grad) optimizer.keep_cast_grad = draws_.chance(40);
  if (draws_.feature(Feature::capturable, 20)) optimizer.capturable = true;
  if (draws_.feature(Feature::clip, 25)) optimizer.clip = draw_norm();
  make_loss_scale(optimizer.loss_scale);
  std::int64_t const changes = draws_.below(3);
  for (std::int64_t i = 0; i < changes; ++i) {
    AdamOverride change;
    make_override(change, false);
    optimizer.adam = with(optimizer.adam, change);
  }
  override_bias_correction();
}

/// A group that says the same as the optimizer says the opposite.
void SettingsDrawing::override_bias_correction() {
  bool const of_all = scenario_.optimizer.adam.bias_correction;
  if (!offers(draws_.able().bias_correction, !of_all)) return;
  for (Group& group : scenario_.groups)
    if (group.settings.bias_correction) group.settings.bias_correction = !of_all;
}

void SettingsDrawing::make_loss_scale(LossScale& scale) {
  if (draws_.feature(Feature::loss_scale_fixed, 20))
    scale = {.kind = LossScale::Kind::fixed, .value = draw_scale()};
  if (draws_.feature(Feature::loss_scale_dynamic, 15))
    scale = {.kind = LossScale::Kind::dynamic, .value = 0};
  auto const& offered = draws_.able().loss_scale;
  if (offers(offered, scale.kind)) return;
  scale = {.kind = offered.front()};
  if (scale.kind == LossScale::Kind::fixed) scale.value = exact_scales.front();
}

bool SettingsDrawing::may_round() const {
  return draws_.allowed(Feature::loss_scale_rounds) && !scenario_.optimizer.capturable;
}

float SettingsDrawing::draw_scale() {
  bool const rounds = draws_.feature(Feature::loss_scale_rounds, 30);
  return rounds && may_round() ? draws_.one_of(rounding_scales) : draws_.one_of(exact_scales);
}

void SettingsDrawing::make_gradients() {
  if (draws_.feature(Feature::gradients_normal, 25)) scenario_.gradients = GradientClass::normal;
  if (draws_.feature(Feature::gradients_wild, 25)) scenario_.gradients = GradientClass::wild;
  auto const& offered = draws_.able().gradients;
  if (!offers(offered, scenario_.gradients)) scenario_.gradients = offered.front();
  std::int64_t count = draws_.between(1, draws_.scaled(1, 9));
  bool const as_many_as_ranks = draws_.chance(30);
  if (as_many_as_ranks) return;
  std::int64_t const ranks = scenario_.world.rank_count();
  if (!draws_.allowed(Feature::idle_rank)) count = std::max(count, ranks);
  if (!draws_.allowed(Feature::several_microbatches)) count = std::min(count, ranks);
  scenario_.microbatches = count;
}

void SettingsDrawing::make_offload() {
  if (!scenario_.optimizer.capturable) scenario_.offload = draw_offload();
}

Offload SettingsDrawing::draw_offload() {
  if (draws_.feature(Feature::offload_states, 15)) {
    constexpr std::array some{OffloadedStates{true, true}, OffloadedStates{true, false},
                              OffloadedStates{false, true}};
    return draws_.one_of(some);
  }
  if (!draws_.feature(Feature::hybrid, 20)) return {};
  constexpr std::array fractions{0.1, 0.25, 0.5, 0.5, 0.75, 0.9};
  HybridOffload hybrid{.fraction = draws_.chance(50) ? 1.0 : 0.0};
  if (draws_.feature(Feature::hybrid_shared, 80)) hybrid.fraction = draws_.one_of(fractions);
  hybrid.overlap = draws_.chance(60);
  if (draws_.feature(Feature::hybrid_pageable, 40)) {
    hybrid.pin_grads = draws_.chance(50);
    hybrid.pin_params = !hybrid.pin_grads && draws_.chance(50);
  }
  return hybrid;
}

void SettingsDrawing::make_schedule() {
  Schedule& schedule = scenario_.schedule;
  if (draws_.feature(Feature::schedule_random, 50)) schedule.strategy = Schedule::Strategy::random;
  if (draws_.feature(Feature::schedule_pct, 35)) schedule.strategy = Schedule::Strategy::pct;
  if (schedule.strategy == Schedule::Strategy::fifo) return;
  schedule.seed = draws_.bits() >> 32;
  if (schedule.strategy == Schedule::Strategy::pct) schedule.depth = draws_.between(1, 5);
}

void SettingsDrawing::make_rare() {
  if (draws_.able().isolated) return;
  if (draws_.feature(Feature::several_params, 1)) add_many_params();
  bool const have_codes = std::any_of(
      scenario_.params.begin(), scenario_.params.end(),
      [&](Param const& param) { return is_quantised(scenario_.precision_of(param).param); });
  if (draws_.feature(Feature::extreme_settings, have_codes ? 15 : 3)) let_weights_vanish();
}

// More than a launch takes, or than a word of a set has bits.
void SettingsDrawing::add_many_params() {
  std::int64_t const count = draws_.between(32, 66);
  for (std::int64_t i = 0; i < count; ++i)
    scenario_.params.push_back(
        {.name = "many" + std::to_string(i), .shape = {draws_.between(1, 3)}});
}

// What a decay of 1 leaves of them are updates over a huge epsilon: scales that bring these to a
// range overflow.
void SettingsDrawing::let_weights_vanish() {
  AdamConfig& adam = scenario_.optimizer.adam;
  adam.mode = AdamMode::adamw;
  adam.learning_rate = 1;
  adam.epsilon = 1e38F;
  adam.weight_decay = 1;
}

}  // namespace adamant::scenarios
