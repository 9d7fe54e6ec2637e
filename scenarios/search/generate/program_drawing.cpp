// Operations, one after another for settings that are known.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/operations.h"
#include "scenarios/language/state_location.h"
#include "scenarios/language/table.h"
#include "scenarios/seam/refusal_parts.h"
#include "scenarios/search/generate/drawing.h"

namespace adamant::scenarios {

namespace {

/// Without what the engine does not set.
void keep_to_offers(AdamOverride& change, Capabilities const& able) {
  for_each_key<AdamOverride>([&](auto const& row) {
    if (!offers(able.set, row.key)) reset(change, row);
  });
}

/// May operations come in any order, so that any part of an iteration may be replayed?
bool any_order(Drawing const& draws) {
  return draws.allowed(Feature::accumulated_backward) &&
         draws.allowed(Feature::step_without_gradient) && draws.allowed(Feature::zero_grad_keeps) &&
         draws.allowed(Feature::train);
}

class ProgramDrawing {
 public:
  ProgramDrawing(Drawing& draws, Drawing& model, Scenario& scenario)
      : draws_(draws), model_(model), scenario_(scenario) {}

  bool make() {
    states_.emplace(scenario_);
    precision_ = scenario_.precision;
    has_norm_ = scenario_.optimizer.clip.has_value();
    saves_ = draws_.feature(Feature::save, draws_.profile().saves);
    captures_ = may_capture(draws_, scenario_);
    std::int64_t const first =
        std::min<std::int64_t>(draws_.scaled(1, 8), draws_.options().operations_max);
    std::int64_t const count =
        draws_.between(first, draws_.scaled(1, draws_.options().operations_max));
    bool const around_checkpoints = draws_.profile().around_checkpoints;
    std::int64_t const begun = around_checkpoints && saves_ ? begin_with_moments() : 0;
    for (std::int64_t i = begun; i < count; ++i) append(draw_action());
    if (around_checkpoints && newly_saved_ && draws_.allowed(Feature::load)) end_with_load();
    return captures_;
  }

 private:
  /// Appends the action, or what may stand in its place where the engine would refuse it.
  // An engine may refuse what others execute, such as a step that finds gradients of some
  // parameters alone. Then a step or none is due, or there is nothing to do.
  void append(Action action) {
    scenario_.program.push_back({.action = std::move(action), .line = {}});
    Action& last = scenario_.program.back().action;
    std::vector<Action> others{Check{}, Step{}};
    if (offers(draws_.able().zero_grad, ZeroGradKind::none)) others.push_back(ZeroGrad{});
    for (; !others.empty() && refuse_gradient_use(scenario_, draws_.able()); others.pop_back())
      last = others.back();
    track(last);
  }

  void append_step() {
    append(Backward{});
    append(Step{});
  }

  /// Mostly a step of all parameters, for parameters without moments hide what else a format does;
  /// how many operations it took.
  std::int64_t begin_with_moments() {
    bool const at_once = draws_.chance(50);
    if (at_once) return append(draw_checkpoint()), 1;
    append_step();
    return 2;
  }

  /// A load of the last save and a step behind it: what a checkpoint lost shows there.
  void end_with_load() {
    bool const replaces = draws_.allowed(Feature::save_replaced) && draws_.chance(40);
    bool const on_fewer = states_->world().rank_count() > 1 &&
                          draws_.allowed(Feature::load_on_other_world) && draws_.chance(50);
    if (replaces) on_fewer ? save_on_fewer_ranks() : save_again();
    append(draw_load(saved_.back()));
    append_step();
  }

  /// What a crash mixes, or damage puts in the place of another, differs.
  void save_again() {
    append_step();
    append(Save{.checkpoint = saved_.back()});
  }

  /// Over what more ranks have saved: of theirs something may be left.
  void save_on_fewer_ranks() {
    Load load{.from = saved_.back()};
    load.world = World{.shard = draws_.between(1, states_->world().rank_count() - 1)};
    append(load);
    append_step();
    append(Save{.checkpoint = load.from});
  }

