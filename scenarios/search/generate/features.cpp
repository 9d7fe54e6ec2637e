#include "scenarios/search/generate/features.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "scenarios/language/rounding_scale.h"
#include "scenarios/language/units.h"
#include "scenarios/language/whereabouts.h"

namespace adamant::scenarios {

namespace {

constexpr std::array<std::string_view, feature_count> labels{
    "one rank",
    "more than four ranks",
    "replicas",
    "fewer rows than ranks",
    "ragged end",
    "tensor without elements",
    "several parameters",
    "several units",
    "parameter group",
    "adam (L2)",
    "counter per parameter",
    "no bias correction",
    "extreme settings",
    "gradient not decoupled",
    "cast copy of a gradient",
    "bf16 weights",
    "fp16 weights",
    "main weights",
    "16-bit gradients",
    "bf16 moments",
    "a parameter's own precision",
    "clip",
    "fixed loss scale",
    "dynamic loss scale",
    "loss scale that rounds",
    "overflow",
    "normal gradients",
    "wild gradients",
    "fewer microbatches than ranks",
    "more microbatches than ranks",
    "accumulated backward",
    "step without any gradient",
    "backward without a parameter",
    "zero_grad keeps gradients",
    "set",
    "train",
    "check",
    "states offloaded",
    "offload as an operation",
    "hybrid step",
    "hybrid step on both sides",
    "hybrid step with pageable memory",
    "save",
    "save over an older one",
    "load",
    "load on another world",
    "load with another offload",
    "load with other types",
    "load in reversed order",
    "crash at a save",
    "damaged checkpoint",
    "out of memory",
    "capturable",
    "capture",
    "replay",
    "four steps or more",
    "random schedule",
    "pct schedule",
    "engine option",
};

class Collector {
 public:
  void add(Feature feature, bool present = true) {
    if (present) features_.set(static_cast<std::size_t>(feature));
  }
  FeatureSet const& features() const { return features_; }

