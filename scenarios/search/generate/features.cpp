#include "scenarios/search/generate/features.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "scenarios/language/operations.h"
#include "scenarios/language/registry.h"
#include "scenarios/language/rounding_scale.h"
#include "scenarios/language/state_location.h"
#include "scenarios/language/verbs.h"
#include "scenarios/seam/refusal_parts.h"

namespace adamant::scenarios {

namespace {

class Collector {
 public:
  void add(Feature feature, bool present = true) {
    if (present) features_.set(static_cast<std::size_t>(feature));
  }
  void add_all(FeatureSet const& features) { features_ |= features; }
  FeatureSet const& features() const { return features_; }

 private:
  FeatureSet features_;
};

/// The number of a value: 0 where it is the usual one.
template <typename Enum>
std::size_t number_of(kinds::Words<Enum>, Enum value, Enum) {
  return static_cast<std::size_t>(value);
}
std::size_t number_of(kinds::Scale, LossScale const& value, LossScale const&) {
  return static_cast<std::size_t>(value.kind);
}
template <typename Kind, typename Value>
std::size_t number_of(Kind const&, Value const& value, Value const& usual) {
  return value == usual ? 0 : 1;
}

/// What the tables say of the values of a part.
template <typename T>
void add_keys(T const& part, Collector& found) {
  T const usual{};
  for_each_key<T>([&](auto const& row) {
    using Row = std::remove_cvref_t<decltype(row)>;
    auto const& value = value_at(part, row.place);
    std::size_t number = 0;
    if constexpr (may_be_absent<T, Row>) {
      if (value) number = number_of(row.kind, *value, typename KindOf<Row>::Value{});
    } else {
      number = number_of(row.kind, value, value_at(usual, row.place));
    }
    auto const& features = row.about.features;
    if (number > 0 && number <= features.size() && features[number - 1])
      found.add(*features[number - 1]);
  });
}

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
    if (param.is_tied() || param.shape.empty()) continue;
    std::int64_t const rows = param.shape.front();
    found.add(Feature::empty_tensor, numel_of(param) == 0);
    if (numel_of(param) == 0) continue;
    found.add(Feature::empty_shard, rows < ranks);
    found.add(Feature::ragged_end, rows % ranks != 0);
  }
  std::vector<std::string> names;
  for (Param const& param : scenario.params)
    if (!param.is_tied()) names.push_back(param.name);
  auto const units = assign_units(names);
  found.add(Feature::several_params, names.size() > 1);
  found.add(Feature::several_units, !units.empty() && units.back() > 0);
}

/// Does a shard end within a block that shares a scale? REQUIRES: the recipe takes the shape.
bool cuts_block(ParamType recipe, std::vector<std::int64_t> const& shape, std::int64_t ranks) {
  std::int64_t const block_rows = recipe == ParamType::mxfp8 ? 1 : block_side(recipe);
  std::int64_t const rows = shape.front();
  std::int64_t const chunk = (rows + ranks - 1) / ranks;
  std::int64_t matrix_rows = 1;  // in one row
  for (std::size_t d = 1; d + 1 < shape.size(); ++d) matrix_rows *= shape[d];
  return chunk < rows && chunk * matrix_rows % block_rows != 0;
}

void add_precision(Scenario const& scenario, Collector& found) {
  for (Param const& param : scenario.params) {
    Precision const precision = scenario.precision_of(param);
    add_keys(param, found);
    if (param.is_tied()) continue;
    found.add_all(features_of(precision));
    found.add(Feature::cut_block,
              is_quantised(precision.param) && takes(precision.param, param.shape) &&
                  cuts_block(precision.param, param.shape, scenario.world.shard));
  }
  found.add(Feature::cast_copy, makes_cast_copy(scenario));
}