  /// The next operation. Half of the time it is what a training loop would do next, so that long
  /// programs make progress; otherwise any.
  Action draw_action() {
    if (captures_ && draws_.chance(35)) return draw_graph();
    bool const goes_on =
        draws_.profile().around_checkpoints && saves_ && newly_loaded_ && draws_.chance(70);
    return goes_on ? draw_usual() : draw_any();
  }

  Action draw_any() {
    bool const keeps = draws_.chance(36);
    if (keeps && saves_) return draw_checkpoint();
    bool const usual = draws_.chance(50);
    std::int64_t const any = draws_.below(10);
    if (usual) return draw_usual();
    if (any == 0 && draws_.allowed(Feature::train)) return draw_train();
    if (any == 1 && draws_.allowed(Feature::step_without_gradient)) return Step{};
    if (any == 2 && draws_.allowed(Feature::set)) return draw_set();
    if (any == 3 && draws_.allowed(Feature::check)) return Check{};
    bool const keeps_zeros = !offers(draws_.able().zero_grad, ZeroGradKind::none);
    if (any == 4 && draws_.allowed(Feature::zero_grad_keeps)) return ZeroGrad{.set_to_none = false};
    if (any == 5 && draws_.allowed(Feature::accumulated_backward)) return draw_backward();
    if (any == 6 && has_gradient_) return Step{};
    if (any == 7 && may_move_states())
      return states_->away() ? Action(ReloadStates{}) : Action(OffloadStates{});
    if (any == 8 && draws_.allowed(Feature::overflow)) return Overflow{};
    return ZeroGrad{.set_to_none = !keeps_zeros};
  }

  Action draw_usual() {
    if (!has_gradient_) return draw_backward();
    bool const clips = has_norm_ && draws_.chance(50);
    return clips ? Action(ClipNorm{}) : Action(Step{});
  }

  bool may_run_backward() const {
    return !unused_backward_ || draws_.allowed(Feature::accumulated_backward);
  }

  Action draw_train() {
    if (!may_run_backward()) return ZeroGrad{};
    return Train{.count = draws_.chance(30) ? 2 : 1};
  }

  Action draw_backward() {
    if (!may_run_backward()) return ZeroGrad{};
    Backward backward;
    if (!draws_.feature(Feature::backward_without, 35)) return backward;
    for (Param const& param : scenario_.params) {
      bool const left_out = draws_.chance(40);
      if (left_out) backward.without.push_back(param.name);
    }
    return backward;
  }

  bool may_move_states() const {
    bool const hybrid = std::holds_alternative<HybridOffload>(scenario_.offload);
    return !hybrid && !states_->with_cpu() && !scenario_.optimizer.capturable &&
           draws_.allowed(Feature::explicit_offload);
  }

  /// A save, or the load of what was saved: mostly by turns, so that few files show much.
  Action draw_checkpoint() {
    bool const loads = draws_.chance(newly_saved_ ? 70 : 15);
    bool const second = draws_.chance(10);
    std::string const name = second ? "b" : "a";
    bool const saved = std::find(saved_.begin(), saved_.end(), name) != saved_.end();
    if (saved && loads && draws_.allowed(Feature::load)) return draw_load(name);
    if (saved && !draws_.allowed(Feature::save_replaced)) return Check{};
    saved_.push_back(name);
    return Save{.checkpoint = name};
  }

  Action draw_load(std::string const& name) {
    Load load{.from = name};
    draw_other_world(load);
    if (draws_.feature(Feature::load_with_other_layout, 40)) {
      Layout const layout = draws_.one_of(draws_.able().layouts);
      if (layout != states_->layout() && is_allowed(layout)) load.layout = layout;
    }
    if (draws_.feature(Feature::load_with_other_offload, 40) && !scenario_.optimizer.capturable) {
      Offload const offload = draw_offload(draws_);
      if (offload != states_->offload()) load.offload = offload;
    }
    draw_other_types(load);
    if (draws_.able().loads_in_any_order && scenario_.params.size() > 1 &&
        draws_.feature(Feature::load_reversed, 40))
      load.order = is_reversed_ ? ParamOrder::listed : ParamOrder::reversed;
    if (draws_.able().loads_anew) load.anew = draws_.feature(Feature::load_anew, 25);
    return load;
  }

