#include "scenarios/generate/generate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "real/graph/capture_rule.h"
#include "scenarios/generate/draws.h"
#include "scenarios/model/rounding_scale.h"
#include "scenarios/model/whereabouts.h"

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

/// Does every load find something whole when save number `crashing` crashes? What comes between it
/// and the next load is skipped then.
bool survives(Scenario const& scenario, std::int64_t crashing) {
  std::set<std::string> there;
  std::int64_t saves = 0;
  bool skipping = false;
  for (Operation const& operation : scenario.program) {
    if (auto const* save = std::get_if<Save>(&operation.action); save != nullptr && !skipping) {
      skipping = ++saves == crashing;
      if (!skipping) there.insert(save->checkpoint);
    }
    if (auto const* load = std::get_if<Load>(&operation.action)) {
      if (!there.contains(load->from)) return false;
      skipping = false;
    }
  }
  return saves >= crashing;
}

/// Numbers of saves at which a crash is no reason for a refusal, from 1.
std::vector<std::int64_t> saves_that_may_crash(Scenario const& scenario) {
  std::vector<std::int64_t> numbers;
  std::int64_t const saves = std::count_if(
      scenario.program.begin(), scenario.program.end(),
      [](Operation const& operation) { return std::holds_alternative<Save>(operation.action); });
  for (std::int64_t nth = 1; nth <= saves; ++nth)
    if (survives(scenario, nth)) numbers.push_back(nth);
  return numbers;
}

/// Makes one scenario, part by part in a fixed order of draws.
class Generator {
 public:
  Generator(std::uint64_t seed, std::uint64_t index, GenerateOptions const& options)
      : draws_(seed, index), options_(options) {}

  Scenario make() {
    scenario_.name = "generated";
    scenario_.seed = draws_.bits() >> 32;
    make_world();
    make_params();
    make_groups();
    make_optimizer();
    make_gradients();
    make_offload();
    make_program();
    make_schedule();
    make_precision();
    if (!may_round()) widen_gradients();
    // Types are drawn last; what was captured before then needs a gradient that stays.
    if (captures_ && !may_capture()) scenario_.optimizer.keep_cast_grad = true;
    if (options_.faults) make_fault();
    return std::move(scenario_);
  }

 private:
  bool allowed(Feature feature) const { return !has(options_.off, feature); }
  /// A feature that is on in `percent` of the full-size scenarios, rarer in small ones.
  bool feature(Feature which, int percent) {
    bool const drawn = draws_.chance(percent * (20 + options_.size) / 120);
    return drawn && allowed(which);
  }
  /// `maximum` at full size, `minimum` at size 0.
  std::int64_t scaled(std::int64_t minimum, std::int64_t maximum) const {
    return minimum + (maximum - minimum) * options_.size / 100;
  }

  void make_world() {
    constexpr std::array usual{1, 2, 2, 3, 3, 4, 4, 4, 4, 4};
    bool const large = draws_.chance(26);
    std::int64_t const ranks = large ? draws_.between(5, 8) : draws_.one_of(usual);
    std::int64_t ranks_max = std::min(scaled(1, options_.ranks_max), options_.ranks_max);
    if (!allowed(Feature::more_than_four_ranks)) ranks_max = std::min<std::int64_t>(ranks_max, 4);
    scenario_.world.shard = std::min(ranks, ranks_max);
  }

  void make_params() {
    std::int64_t const params_max =
        allowed(Feature::several_params) ? scaled(1, options_.params_max) : 1;
    std::int64_t const count = draws_.between(1, params_max);
    bool const in_units = feature(Feature::several_units, 60);
    for (std::int64_t i = 0; i < count; ++i) {
      Param param;
      param.name = name_of_param(i, in_units);
      make_shape(param.shape);
      scenario_.params.push_back(std::move(param));
    }
  }

  static std::string name_of_param(std::int64_t index, bool in_units) {
    static constexpr std::array<char const*, 2> parts{".w", ".b"};
    if (!in_units) return std::string("p").append(std::to_string(index));  // "p" + …: g++ 12 warns
    std::string name = "layers." + std::to_string(index / 2);
    return name + parts[static_cast<std::size_t>(index % 2)];
  }