 private:
  FeatureSet features_;
};

bool is_extreme(AdamConfig const& config) {
  auto const extreme_beta = [](float beta) { return beta == 0.0F || beta > 0.9999F; };
  return extreme_beta(config.beta1) || extreme_beta(config.beta2) || config.epsilon < 1e-12F ||
         config.epsilon > 1e-2F || config.learning_rate == 0.0F || config.learning_rate > 0.5F ||
         config.learning_rate < 1e-12F || config.weight_decay > 0.5F;
}

std::int64_t numel_of(Param const& param) {
  std::int64_t numel = 1;
  for (std::int64_t const extent : param.shape) numel *= extent;
  return numel;
}

void add_params(Scenario const& scenario, Collector& found) {
  std::int64_t const ranks = scenario.world.shard;
  for (Param const& param : scenario.params) {
    if (param.shape.empty()) continue;
    std::int64_t const rows = param.shape.front();
    found.add(Feature::empty_tensor, numel_of(param) == 0);
    if (numel_of(param) == 0) continue;
    found.add(Feature::empty_shard, rows < ranks);
    found.add(Feature::ragged_end, rows % ranks != 0);
  }
  std::vector<std::string> names;
  for (Param const& param : scenario.params) names.push_back(param.name);
  auto const units = assign_units(names);
  found.add(Feature::several_params, scenario.params.size() > 1);
  found.add(Feature::several_units, !units.empty() && units.back() > 0);
}

void add_precision(Scenario const& scenario, Collector& found) {
  for (Param const& param : scenario.params) {
    Precision const precision = scenario.precision_of(param);
    found.add(Feature::weights_bf16, precision.param == ParamType::bf16);
    found.add(Feature::weights_fp16, precision.param == ParamType::fp16);
    found.add(Feature::main_weights, precision.main != MainType::none);
    found.add(Feature::gradients_16_bits, precision.grad != GradType::fp32);
    found.add(Feature::moments_bf16,
              precision.exp_avg == StateType::bf16 || precision.exp_avg_sq == StateType::bf16);
    auto const weight =
        precision.main != MainType::none ? format_of(precision.main) : format_of(precision.param);
    found.add(Feature::cast_copy,
              !scenario.optimizer.decoupled_grad && weight != format_of(precision.grad));
    found.add(Feature::own_precision, param.precision != PrecisionOverride{});
  }
}

void add_scaling(Clip const& clip, LossScale const& scale, bool has_fp16, Collector& found) {
  found.add(Feature::clip, clip.has_value());
  found.add(Feature::loss_scale_fixed, scale.kind == LossScale::Kind::fixed);
  found.add(Feature::loss_scale_dynamic, scale.kind == LossScale::Kind::dynamic);
  found.add(Feature::loss_scale_rounds, scale_rounds(scale, has_fp16));
}

void add_optimizer(Scenario const& scenario, Collector& found) {
  auto const configs = adam_configs(scenario);
  found.add(Feature::group, std::any_of(scenario.params.begin(), scenario.params.end(),
                                        [](Param const& param) { return !param.group.empty(); }));
  found.add(Feature::adam_l2, scenario.optimizer.adam.mode == AdamMode::adam);
  found.add(Feature::counter_per_parameter,
            scenario.optimizer.step_counter == StepCounter::parameter);
  found.add(Feature::capturable, scenario.optimizer.capturable);
  found.add(Feature::cast_gradient, !scenario.optimizer.decoupled_grad);
  add_scaling(scenario.optimizer.clip, scenario.optimizer.loss_scale, has_fp16_gradients(scenario),
              found);
  for (AdamConfig const& config : configs) {
    found.add(Feature::no_bias_correction, !config.bias_correction);
    found.add(Feature::extreme_settings, is_extreme(config));
  }
}

void add_offload(Scenario const& scenario, Collector& found) {
  found.add(Feature::offload_states, std::holds_alternative<OffloadedStates>(scenario.offload));
  auto const* hybrid = std::get_if<HybridOffload>(&scenario.offload);
  if (hybrid == nullptr) return;
  found.add(Feature::hybrid);
  found.add(Feature::hybrid_shared, hybrid->fraction > 0 && hybrid->fraction < 1);
  found.add(Feature::hybrid_pageable, !hybrid->pin_grads || !hybrid->pin_params);
}

void add_world(Scenario const& scenario, Collector& found) {
  std::int64_t const ranks = scenario.world.rank_count();
  found.add(Feature::one_rank, ranks == 1);
  found.add(Feature::more_than_four_ranks, ranks > 4);
  found.add(Feature::replicated, scenario.world.replicate > 1);
  found.add(Feature::idle_rank, scenario.microbatch_count() < ranks);
  found.add(Feature::several_microbatches, scenario.microbatch_count() > ranks);
  found.add(Feature::gradients_normal, scenario.gradients == GradientClass::normal);
  found.add(Feature::gradients_wild, scenario.gradients == GradientClass::wild);
  found.add(Feature::schedule_random, scenario.schedule.strategy == Schedule::Strategy::random);
  found.add(Feature::schedule_pct, scenario.schedule.strategy == Schedule::Strategy::pct);
  found.add(Feature::engine_option, !scenario.engine.options.empty());
}

/// Walks a program and remembers just enough of its state to name what is special.
class ProgramWalk {
 public:
  ProgramWalk(Collector& found, Scenario const& scenario)
      : found_(found),
        states_(scenario),
        has_fp16_(has_fp16_gradients(scenario)),
        precision_(scenario.precision) {}

  void visit(Action const& action) {
    std::visit([this](auto const& operation) { (*this)(operation); }, action);
    states_.follow(action);
  }
  void end() { found_.add(Feature::many_steps, steps_ >= 4); }

