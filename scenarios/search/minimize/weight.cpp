#include "scenarios/search/minimize/weight.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "scenarios/language/units.h"
#include "scenarios/search/minimize/usual.h"

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t elements_of_empty = 8;
constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 4;

std::uint64_t number(std::int64_t count) {
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

/// Adds up what is at its default as 0.
class Weighing {
 public:
  explicit Weighing(Scenario const& scenario) : scenario_(scenario) {}

  Weight weigh() {
    weigh_world(scenario_.world);
    weigh_program(scenario_.program, 1);
    weigh_params();
    weigh_optimizer();
    weigh_precision(scenario_.precision);
    weigh_offload(scenario_.offload);
    for (Fault const& fault : scenario_.faults) weigh_fault(fault);
    weight_[Digit::features] += scenario_.engine.options.size();
    feature(scenario_.layout != Layout::fsdp2, 1);
    feature(scenario_.gradients != GradientClass::exact,
            static_cast<std::uint64_t>(scenario_.gradients));
    weigh_schedule();
    feature(scenario_.microbatches.has_value(), 0);
    weight_[Digit::microbatches] = number(scenario_.microbatches.value_or(0));
    weight_[Digit::seed] = scenario_.seed.value_or(0);
    return weight_;
  }

 private:
  void feature(bool present, std::uint64_t value) {
    if (!present) return;
    ++weight_[Digit::features];
    weight_[Digit::values] += value;
  }
  template <typename T>
  void feature(std::optional<T> const& value) {
    if (value) feature(true, 1 + static_cast<std::uint64_t>(*value));
  }

  void weigh_world(World const& world) {
    std::uint64_t const ranks = number(world.rank_count());
    weight_[Digit::ranks] = std::max(weight_[Digit::ranks], ranks);
    weight_[Digit::ranks_of_all] += ranks;
    feature(world.replicate != 1, number(world.replicate));
  }

  /// Operations that are executed `times`: those of a capture as often as they are replayed.
  void weigh_program(std::vector<Operation> const& program, std::uint64_t times) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      ++weight_[Digit::entries];
      weight_[Digit::kinds] += kind_of(program[i].action);
      weigh(program[i].action, times);
      if (i > 0 && kind_of(program[i - 1].action) > kind_of(program[i].action))
        weight_[Digit::disorder] += 1 + program.size() - i;
    }
  }

  void weigh(Action const& action, std::uint64_t times) {
    std::uint64_t executed = 1;
    if (auto const* train = std::get_if<Train>(&action))
      executed = number(train->count) * (scenario_.optimizer.clip ? 4 : 3);
    if (auto const* replay = std::get_if<Replay>(&action))
      executed = number(replay->count) * captured_;
    if (auto const* capture = std::get_if<Capture>(&action)) return weigh_capture(*capture);
    weight_[Digit::executed] += std::min(executed, most) * times;
    if (auto const* backward = std::get_if<Backward>(&action))
      feature(!backward->without.empty(), backward->without.size());
    if (auto const* zero = std::get_if<ZeroGrad>(&action)) feature(!zero->set_to_none, 1);
    if (auto const* set = std::get_if<Set>(&action)) weigh_set(set->change);
    if (auto const* load = std::get_if<Load>(&action)) weigh_load(*load);
  }

  void weigh_capture(Capture const& capture) {
    std::uint64_t const before = weight_[Digit::executed];
    weigh_program(capture.body, 1);
    captured_ = std::max<std::uint64_t>(1, weight_[Digit::executed] - before);
  }

  void weigh_set(SettingsChange const& change) {
    weigh(change.adam);
    if (change.clip) feature(true, 1 + rank_of(*change.clip));
    if (change.loss_scale) feature(true, 1 + rank_of(*change.loss_scale));
  }

  void weigh_load(Load const& load) {
    if (load.world) weigh_world(*load.world);
    feature(load.world.has_value(), 0);
    feature(load.layout);
    weigh_override(load.precision);
    if (load.offload) weigh_offload(*load.offload);
    feature(load.offload.has_value(), 0);
    feature(load.order);
  }

  void weigh_params() {
    weight_[Digit::params] = scenario_.params.size();
    std::vector<std::string> names;
    for (Param const& param : scenario_.params) {
      weigh_shape(param.shape);
      weigh_override(param.precision);
      feature(!param.group.empty(), place_of_group(param.group));
      names.push_back(param.name);
    }
    weigh_names(names);
    for (std::size_t g = 0; g < scenario_.groups.size(); ++g) {
      feature(true, 0);
      weigh(scenario_.groups[g].settings);
      if (scenario_.groups[g].name != canonical_group(g)) ++weight_[Digit::names];
    }
  }

  void weigh_shape(std::vector<std::int64_t> const& shape) {
    std::uint64_t numel = 1;
    for (std::int64_t const extent : shape) {
      std::uint64_t const count = number(extent);
      numel = count == 0 ? 0 : (numel > most / count ? most : numel * count);
    }
    std::uint64_t const elements = numel == 0 ? elements_of_empty : numel;
    weight_[Digit::elements] += elements;
    weight_[Digit::dimensions] += shape.size();
    // Larger tensors stand later.
    if (elements < last_elements_) ++weight_[Digit::disorder];
    last_elements_ = elements;
  }

  std::uint64_t place_of_group(std::string const& name) const {
    for (std::size_t g = 0; g < scenario_.groups.size(); ++g)
      if (scenario_.groups[g].name == name) return g;
    return scenario_.groups.size();
  }

  void weigh_names(std::vector<std::string> const& names) {
    auto const units = assign_units(names);
    for (std::size_t p = 0; p < names.size(); ++p) {
      if (names[p] == canonical_name(p, units[p], false)) continue;
      weight_[Digit::names] += names[p] == canonical_name(p, units[p], true) ? 1 : 2;
    }
  }

  void weigh_optimizer() {
    Optimizer const& optimizer = scenario_.optimizer;
    feature(optimizer.adam.mode != AdamMode::adamw, 0);
    weigh(difference(optimizer.adam));
    feature(!optimizer.decoupled_grad, 0);
    feature(optimizer.keep_cast_grad, 0);
    feature(optimizer.step_counter != StepCounter::group, 0);
    feature(optimizer.capturable, 0);
    feature(optimizer.clip.has_value(), rank_of(optimizer.clip));
    feature(optimizer.loss_scale != LossScale{}, rank_of(optimizer.loss_scale));
  }

  void weigh(AdamOverride const& settings) {
    feature(settings.lr.has_value(), 0);
    feature(settings.betas.has_value(), 0);
    feature(settings.eps.has_value(), 0);
    feature(settings.weight_decay.has_value(), 0);
    feature(settings.bias_correction.has_value(), 0);
    weight_[Digit::values] += rank_of(settings);
  }

  template <typename Enum>
  void differs(Enum value, Enum usual) {
    feature(value != usual, static_cast<std::uint64_t>(value));
  }
  void weigh_precision(Precision const& precision) {
    Precision const defaults;
    differs(precision.param, defaults.param);
    differs(precision.grad, defaults.grad);
    differs(precision.main, defaults.main);
    differs(precision.exp_avg, defaults.exp_avg);
    differs(precision.exp_avg_sq, defaults.exp_avg_sq);
    differs(precision.state_scale, defaults.state_scale);
  }
  void weigh_override(PrecisionOverride const& precision) {
    feature(precision.param);
    feature(precision.grad);
    feature(precision.main);
    feature(precision.exp_avg);
    feature(precision.exp_avg_sq);
    feature(precision.state_scale);
  }

  void weigh_offload(Offload const& offload) {
    feature(offload.index() != 0, offload.index());
    if (auto const* states = std::get_if<OffloadedStates>(&offload)) {
      feature(!states->moments, 0);
      feature(!states->main, 0);
    }
    auto const* const hybrid = std::get_if<HybridOffload>(&offload);
    if (hybrid == nullptr) return;
    feature(rank_of_fraction(hybrid->fraction) != 0, rank_of_fraction(hybrid->fraction));
    feature(!hybrid->overlap, 0);
    feature(!hybrid->pin_grads, 0);
    feature(!hybrid->pin_params, 0);
  }

  void weigh_fault(Fault const& fault) {
    feature(true, 0);
    for (auto const& place : {fault.rank, fault.nth, fault.after_bytes, fault.file, fault.byte}) {
      if (place) feature(true, std::min(number(*place), most));
    }
  }

  void weigh_schedule() {
    Schedule const& schedule = scenario_.schedule;
    bool const simple = schedule.strategy == Schedule::Strategy::fifo && !schedule.choices;
    if (simple) return;
    feature(true, 0);
    if (!schedule.choices) {
      weight_[Digit::schedule] = most + static_cast<std::uint64_t>(schedule.strategy);
      weight_[Digit::choices] = schedule.seed.value_or(0);
      return;
    }
    weight_[Digit::schedule] = schedule.choices->size();
    for (std::uint32_t const choice : *schedule.choices) weight_[Digit::choices] += choice;
  }

  Scenario const& scenario_;
  Weight weight_;
  std::uint64_t captured_ = 1;  // operations that a replay executes
  std::uint64_t last_elements_ = 0;
};

}  // namespace

std::uint64_t kind_of(Action const& action) {
  // In the order of Action: train, backward, clip, step, zero_grad, set, overflow, offload, reload,
  // capture, replay, save, load, check.
  static constexpr std::uint64_t kinds[] = {5, 2, 6, 3, 1, 4, 7, 8, 9, 10, 11, 12, 13, 0};
  static_assert(std::size(kinds) == std::variant_size_v<Action>);
  return kinds[action.index()];
}

std::string canonical_name(std::size_t index, int unit, bool in_units) {
  std::string name = in_units ? "h." + std::to_string(unit) + ".p" : std::string("p");
  name += std::to_string(index);
  return name;
}

std::string canonical_group(std::size_t index) {
  return std::string("g").append(std::to_string(index));  // "g" + …: g++ 12 warns
}

Weight weight_of(Scenario const& scenario) {
  return Weighing(scenario).weigh();
}

}  // namespace adamant::scenarios
