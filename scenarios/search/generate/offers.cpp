#include "scenarios/search/generate/offers.h"

#include <algorithm>
#include <initializer_list>

#include "scenarios/seam/settings_support.h"

namespace adamant::scenarios {

namespace {

class Lacking {
 public:
  explicit Lacking(Capabilities const& able) : able_(able) {}

  FeatureSet all() {
    judge_worlds();
    judge_formats();
    judge_optimizer();
    judge_operations();
    judge_files();
    return lacking_;
  }

 private:
  void unless(bool offered, std::initializer_list<Feature> features) {
    if (offered) return;
    for (Feature const feature : features) lacking_ |= set_of(feature);
  }

  void judge_worlds() {
    unless(able_.ranks_max > 4, {Feature::more_than_four_ranks});
    unless(able_.replicate_max > 1, {Feature::replicated});
    unless(able_.empty_tensors, {Feature::empty_tensor});
    unless(able_.schedules, {Feature::schedule_random, Feature::schedule_pct});
    bool const has_options =
        std::any_of(able_.options.begin(), able_.options.end(),
                    [](EngineOption const& option) { return option.values.size() > 1; });
    unless(has_options, {Feature::engine_option});
  }

  void judge_formats() {
    auto const offered = recipes(able_.precisions);
    auto const some = [&](auto const& wanted) {
      return std::any_of(offered.begin(), offered.end(), wanted);
    };
    using P = Precision const&;
    unless(some([](P p) { return p.param == ParamType::bf16; }), {Feature::weights_bf16});
    unless(some([](P p) { return p.param == ParamType::fp16; }), {Feature::weights_fp16});
    unless(some([](P p) { return p.main != MainType::none; }), {Feature::main_weights});
    unless(some([](P p) { return p.grad != GradType::fp32; }), {Feature::gradients_16_bits});
    unless(
        some([](P p) { return p.exp_avg == StateType::bf16 || p.exp_avg_sq == StateType::bf16; }),
        {Feature::moments_bf16});
    unless(able_.own_precision, {Feature::own_precision});
  }

  void judge_optimizer() {
    bool const fixed = offers(able_.loss_scale, LossScale::Kind::fixed);
    bool const dynamic = offers(able_.loss_scale, LossScale::Kind::dynamic);
    unless(offers(able_.optimizers, AdamMode::adam), {Feature::adam_l2});
    unless(offers(able_.step_counters, StepCounter::parameter), {Feature::counter_per_parameter});
    unless(offers(able_.bias_correction, false), {Feature::no_bias_correction});
    unless(able_.cast_gradients, {Feature::cast_gradient, Feature::cast_copy});
    unless(able_.clip, {Feature::clip});
    unless(fixed, {Feature::loss_scale_fixed});
    unless(dynamic, {Feature::loss_scale_dynamic});
    unless(fixed || dynamic, {Feature::loss_scale_rounds});
  }

  void judge_operations() {
    unless(offers(able_.gradients, GradientClass::normal), {Feature::gradients_normal});
    unless(offers(able_.gradients, GradientClass::wild), {Feature::gradients_wild});
    unless(offers(able_.zero_grad, ZeroGradKind::zeros), {Feature::zero_grad_keeps});
    unless(offers(able_.zero_grad, ZeroGradKind::none), {Feature::train});
    unless(!able_.set.empty(), {Feature::set});
    unless(able_.capturable, {Feature::capturable, Feature::capture, Feature::replay});
    unless(able_.offload,
           {Feature::offload_states, Feature::explicit_offload, Feature::hybrid,
            Feature::hybrid_shared, Feature::hybrid_pageable, Feature::load_with_other_offload});
    unless(able_.out_of_memory, {Feature::out_of_memory});
  }

  void judge_files() {
    bool const loads = able_.save && able_.load;
    unless(able_.save, {Feature::save, Feature::save_replaced});
    unless(loads, {Feature::load, Feature::load_with_other_offload});
    unless(loads && able_.ranks_max > 1, {Feature::load_on_other_world});
    unless(loads && able_.loads_in_any_order, {Feature::load_reversed});
    unless(loads && load_recipes(able_).size() > 1, {Feature::load_with_other_precision});
    unless(able_.save && able_.can_crash, {Feature::crash});
    unless(loads && !damage_kinds(able_).empty(), {Feature::damage});
  }

  Capabilities const& able_;
  FeatureSet lacking_;
};

void add_recipes(PrecisionOffer const& offer, std::vector<Precision>& all) {
  for (ParamType const param : offer.param)
    for (GradType const grad : offer.grad)
      for (MainType const main : offer.main)
        for (StateType const exp_avg : offer.exp_avg)
          for (StateType const exp_avg_sq : offer.exp_avg_sq) {
            Precision const recipe{.param = param,
                                   .grad = grad,
                                   .main = main,
                                   .exp_avg = exp_avg,
                                   .exp_avg_sq = exp_avg_sq};
            if (!duplicates_main(recipe) && is_plain(recipe) &&
                !adamant::scenarios::offers(all, recipe))
              all.push_back(recipe);
          }
}

}  // namespace

FeatureSet lacking(Capabilities const& capabilities) {
  return Lacking(capabilities).all();
}

std::vector<Precision> recipes(std::vector<PrecisionOffer> const& offers) {
  std::vector<Precision> all;
  for (PrecisionOffer const& offer : offers) add_recipes(offer, all);
  return all;
}

std::vector<Precision> load_recipes(Capabilities const& capabilities) {
  if (!capabilities.load_precisions) return {};
  std::vector<PrecisionOffer> offers = capabilities.precisions;
  offers.insert(offers.end(), capabilities.load_precisions->begin(),
                capabilities.load_precisions->end());
  return recipes(offers);
}

std::vector<Fault::Then> damage_kinds(Capabilities const& capabilities) {
  std::vector<Fault::Then> kinds;
  for (Fault::Then const kind :
       {Fault::Then::flip_byte, Fault::Then::truncate, Fault::Then::remove_file})
    if (offers(capabilities.detects_damage, kind)) kinds.push_back(kind);
  return kinds;
}

}  // namespace adamant::scenarios