  bool is_allowed(Layout layout) const {
    if (layout == Layout::flat) return draws_.allowed(Feature::layout_flat);
    return layout != Layout::bucketed || draws_.allowed(Feature::layout_bucketed);
  }

  void draw_other_world(Load& load) {
    bool const other = draws_.feature(Feature::load_on_other_world, 70);
    if (draws_.profile().small_meshes) {
      World const world = draw_small_world(model_);
      if (other && world != states_->world()) load.world = world;
      return;
    }
    std::int64_t ranks_max = std::min(draws_.scaled(1, 9), draws_.options().ranks_max + 1);
    if (!draws_.allowed(Feature::more_than_four_ranks))
      ranks_max = std::min<std::int64_t>(ranks_max, 4);
    bool const fewer = draws_.chance(40);  // a later save then replaces that of a larger world
    if (fewer) ranks_max = std::min(ranks_max, states_->world().rank_count());
    std::int64_t const ranks = draws_.between(1, ranks_max);
    World const world = draw_mesh(model_, ranks, Feature::load_on_other_mesh);
    bool const other_ranks = world.rank_count() != states_->world().rank_count();
    bool const other_mesh = world.replicate != states_->world().replicate;
    if ((other || !other_ranks) && (draws_.allowed(Feature::load_on_other_mesh) || !other_mesh) &&
        world != states_->world())
      load.world = world;
  }

  void draw_other_types(Load& load) {
    if (!draws_.allowed(Feature::load_with_other_precision)) return;
    if (!draws_.profile().whole_recipes) return;  // types are drawn when all else is known
    bool const other = draws_.feature(Feature::load_with_other_precision, 25);
    bool const own = draws_.chance(60);  // a recipe that no world of the engine starts with
    std::vector<Precision> const only_loaded = recipes(draws_.able().load_precisions.value());
    bool const takes_own = own && !only_loaded.empty();
    Precision to = draws_.one_of(takes_own ? only_loaded : load_recipes(draws_.able()));
    auto const scale = scenario_.optimizer.loss_scale.kind;
    choose_state_scale(draws_, to, draws_.able().precisions, scale);
    bool const offered = accepted(draws_.able().precisions, to, scale) ||
                         accepted(draws_.able().load_precisions.value(), to, scale);
    if (other && offered && fits_all(scenario_, to) && to != precision_)
      load.precision = difference(precision_, to);
  }

  /// Mostly replays of what was captured last, and else other settings for it or another capture.
  Action draw_graph() {
    bool const replays = draws_.chance(65);
    std::int64_t const count = draws_.between(1, 3);
    bool const fits = any_order(draws_) || !unused_backward_;
    bool const changes = draws_.chance(15) && draws_.allowed(Feature::set);
    if (captured_.empty() || (!replays && !changes)) return draw_capture();
    if (changes) return draw_set();  // what a graph must not have kept
    return fits ? Action(Replay{.count = count}) : draw_capture();
  }

  Action draw_capture() {
    Capture capture;
    auto const add = [&](Action action) {
      capture.body.push_back({.action = std::move(action), .line = {}});
    };
    std::int64_t const part = any_order(draws_) ? draws_.below(8) : 7;
    bool const computes = scenario_.gradients == GradientClass::exact;
    bool const keeps = draws_.chance(30) && draws_.allowed(Feature::zero_grad_keeps);
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
    if (part == 4 && draws_.allowed(Feature::check)) add(Check{});
    if (part != 0 && part != 2 && part != 3) add(ZeroGrad{.set_to_none = !keeps});
    if (capture.body.empty()) add(Step{});
    return capture;
  }

  Backward captured_backward() {
    Backward backward;
    if (!draws_.feature(Feature::backward_without, 20)) return backward;
    backward.without.push_back(scenario_.params.front().name);
    return backward;
  }

