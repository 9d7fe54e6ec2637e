#include "scenarios/search/generate/offers.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <set>

#include "scenarios/language/verbs.h"

namespace adamant::scenarios {

namespace {

// ---- is value number `number` of a key offered, by the type of what is offered ------------------

template <typename Value>
bool offers_number(bool offered, std::size_t, Value const&) {
  return offered;
}
bool offers_number(std::int64_t most, std::size_t, std::int64_t usual) {
  return most > usual;
}
bool offers_number(std::vector<bool> const& offered, std::size_t, bool usual) {
  return offers(offered, !usual);
}
template <typename Enum, typename Value>
bool offers_number(std::vector<Enum> const& offered, std::size_t number, Value const&) {
  return offers(offered, static_cast<Enum>(number));
}

// ---- recipes that offers accept
// ------------------------------------------------------------------

/// Shows every recipe of an offer in order, until `enough` says so; did it?
template <typename Enough>
bool visit_recipes(PrecisionOffer const& offer, Enough const& enough) {
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
            if (!conflict_in(recipe) && enough(recipe)) return true;
          }
  return false;
}

/// Tells apart the recipes that are there already; an offer of every type makes hundreds.
using Seen = std::set<std::array<std::size_t, 5>>;

bool is_new(Precision const& recipe, Seen& seen) {
  auto const number = [](auto type) { return static_cast<std::size_t>(type); };
  return seen
      .insert({number(recipe.param), number(recipe.grad), number(recipe.main),
               number(recipe.exp_avg), number(recipe.exp_avg_sq)})
      .second;
}

/// All that a load may lead to.
std::vector<PrecisionOffer> offers_of_loads(Capabilities const& capabilities) {
  if (!capabilities.load_precisions) return {};
  std::vector<PrecisionOffer> offers = capabilities.precisions;
  offers.insert(offers.end(), capabilities.load_precisions->begin(),
                capabilities.load_precisions->end());
  return offers;
}

class Lacking {
 public:
  explicit Lacking(Capabilities const& able) : able_(able) {}