  void operator()(Train const& train) {
    found_.add(Feature::train);
    found_.add(Feature::accumulated_backward, fresh_backwards_ > 0);
    steps_ += train.count;
    has_gradient_ = false;
    fresh_backwards_ = 0;
  }
  void operator()(Backward const& backward) {
    found_.add(Feature::backward_without, !backward.without.empty());
    found_.add(Feature::accumulated_backward, fresh_backwards_ > 0);
    has_gradient_ = true;
    ++fresh_backwards_;
  }
  void operator()(Step const&) {
    found_.add(Feature::step_without_gradient, !has_gradient_);
    ++steps_;
  }
  void operator()(ZeroGrad const& zero_grad) {
    found_.add(Feature::zero_grad_keeps, !zero_grad.set_to_none);
    has_gradient_ = !zero_grad.set_to_none;
    fresh_backwards_ = 0;
  }
  void operator()(Set const& set) {
    found_.add(Feature::set);
    add_scaling(set.change.clip.value_or(Clip()), set.change.loss_scale.value_or(LossScale()),
                has_fp16_, found_);
  }
  void operator()(Overflow const&) { found_.add(Feature::overflow); }
  void operator()(Check const&) { found_.add(Feature::check); }
  void operator()(OffloadStates const&) { found_.add(Feature::explicit_offload); }
  void operator()(Save const& save) {
    found_.add(Feature::save);
    found_.add(Feature::save_replaced, !saved_.insert(save.checkpoint).second);
  }
  void operator()(Load const& load) {
    found_.add(Feature::load);
    found_.add(Feature::load_on_other_world,
               load.world && load.world->rank_count() != states_.world().rank_count());
    found_.add(Feature::load_with_other_offload,
               load.offload && *load.offload != states_.offload());
    Precision const before = std::exchange(precision_, with(precision_, load.precision));
    found_.add(Feature::load_with_other_precision, precision_ != before);
    found_.add(Feature::load_reversed, load.order == ParamOrder::reversed);
    has_gradient_ = false;
    fresh_backwards_ = 0;
  }
  void operator()(Capture const& capture) {
    found_.add(Feature::capture);
    captured_ = &capture;
  }
  void operator()(Replay const& replay) {
    found_.add(Feature::replay);
    if (captured_ == nullptr) return;
    // What two in a row show, more of them do not change.
    for (std::int64_t i = 0; i < std::min<std::int64_t>(replay.count, 2); ++i)
      for (Operation const& operation : captured_->body) visit(operation.action);
    for (Operation const& operation : captured_->body) {
      auto const* train = std::get_if<Train>(&operation.action);
      std::int64_t const steps = train != nullptr                                 ? train->count
                                 : std::holds_alternative<Step>(operation.action) ? 1
                                                                                  : 0;
      steps_ += steps * std::max<std::int64_t>(replay.count - 2, 0);
    }
  }
  template <typename Other>
  void operator()(Other const&) {}  // not executed yet, so not counted either

 private:
  Collector& found_;
  Whereabouts states_;
  bool has_fp16_;
  Precision precision_;
  std::set<std::string> saved_;
  std::int64_t steps_ = 0;
  std::int64_t fresh_backwards_ = 0;
  bool has_gradient_ = false;
  Capture const* captured_ = nullptr;  // the last one
};

}  // namespace

std::string_view label_of(Feature feature) {
  return labels[static_cast<std::size_t>(feature)];
}

FeatureSet features_of(Scenario const& scenario) {
  Collector found;
  add_world(scenario, found);
  add_params(scenario, found);
  add_optimizer(scenario, found);
  add_offload(scenario, found);
  add_precision(scenario, found);
  for (Fault const& fault : scenario.faults) {
    found.add(Feature::crash, fault.at == Fault::Where::save);
    found.add(Feature::damage, fault.at == Fault::Where::load);
    found.add(Feature::out_of_memory, fault.at == Fault::Where::malloc);
  }
  ProgramWalk walk(found, scenario);
  for (Operation const& operation : scenario.program) walk.visit(operation.action);
  walk.end();
  return found.features();
}

std::vector<std::string_view> labels_of(FeatureSet const& features) {
  std::vector<std::string_view> result;
  for (std::size_t f = 0; f < feature_count; ++f) {
    if (features.test(f)) result.push_back(labels[f]);
  }
  return result;
}

void Distribution::add(FeatureSet const& features) {
  ++cases_;
  for (std::size_t a = 0; a < feature_count; ++a) {
    if (!features.test(a)) continue;
    for (std::size_t b = a; b < feature_count; ++b) {
      if (features.test(b)) ++pairs_[a * feature_count + b];
    }
  }
}

std::uint64_t Distribution::count(Feature a, Feature b) const {
  auto const low = static_cast<std::size_t>(std::min(a, b));
  auto const high = static_cast<std::size_t>(std::max(a, b));
  return pairs_[low * feature_count + high];
}

}  // namespace adamant::scenarios