  Action draw_set() {
    Set set;
    draw_override(draws_, set.change.adam, false);
    keep_to_offers(set.change.adam, draws_.able());
    bool const adam_alone = draws_.chance(scenario_.optimizer.capturable ? 50 : 80);
    bool const clips = !adam_alone && draws_.chance(50);
    bool const scales = !adam_alone && !clips;
    if (clips && draws_.allowed(Feature::clip) && (has_norm_ || !keeps_norm()) &&
        offers(draws_.able().set, "clip"))
      set.change.clip = draw_clip();
    if (scales && offers(draws_.able().set, "loss_scale"))
      draw_loss_scale(draws_, scenario_.optimizer, set.change.loss_scale.emplace());
    return set == Set{} ? Action(Check{}) : Action(set);
  }

  /// A capture that clips needs a norm whenever it is replayed, and one that does not never clips;
  /// what a load brings back is not known here.
  bool keeps_norm() const { return scenario_.optimizer.capturable; }

  Clip draw_clip() {
    bool const ends = has_norm_ && draws_.chance(50);
    if (ends && !keeps_norm()) return Clip();
    return draw_norm(draws_);
  }

  void track(Action const& action) {
    states_->follow(action);
    if (auto const* capture = std::get_if<Capture>(&action)) captured_ = capture->body;
    if (is<Replay>(action))
      for (Operation const& operation : captured_) track(operation.action);
    if (auto const* set = std::get_if<Set>(&action))
      has_norm_ = set->change.clip.value_or(has_norm_ ? Clip(1.0F) : Clip()).has_value();
    if (is<Backward>(action)) has_gradient_ = unused_backward_ = true;
    if (is<Train>(action)) has_gradient_ = unused_backward_ = false;
    if (auto const* save = std::get_if<Save>(&action)) {
      newly_saved_ = true;
      if (!has_norm_) saved_without_norm_.insert(save->checkpoint);
    }
    if (is<Step, Train>(action)) newly_loaded_ = false;
    if (auto const* load = std::get_if<Load>(&action)) {
      newly_saved_ = has_gradient_ = unused_backward_ = false;
      newly_loaded_ = true;
      is_reversed_ =
          load->order.value_or(is_reversed_ ? ParamOrder::reversed : ParamOrder::listed) ==
          ParamOrder::reversed;
      has_norm_ =
          has_norm_ && scenario_.optimizer.clip && !saved_without_norm_.contains(load->from);
      precision_ = with(precision_, load->types());
      if (!load->keeps_addresses()) captured_.clear();
    }
    if (auto const* zero = std::get_if<ZeroGrad>(&action)) {
      has_gradient_ = !zero->set_to_none;
      unused_backward_ = false;
    }
  }

  Drawing& draws_;
  Drawing& model_;
  Scenario& scenario_;
  bool saves_ = false;  // checkpoints occur
  std::vector<std::string> saved_;
  bool newly_saved_ = false;                  // since the last load
  bool newly_loaded_ = false;                 // since the last step
  Precision precision_;                       // as the last load left it
  bool is_reversed_ = false;                  // likewise
  bool has_norm_ = false;                     // surely, of `clip`, at this point of the program
  std::set<std::string> saved_without_norm_;  // names of checkpoints, at least once
  std::optional<StateLocation> states_;       // from the first operation on
  bool has_gradient_ = false;
  bool captures_ = false;
  std::vector<Operation> captured_;  // the body of the last capture
  bool unused_backward_ = false;     // a backward that no zero_grad has followed
};

}  // namespace

bool draw_program(Drawing& draws, Drawing& model, Scenario& scenario) {
  return ProgramDrawing(draws, model, scenario).make();
}

bool may_capture(Drawing const& draws, Scenario const& scenario) {
  Optimizer const& optimizer = scenario.optimizer;
  if (!optimizer.capturable || !draws.allowed(Feature::capture) ||
      !draws.allowed(Feature::replay) ||
      scenario.world.rank_count() > draws.able().captured_ranks_max)
    return false;
  if (!any_order(draws) && scenario.gradients != GradientClass::exact) return false;
  std::vector<ParameterSpec> const specs = parameter_specs(scenario);
  return std::all_of(specs.begin(), specs.end(), [&](ParameterSpec const& spec) {
    return draws.able().why_not_captured(spec, optimizer).empty();
  });
}

}  // namespace adamant::scenarios