  void make_shape(std::vector<std::int64_t>& shape) {
    std::int64_t const dimensions = draws_.between(1, 3);
    shape.push_back(make_rows());
    for (std::int64_t d = 1; d < dimensions; ++d) {
      shape.push_back(draws_.between(1, scaled(1, dimensions == 2 ? 12 : 5)));
    }
    if (feature(Feature::empty_tensor, 8)) {
      shape[static_cast<std::size_t>(draws_.below(dimensions))] = 0;
    }
  }

  std::int64_t make_rows() {
    std::int64_t const kind = draws_.below(10);
    std::int64_t rows = draws_.between(1, 9);
    if (kind >= 4) rows = draws_.one_of(prime_rows);
    if (kind >= 8) rows = draws_.between(64, 300);
    return std::min(rows, scaled(1, 300));
  }

  void make_groups() {
    if (!feature(Feature::group, 40)) return;
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

  void make_override(AdamOverride& settings, bool in_group) {
    bool const extreme = feature(Feature::extreme_settings, 25);
    std::int64_t const which = draws_.below(4);
    if (which == 0) settings.lr = draw_rate(extreme);
    if (which == 1) settings.betas = draw_betas(extreme);
    if (which == 2) settings.eps = draw_epsilon(extreme);
    if (which == 3) settings.weight_decay = draw_decay(extreme);
    if (in_group && feature(Feature::no_bias_correction, 20)) settings.bias_correction = false;
  }

  float draw_rate(bool extreme) {
    return extreme ? draws_.one_of(extreme_rates) : draws_.one_of(usual_rates);
  }
  float draw_epsilon(bool extreme) { return extreme ? draws_.one_of(extreme_epsilons) : 1e-6F; }
  float draw_decay(bool extreme) { return extreme ? draws_.one_of(extreme_decays) : 0.1F; }
  std::array<float, 2> draw_betas(bool extreme) {
    if (!extreme) return {0.8F, 0.95F};
    float const beta1 = draws_.one_of(extreme_betas);
    float const beta2 = draws_.one_of(extreme_betas);
    return {beta1, beta2};
  }

  void make_optimizer() {
    Optimizer& optimizer = scenario_.optimizer;
    if (feature(Feature::adam_l2, 40)) optimizer.adam.mode = AdamMode::adam;
    if (feature(Feature::counter_per_parameter, 40))
      optimizer.step_counter = StepCounter::parameter;
    if (feature(Feature::no_bias_correction, 20)) optimizer.adam.bias_correction = false;
    if (feature(Feature::cast_gradient, 15)) optimizer.decoupled_grad = false;
    if (!optimizer.decoupled_grad) optimizer.keep_cast_grad = draws_.chance(40);
    if (feature(Feature::capturable, 20)) optimizer.capturable = true;
    if (feature(Feature::clip, 25)) optimizer.clip = draws_.one_of(norms);
    make_loss_scale(optimizer.loss_scale);
    std::int64_t const changes = draws_.below(3);
    for (std::int64_t i = 0; i < changes; ++i) {
      AdamOverride change;
      make_override(change, false);
      optimizer.adam = with(optimizer.adam, change);
    }
  }

  void make_loss_scale(LossScale& scale) {
    if (feature(Feature::loss_scale_fixed, 20))
      scale = {.kind = LossScale::Kind::fixed, .value = draw_scale()};
    if (feature(Feature::loss_scale_dynamic, 15))
      scale = {.kind = LossScale::Kind::dynamic, .value = 0};
  }

  /// A dynamic scale begins at 2^32, which fp16 has no room for.
  void widen_gradients() {
    if (!any_scale_rounds(scenario_)) return;
    if (scenario_.precision.grad == GradType::fp16) scenario_.precision.grad = GradType::bf16;
    for (Param& param : scenario_.params)
      if (param.precision.grad == GradType::fp16) param.precision.grad = GradType::bf16;
  }

  /// What a replay computes is known by its bits alone.
  bool may_round() const {
    return allowed(Feature::loss_scale_rounds) && !scenario_.optimizer.capturable;
  }

  float draw_scale() {
    bool const rounds = feature(Feature::loss_scale_rounds, 30);
    return rounds && may_round() ? draws_.one_of(rounding_scales) : draws_.one_of(exact_scales);
  }

  void make_gradients() {
    if (feature(Feature::gradients_normal, 25)) scenario_.gradients = GradientClass::normal;
    if (feature(Feature::gradients_wild, 25)) scenario_.gradients = GradientClass::wild;
    std::int64_t count = draws_.between(1, scaled(1, 9));
    bool const as_many_as_ranks = draws_.chance(30);
    if (as_many_as_ranks) return;
    std::int64_t const ranks = scenario_.world.rank_count();
    if (!allowed(Feature::idle_rank)) count = std::max(count, ranks);
    if (!allowed(Feature::several_microbatches)) count = std::min(count, ranks);
    scenario_.microbatches = count;
  }

  void make_offload() {
    if (!scenario_.optimizer.capturable) scenario_.offload = draw_offload();
  }

  Offload draw_offload() {
    if (feature(Feature::offload_states, 15)) {
      constexpr std::array some{OffloadedStates{true, true}, OffloadedStates{true, false},
                                OffloadedStates{false, true}};
      return draws_.one_of(some);
    }
    if (!feature(Feature::hybrid, 20)) return {};
    constexpr std::array fractions{0.1, 0.25, 0.5, 0.5, 0.75, 0.9};
    HybridOffload hybrid{.fraction = draws_.chance(50) ? 1.0 : 0.0};
    if (feature(Feature::hybrid_shared, 80)) hybrid.fraction = draws_.one_of(fractions);
    hybrid.overlap = draws_.chance(60);
    if (feature(Feature::hybrid_pageable, 40)) {
      hybrid.pin_grads = draws_.chance(50);
      hybrid.pin_params = !hybrid.pin_grads && draws_.chance(50);
    }
    return hybrid;
  }
  bool may_move_states() const {
    bool const hybrid = std::holds_alternative<HybridOffload>(scenario_.offload);
    return !hybrid && !states_->with_cpu() && !scenario_.optimizer.capturable &&
           allowed(Feature::explicit_offload);
  }

  void make_program() {
    states_.emplace(scenario_);
    has_norm_ = scenario_.optimizer.clip.has_value();
    bool const saves = feature(Feature::save, 9);  // files cost three times what others do
    saves_ = saves && !scenario_.optimizer.capturable;
    captures_ = may_capture();
    std::int64_t const first = std::min<std::int64_t>(scaled(1, 8), options_.operations_max);
    std::int64_t const count = draws_.between(first, scaled(1, options_.operations_max));
    for (std::int64_t i = 0; i < count; ++i) {
      Action action = draw_action();
      track(action);
      scenario_.program.push_back({.action = std::move(action), .line = {}});
    }
  }

  /// The next operation. Half of the time it is what a training loop would do next, so that long
  /// programs make progress; otherwise any.
  Action draw_action() {
    if (captures_ && draws_.chance(35)) return draw_graph();
    bool const keeps = draws_.chance(28);
    if (keeps && saves_) return draw_checkpoint();
    bool const usual = draws_.chance(50);
    std::int64_t const any = draws_.below(10);
    if (usual) return draw_usual();
    if (any == 0 && allowed(Feature::train)) return draw_train();
    if (any == 1 && allowed(Feature::step_without_gradient)) return Step{};
    if (any == 2 && allowed(Feature::set)) return draw_set();
    if (any == 3 && allowed(Feature::check)) return Check{};
    if (any == 4 && allowed(Feature::zero_grad_keeps)) return ZeroGrad{.set_to_none = false};
    if (any == 5 && allowed(Feature::accumulated_backward)) return draw_backward();
    if (any == 6 && has_gradient_) return Step{};
    if (any == 7 && may_move_states())
      return states_->away() ? Action(ReloadStates{}) : Action(OffloadStates{});
    if (any == 8 && allowed(Feature::overflow)) return Overflow{};
    return ZeroGrad{.set_to_none = true};
  }

  Action draw_usual() {
    if (!has_gradient_) return draw_backward();
    bool const clips = has_norm_ && draws_.chance(50);
    return clips ? Action(ClipNorm{}) : Action(Step{});
  }

  bool may_run_backward() const {
    return !unused_backward_ || allowed(Feature::accumulated_backward);
  }

  Action draw_train() {
    if (!may_run_backward()) return ZeroGrad{};
    return Train{.count = draws_.chance(30) ? 2 : 1};
  }

  Action draw_backward() {
    if (!may_run_backward()) return ZeroGrad{};
    Backward backward;
    if (!feature(Feature::backward_without, 35)) return backward;
    for (Param const& param : scenario_.params) {
      bool const left_out = draws_.chance(40);
      if (left_out) backward.without.push_back(param.name);
    }
    return backward;
  }

  /// A save, or the load of what was saved: mostly by turns, so that few files show much.
  Action draw_checkpoint() {
    bool const loads = draws_.chance(newly_saved_ ? 70 : 25);
    bool const second = draws_.chance(15);
    std::string const name = second ? "b" : "a";
    bool const saved = std::find(saved_.begin(), saved_.end(), name) != saved_.end();
    if (saved && loads && allowed(Feature::load)) return draw_load(name);
    if (saved && !allowed(Feature::save_replaced)) return Check{};
    saved_.push_back(name);
    return Save{.checkpoint = name};
  }

  Action draw_load(std::string const& name) {
    Load load{.from = name};
    bool const other = feature(Feature::load_on_other_world, 70);
    std::int64_t ranks_max = std::min(scaled(1, 9), options_.ranks_max + 1);
    if (!allowed(Feature::more_than_four_ranks)) ranks_max = std::min<std::int64_t>(ranks_max, 4);
    std::int64_t const ranks = draws_.between(1, ranks_max);
    if (other && ranks != states_->world().rank_count()) load.world = World{.shard = ranks};
    if (feature(Feature::load_with_other_offload, 40)) {
      Offload const offload = draw_offload();
      if (offload != states_->offload()) load.offload = offload;
    }
    return load;
  }

  bool may_capture() const {
    Optimizer const& optimizer = scenario_.optimizer;
    if (!optimizer.capturable || !allowed(Feature::capture) || !allowed(Feature::replay))
      return false;
    if (!any_order() && scenario_.gradients != GradientClass::exact) return false;
    std::vector<ParameterSpec> const specs = parameter_specs(scenario_);
    return std::all_of(specs.begin(), specs.end(), [&](ParameterSpec const& spec) {
      return real::can_be_captured(spec.formats, optimizer.keep_cast_grad);
    });
  }

  /// May operations come in any order, so that any part of an iteration may be replayed?
  bool any_order() const {
    return allowed(Feature::accumulated_backward) && allowed(Feature::step_without_gradient) &&
           allowed(Feature::zero_grad_keeps) && allowed(Feature::train);
  }

  /// Mostly replays of what was captured last, and else other settings for it or another capture.
  Action draw_graph() {
    bool const replays = draws_.chance(65);
    std::int64_t const count = draws_.between(1, 3);
    bool const fits = any_order() || !unused_backward_;
    bool const changes = draws_.chance(15) && allowed(Feature::set);
    if (captured_.empty() || (!replays && !changes)) return draw_capture();
    if (changes) return draw_set();  // what a graph must not have kept
    return fits ? Action(Replay{.count = count}) : draw_capture();
  }

  Action draw_capture() {
    Capture capture;
    auto const add = [&](Action action) {
      capture.body.push_back({.action = std::move(action), .line = {}});
    };
    std::int64_t const part = any_order() ? draws_.below(8) : 7;
    bool const computes = scenario_.gradients == GradientClass::exact;
    bool const keeps = draws_.chance(30) && allowed(Feature::zero_grad_keeps);
    if (part == 6 && computes) {
      add(Train{.count = draws_.between(1, 2)});
      return capture;
    }
    bool const twice = part == 5;
    if (computes && part != 0 && part != 1) add(captured_backward());
    if (computes && twice) add(captured_backward());
    bool const clips = draws_.chance(50);
    if (clips && has_norm_) add(ClipNorm{});
    if (part != 2) add(Step{});
    if (part != 0 && part != 2 && part != 3) add(ZeroGrad{.set_to_none = !keeps});
    if (capture.body.empty()) add(Step{});
    return capture;
  }

  Backward captured_backward() {
    Backward backward;
    if (!feature(Feature::backward_without, 20)) return backward;
    backward.without.push_back(scenario_.params.front().name);
    return backward;
  }

  Action draw_set() {
    Set set;
    make_override(set.change.adam, false);
    bool const adam_alone = draws_.chance(scenario_.optimizer.capturable ? 50 : 80);
    if (adam_alone) return set;
    bool const clips = draws_.chance(50);
    if (clips && allowed(Feature::clip) && (has_norm_ || !keeps_norm()))
      set.change.clip = draw_clip();
    if (!clips) make_loss_scale(set.change.loss_scale.emplace());
    return set;
  }

  /// A capture that clips needs a norm whenever it is replayed, and one that does not never clips;
  /// what a load brings back is not known here.
  bool keeps_norm() const { return scenario_.optimizer.capturable || saves_; }

  Clip draw_clip() {
    bool const ends = has_norm_ && draws_.chance(50);
    if (ends && !keeps_norm()) return Clip();
    return draws_.one_of(norms);
  }

  void track(Action const& action) {
    states_->follow(action);
    if (auto const* capture = std::get_if<Capture>(&action)) captured_ = capture->body;
    if (std::holds_alternative<Replay>(action))
      for (Operation const& operation : captured_) track(operation.action);
    if (auto const* set = std::get_if<Set>(&action))
      has_norm_ = set->change.clip.value_or(has_norm_ ? Clip(1.0F) : Clip()).has_value();
    if (std::holds_alternative<Backward>(action)) has_gradient_ = unused_backward_ = true;
    if (std::holds_alternative<Train>(action)) has_gradient_ = unused_backward_ = false;
    if (std::holds_alternative<Save>(action)) newly_saved_ = true;
    if (std::holds_alternative<Load>(action))
      newly_saved_ = has_gradient_ = unused_backward_ = false;
    if (auto const* zero = std::get_if<ZeroGrad>(&action)) {
      has_gradient_ = !zero->set_to_none;
      unused_backward_ = false;
    }
  }

  void make_schedule() {
    Schedule& schedule = scenario_.schedule;
    if (feature(Feature::schedule_random, 50)) schedule.strategy = Schedule::Strategy::random;
    if (feature(Feature::schedule_pct, 35)) schedule.strategy = Schedule::Strategy::pct;
    if (schedule.strategy == Schedule::Strategy::fifo) return;
    schedule.seed = draws_.bits() >> 32;
    if (schedule.strategy == Schedule::Strategy::pct) schedule.depth = draws_.between(1, 5);
  }

  void make_precision() {
    Precision& recipe = scenario_.precision;
    if (feature(Feature::weights_bf16, 35)) recipe.param = ParamType::bf16;
    if (feature(Feature::weights_fp16, 15)) recipe.param = ParamType::fp16;
    if (recipe.param != ParamType::fp32 && feature(Feature::main_weights, 60))
      recipe.main = MainType::fp32;
    if (feature(Feature::gradients_16_bits, 30)) {
      bool const bf16 = draws_.chance(60);
      recipe.grad = bf16 ? GradType::bf16 : GradType::fp16;
    }
    if (feature(Feature::moments_bf16, 25)) {
      std::int64_t const which = draws_.below(3);
      if (which != 1) recipe.exp_avg = StateType::bf16;
      if (which != 0) recipe.exp_avg_sq = StateType::bf16;
    }
    if (!feature(Feature::own_precision, 20)) return;
    for (Param& param : scenario_.params) {
      bool const own = draws_.chance(40);
      if (own) make_own_precision(param);
    }
  }

  /// Another type for the weight, and a main weight that goes with it.
  void make_own_precision(Param& param) {
    constexpr std::array types{ParamType::fp32, ParamType::bf16, ParamType::fp16};
    ParamType const type = draws_.one_of(types);
    if (type == ParamType::bf16 && !allowed(Feature::weights_bf16)) return;
    if (type == ParamType::fp16 && !allowed(Feature::weights_fp16)) return;
    param.precision.param = type;
    if (type == ParamType::fp32 && scenario_.precision.main == MainType::fp32)
      param.precision.main = MainType::none;
  }

  /// At most one thing goes wrong, and only where it is known how the run ends then.
  void make_fault() {
    auto const saves = saves_that_may_crash(scenario_);
    std::int64_t const loads = std::count_if(
        scenario_.program.begin(), scenario_.program.end(),
        [](Operation const& operation) { return std::holds_alternative<Load>(operation.action); });
    if (has_elements() && feature(Feature::out_of_memory, 4)) return make_out_of_memory();
    if (!saves.empty() && feature(Feature::crash, 50)) return make_crash(saves);
    if (loads > 0 && feature(Feature::damage, 60)) make_damage(loads);
  }

  bool has_elements() const {
    return std::any_of(scenario_.params.begin(), scenario_.params.end(), [](Param const& param) {
      return std::find(param.shape.begin(), param.shape.end(), 0) == param.shape.end();
    });
  }

  /// The first call is the model's; any engine asks for its parameters and, twice, for the table of
  /// a step.
  void make_out_of_memory() {
    Fault fault{.at = Fault::Where::malloc, .then = Fault::Then::out_of_memory};
    fault.nth = draws_.between(2, 4);
    fault.rank = draws_.below(scenario_.world.rank_count());
    scenario_.faults.push_back(fault);
    scenario_.expect = {.kind = Expectation::Kind::refused, .id = "out_of_memory"};
  }

  void make_crash(std::vector<std::int64_t> const& saves) {
    Fault fault{.at = Fault::Where::save, .then = Fault::Then::crash};
    fault.nth = saves[static_cast<std::size_t>(draws_.below(std::ssize(saves)))];
    fault.rank = draws_.below(scenario_.world.rank_count());
    bool const early = draws_.chance(30);
    fault.after_bytes = draws_.below(early ? 64 : 6000);
    scenario_.faults.push_back(fault);
  }

  void make_damage(std::int64_t loads) {
    constexpr std::array kinds{Fault::Then::flip_byte, Fault::Then::truncate,
                               Fault::Then::remove_file};
    Fault fault{.at = Fault::Where::load, .then = draws_.one_of(kinds)};
    fault.nth = draws_.between(1, loads);
    fault.file = draws_.below(10);
    if (fault.then != Fault::Then::remove_file) fault.byte = draws_.below(5000);
    scenario_.faults.push_back(fault);
    scenario_.expect = {.kind = Expectation::Kind::refused, .id = "damaged_checkpoint"};
  }

  Draws draws_;
  GenerateOptions const& options_;
  Scenario scenario_;
  bool saves_ = false;  // checkpoints occur
  std::vector<std::string> saved_;
  bool newly_saved_ = false;           // since the last load
  bool has_norm_ = false;              // of `clip`, at this point of the program
  std::optional<Whereabouts> states_;  // from the first operation on
  bool has_gradient_ = false;
  bool captures_ = false;
  std::vector<Operation> captured_;  // the body of the last capture
  bool unused_backward_ = false;     // a backward that no zero_grad has followed
};

}  // namespace

Scenario generate_scenario(std::uint64_t seed, std::uint64_t index,
                           GenerateOptions const& options) {
  return Generator(seed, index, options).make();
}

}  // namespace adamant::scenarios