void add_optimizer(Scenario const& scenario, Collector& found) {
  auto const configs = adam_configs(scenario);
  found.add(Feature::group, std::any_of(scenario.params.begin(), scenario.params.end(),
                                        [](Param const& param) { return !param.group.empty(); }));
  add_keys(scenario.optimizer, found);
  found.add(Feature::loss_scale_rounds,
            scale_rounds(scenario.optimizer.loss_scale, has_fp16_gradients(scenario)));
  for (AdamConfig const& config : configs) {
    add_keys(config, found);
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
  add_keys(scenario.world, found);
  found.add(Feature::idle_rank, scenario.microbatch_count() < ranks);
  found.add(Feature::several_microbatches, scenario.microbatch_count() > ranks);
  add_keys(scenario, found);
  add_keys(scenario.schedule, found);
  add_keys(scenario.engine, found);
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
    if (auto const feature = traits_of(action).feature) found_.add(*feature);
    std::visit([this](auto const& operation) { add_keys(operation, found_); }, action);
    std::visit([this](auto const& operation) { (*this)(operation); }, action);
    states_.follow(action);
  }
  void end() { found_.add(Feature::many_steps, steps_ >= 4); }

  void operator()(Train const& train) {
    found_.add(Feature::accumulated_backward, fresh_backwards_ > 0);
    steps_ += train.count;
    has_gradient_ = false;
    fresh_backwards_ = 0;
  }
  void operator()(Backward const&) {
    found_.add(Feature::accumulated_backward, fresh_backwards_ > 0);
    has_gradient_ = true;
    ++fresh_backwards_;
  }
  void operator()(Step const&) {
    found_.add(Feature::step_without_gradient, !has_gradient_);
    ++steps_;
  }
  void operator()(ZeroGrad const& zero_grad) {
    has_gradient_ = !zero_grad.set_to_none;
    fresh_backwards_ = 0;
  }
  void operator()(Set const& set) {
    add_keys(set.change, found_);
    found_.add(Feature::loss_scale_rounds,
               scale_rounds(set.change.loss_scale.value_or(LossScale()), has_fp16_));
  }
  void operator()(Save const& save) {
    found_.add(Feature::save_replaced, !saved_.insert(save.checkpoint).second);
  }
  void operator()(Load const& load) {
    found_.add(Feature::load_on_other_world,
               load.world && load.world->rank_count() != states_.world().rank_count());
    if (load.world)
      found_.add(Feature::load_on_other_mesh, load.world->replicate != states_.world().replicate ||
                                                  load.world->outer != states_.world().outer);
    found_.add(Feature::load_with_other_layout, load.layout && *load.layout != states_.layout());
    found_.add(Feature::load_with_other_offload,
               load.offload && *load.offload != states_.offload());
    Precision const before = std::exchange(precision_, with(precision_, load.types()));
    found_.add(Feature::load_with_other_precision, precision_ != before);
    has_gradient_ = false;
    fresh_backwards_ = 0;
  }
  void operator()(Capture const& capture) { captured_ = &capture; }
  void operator()(Replay const& replay) {
    if (captured_ == nullptr) return;
    // What two in a row show, more of them do not change.
    for (std::int64_t i = 0; i < std::min<std::int64_t>(replay.count, 2); ++i)
      for (Operation const& operation : captured_->body) visit(operation.action);
    for (Operation const& operation : captured_->body) {
      auto const* train = std::get_if<Train>(&operation.action);
      std::int64_t const steps = train != nullptr             ? train->count
                                 : is<Step>(operation.action) ? 1
                                                              : 0;
      steps_ += steps * std::max<std::int64_t>(replay.count - 2, 0);
    }
  }
  template <typename Other>
  void operator()(Other const&) {}  // not executed yet, so not counted either

 private:
  Collector& found_;
  StateLocation states_;
  bool has_fp16_;
  Precision precision_;
  std::set<std::string> saved_;
  std::int64_t steps_ = 0;
  std::int64_t fresh_backwards_ = 0;
  bool has_gradient_ = false;
  Capture const* captured_ = nullptr;  // the last one
};

}  // namespace

FeatureSet features_of(Precision const& precision) {
  Collector found;
  add_keys(precision, found);
  found.add(Feature::main_weights, precision.main != MainType::none);
  found.add(Feature::local_scale,
            has_scaled_state(precision) && precision.state_scale == StateScale::local);
  return found.features();
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

void Distribution::add(FeatureSet const& features) {
  ++cases_;
  for (std::size_t a = 0; a < feature_count; ++a) {
    if (!features.test(a)) continue;
    for (std::size_t b = a; b < feature_count; ++b) {
      if (features.test(b)) ++pairs_[a * feature_count + b];
    }
  }
}

Distribution::Distribution(std::uint64_t cases, std::vector<std::uint64_t> const& counts)
    : cases_(cases) {
  auto next = counts.begin();
  for (std::size_t a = 0; a < feature_count; ++a)
    for (std::size_t b = a; b < feature_count; ++b) pairs_[a * feature_count + b] = *next++;
}

void Distribution::add(Distribution const& other) {
  cases_ += other.cases_;
  std::transform(pairs_.begin(), pairs_.end(), other.pairs_.begin(), pairs_.begin(), std::plus<>());
}

std::vector<std::uint64_t> Distribution::counts() const {
  std::vector<std::uint64_t> counts;
  for (std::size_t a = 0; a < feature_count; ++a)
    for (std::size_t b = a; b < feature_count; ++b) counts.push_back(pairs_[a * feature_count + b]);
  return counts;
}

std::uint64_t Distribution::count(Feature a, Feature b) const {
  auto const low = static_cast<std::size_t>(std::min(a, b));
  auto const high = static_cast<std::size_t>(std::max(a, b));
  return pairs_[low * feature_count + high];
}

}  // namespace adamant::scenarios