  FeatureSet all() {
    judge_keys<World>();
    judge_keys<Param>();
    judge_keys<Optimizer>();
    judge_keys<Scenario>();
    judge_verbs();
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

  /// What the tables say.
  template <typename T>
  void judge_keys() {
    for_each_key<T>([&](auto const& row) {
      if constexpr (!std::is_same_v<decltype(std::remove_cvref_t<decltype(row)>::offer), NoOffer>) {
        auto const& features = row.about.features;
        for (std::size_t i = 0; i < features.size(); ++i)
          if (features[i])
            unless(offers_number(able_.*(row.offer), i + 1, value_at(T{}, row.place)),
                   {*features[i]});
      }
    });
  }

  void judge_verbs() {
    for_each_verb<Action>([&](auto const& verb) {
      VerbTraits const& traits = verb.traits;
      if (traits.offer != nullptr && traits.feature)
        unless(able_.*(traits.offer), {*traits.feature});
    });
  }

  void judge_worlds() {
    unless(able_.ranks_max > 4, {Feature::more_than_four_ranks});
    unless(able_.empty_tensors, {Feature::empty_tensor});
    unless(able_.schedules, {Feature::schedule_random, Feature::schedule_pct});
    bool const has_options =
        std::any_of(able_.options.begin(), able_.options.end(),
                    [](EngineOption const& option) { return option.values.size() > 1; });
    unless(has_options, {Feature::engine_option});
    bool const others = std::any_of(able_.promises.begin(), able_.promises.end(),
                                    [](Promise promise) { return promise != Promise::worlds; });
    unless(offers(able_.promises, Promise::worlds) && able_.ranks_max > 1,
           {Feature::several_worlds});
    unless(others, {Feature::again});
  }

  void judge_formats() {
    auto const some = [&](auto const& wanted) {
      return std::any_of(able_.precisions.begin(), able_.precisions.end(),
                         [&](PrecisionOffer const& offer) { return visit_recipes(offer, wanted); });
    };
    using P = Precision const&;
    unless(some([](P p) { return p.param == ParamType::bf16; }), {Feature::weights_bf16});
    unless(some([](P p) { return p.param == ParamType::fp16; }), {Feature::weights_fp16});
    unless(some([](P p) { return p.main != MainType::none; }), {Feature::main_weights});
    unless(some([](P p) { return p.grad != GradType::fp32; }), {Feature::gradients_16_bits});
    unless(some([](P p) { return p.main == MainType::bf16; }), {Feature::main_bf16});
    unless(some([](P p) { return p.main == MainType::fp16; }), {Feature::scaled_main});
    unless(some([](P p) { return p.main == MainType::remainder; }), {Feature::remainder});
    unless(some([](P p) { return is_quantised(p.param); }),
           {Feature::quantised, Feature::cut_block});
    for (auto const& moment : {std::pair(Feature::moments_bf16, StateType::bf16),
                               std::pair(Feature::moments_fp16, StateType::fp16),
                               std::pair(Feature::moments_fp8, StateType::fp8)})
      unless(some([&](P p) { return p.exp_avg == moment.second || p.exp_avg_sq == moment.second; }),
             {moment.first});
    bool const local = std::any_of(
        able_.precisions.begin(), able_.precisions.end(),
        [](PrecisionOffer const& offer) { return offers(offer.state_scale, StateScale::local); });
    unless(local, {Feature::local_scale});
  }

  void judge_optimizer() {
    bool const fixed = offers(able_.loss_scale, LossScale::Kind::fixed);
    bool const dynamic = offers(able_.loss_scale, LossScale::Kind::dynamic);
    unless(offers(able_.step_counters, StepCounter::parameter), {Feature::counter_per_parameter});
    unless(able_.cast_gradients, {Feature::cast_gradient, Feature::cast_copy});
    unless(fixed || dynamic, {Feature::loss_scale_rounds});
  }

  void judge_operations() {
    unless(offers(able_.zero_grad, ZeroGradKind::zeros), {Feature::zero_grad_keeps});
    unless(offers(able_.zero_grad, ZeroGradKind::none), {Feature::train});
    unless(!able_.set.empty(), {Feature::set});
    unless(able_.offload, {Feature::offload_states, Feature::hybrid, Feature::hybrid_shared,
                           Feature::hybrid_pageable, Feature::load_with_other_offload});
    unless(able_.out_of_memory, {Feature::out_of_memory});
  }

  void judge_files() {
    bool const loads = able_.save && able_.load;
    bool const damages = !damage_kinds(able_).empty() || has_damage(able_, Fault::Then::stale_file);
    unless(able_.save, {Feature::save_replaced});
    unless(loads, {Feature::load, Feature::load_with_other_offload});
    unless(loads && able_.ranks_max > 1, {Feature::load_on_other_world});
    unless(loads && able_.replicate_max > 1, {Feature::load_on_other_mesh});
    unless(loads && able_.layouts.size() > 1, {Feature::load_with_other_layout});
    unless(loads && able_.loads_in_any_order, {Feature::load_reversed});
    unless(loads && able_.loads_anew, {Feature::load_anew});
    unless(loads && has_two_types_of_loads(), {Feature::load_with_other_precision});
    unless(able_.save && able_.can_crash, {Feature::crash});
    unless(loads && damages, {Feature::damage});
  }

  bool has_two_types_of_loads() const {
    std::vector<PrecisionOffer> const offers = offers_of_loads(able_);
    std::optional<Precision> first;
    return std::any_of(offers.begin(), offers.end(), [&](PrecisionOffer const& offer) {
      return visit_recipes(offer, [&](Precision const& recipe) {
        if (!first) first = recipe;
        return recipe != *first;
      });
    });
  }

  Capabilities const& able_;
  FeatureSet lacking_;
};

}  // namespace

FeatureSet lacking(Capabilities const& capabilities) {
  return Lacking(capabilities).all();
}

std::vector<Precision> recipes(std::vector<PrecisionOffer> const& offers) {
  std::vector<Precision> all;
  Seen seen;
  for (PrecisionOffer const& offer : offers)
    visit_recipes(offer, [&](Precision const& recipe) {
      if (is_new(recipe, seen)) all.push_back(recipe);
      return false;
    });
  return all;
}

std::vector<Precision> load_recipes(Capabilities const& capabilities) {
  return recipes(offers_of_loads(capabilities));
}

bool has_damage(Capabilities const& capabilities, Fault::Then kind) {
  return offers(capabilities.detects_damage, kind) || offers(capabilities.other_damage, kind);
}

std::vector<Fault::Then> damage_kinds(Capabilities const& capabilities) {
  std::vector<Fault::Then> kinds;
  for (Fault::Then const kind :
       {Fault::Then::flip_byte, Fault::Then::truncate, Fault::Then::remove_file})
    if (has_damage(capabilities, kind)) kinds.push_back(kind);
  return kinds;
}

}  // namespace adamant::scenarios
