#include "scenarios/search/generate/program_drawing.h"

#include <algorithm>

#include "scenarios/language/table.h"
#include "scenarios/seam/refusal_parts.h"
#include "scenarios/search/generate/offers.h"

namespace adamant::scenarios {

namespace {

/// Without what the engine does not set.
void keep_to_offers(AdamOverride& change, Capabilities const& able) {
  for_each_key<AdamOverride>([&](auto const& row) {
    if (!offers(able.set, row.key)) reset(change, row);
  });
}

}  // namespace

void ProgramDrawing::make() {
  states_.emplace(scenario_);
  precision_ = scenario_.precision;
  has_norm_ = scenario_.optimizer.clip.has_value();
  // In the simulator, files cost three times what others do.
  saves_ = draws_.feature(Feature::save, draws_.able().isolated ? 55 : 11);
  captures_ = may_capture();
  std::int64_t const first =
      std::min<std::int64_t>(draws_.scaled(1, 8), draws_.options().operations_max);
  std::int64_t const count =
      draws_.between(first, draws_.scaled(1, draws_.options().operations_max));
  std::int64_t const begun = draws_.able().isolated && saves_ ? begin_with_moments() : 0;
  for (std::int64_t i = begun; i < count; ++i) append(draw_action());
  if (draws_.able().isolated && newly_saved_ && draws_.allowed(Feature::load)) end_with_load();
}

// An engine may refuse what others execute, such as a step that finds gradients of some parameters
// alone. Then a step or none is due, or there is nothing to do.
void ProgramDrawing::append(Action action) {
  scenario_.program.push_back({.action = std::move(action), .line = {}});
  Action& last = scenario_.program.back().action;
  std::vector<Action> others{Check{}, Step{}};
  if (offers(draws_.able().zero_grad, ZeroGradKind::none)) others.push_back(ZeroGrad{});
  for (; !others.empty() && refuse_gradient_use(scenario_, draws_.able()); others.pop_back())
    last = others.back();
  track(last);
}

std::int64_t ProgramDrawing::begin_with_moments() {
  bool const at_once = draws_.chance(50);
  if (at_once) return append(draw_checkpoint()), 1;
  append(Backward{});
  append(Step{});
  return 2;
}

void ProgramDrawing::end_with_load() {
  bool const replaces = draws_.allowed(Feature::save_replaced) && draws_.chance(40);
  bool const on_fewer = states_->world().rank_count() > 1 &&
                        draws_.allowed(Feature::load_on_other_world) && draws_.chance(50);
  if (replaces) on_fewer ? save_on_fewer_ranks() : save_again();
  append(draw_load(saved_.back()));
  append(Backward{});
  append(Step{});
}

/// What a crash mixes, or damage puts in the place of another, differs.
void ProgramDrawing::save_again() {
  append(Backward{});
  append(Step{});
  append(Save{.checkpoint = saved_.back()});
}

/// Over what more ranks have saved: of theirs something may be left.
void ProgramDrawing::save_on_fewer_ranks() {
  Load load{.from = saved_.back()};
  load.world = World{.shard = draws_.between(1, states_->world().rank_count() - 1)};
  append(load);
  append(Backward{});
  append(Step{});
  append(Save{.checkpoint = load.from});
}

Action ProgramDrawing::draw_action() {
  if (captures_ && draws_.chance(35)) return draw_graph();
  bool const goes_on = draws_.able().isolated && saves_ && newly_loaded_ && draws_.chance(70);
  if (goes_on) return draw_usual();
  return draw_any();
}

Action ProgramDrawing::draw_any() {
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

Action ProgramDrawing::draw_usual() {
  if (!has_gradient_) return draw_backward();
  bool const clips = has_norm_ && draws_.chance(50);
  return clips ? Action(ClipNorm{}) : Action(Step{});
}

bool ProgramDrawing::may_run_backward() const {
  return !unused_backward_ || draws_.allowed(Feature::accumulated_backward);
}

Action ProgramDrawing::draw_train() {
  if (!may_run_backward()) return ZeroGrad{};
  return Train{.count = draws_.chance(30) ? 2 : 1};
}

Action ProgramDrawing::draw_backward() {
  if (!may_run_backward()) return ZeroGrad{};
  Backward backward;
  if (!draws_.feature(Feature::backward_without, 35)) return backward;
  for (Param const& param : scenario_.params) {
    bool const left_out = draws_.chance(40);
    if (left_out) backward.without.push_back(param.name);
  }
  return backward;
}

bool ProgramDrawing::may_move_states() const {
  bool const hybrid = std::holds_alternative<HybridOffload>(scenario_.offload);
  return !hybrid && !states_->with_cpu() && !scenario_.optimizer.capturable &&
         draws_.allowed(Feature::explicit_offload);
}

Action ProgramDrawing::draw_checkpoint() {
  bool const loads = draws_.chance(newly_saved_ ? 70 : 15);
  bool const second = draws_.chance(10);
  std::string const name = second ? "b" : "a";
  bool const saved = std::find(saved_.begin(), saved_.end(), name) != saved_.end();
  if (saved && loads && draws_.allowed(Feature::load)) return draw_load(name);
  if (saved && !draws_.allowed(Feature::save_replaced)) return Check{};
  saved_.push_back(name);
  return Save{.checkpoint = name};
}

Action ProgramDrawing::draw_load(std::string const& name) {
  Load load{.from = name};
  draw_other_world(load);
  if (draws_.feature(Feature::load_with_other_layout, 40)) {
    Layout const layout = draws_.one_of(draws_.able().layouts);
    if (layout != states_->layout() && is_allowed(layout)) load.layout = layout;
  }
  if (draws_.feature(Feature::load_with_other_offload, 40) && !scenario_.optimizer.capturable) {
    Offload const offload = settings_.draw_offload();
    if (offload != states_->offload()) load.offload = offload;
  }
  draw_other_types(load);
  if (draws_.able().loads_in_any_order && scenario_.params.size() > 1 &&
      draws_.feature(Feature::load_reversed, 40))
    load.order = is_reversed_ ? ParamOrder::listed : ParamOrder::reversed;
  if (draws_.able().loads_anew) load.anew = draws_.feature(Feature::load_anew, 25);
  return load;
}

bool ProgramDrawing::is_allowed(Layout layout) const {
  if (layout == Layout::flat) return draws_.allowed(Feature::layout_flat);
  return layout != Layout::bucketed || draws_.allowed(Feature::layout_bucketed);
}

void ProgramDrawing::draw_other_world(Load& load) {
  bool const other = draws_.feature(Feature::load_on_other_world, 70);
  if (draws_.able().isolated) {
    World const world = settings_.draw_small_world();
    if (other && world != states_->world()) load.world = world;
    return;
  }
  std::int64_t ranks_max = std::min(draws_.scaled(1, 9), draws_.options().ranks_max + 1);
  if (!draws_.allowed(Feature::more_than_four_ranks))
    ranks_max = std::min<std::int64_t>(ranks_max, 4);
  bool const fewer = draws_.chance(40);  // a later save then replaces that of a larger world
  if (fewer) ranks_max = std::min(ranks_max, states_->world().rank_count());
  std::int64_t const ranks = draws_.between(1, ranks_max);
  World const world = settings_.draw_mesh(ranks, Feature::load_on_other_mesh);
  bool const other_ranks = world.rank_count() != states_->world().rank_count();
  bool const other_mesh = world.replicate != states_->world().replicate;
  if ((other || !other_ranks) && (draws_.allowed(Feature::load_on_other_mesh) || !other_mesh) &&
      world != states_->world())
    load.world = world;
}

void ProgramDrawing::draw_other_types(Load& load) {
  if (!draws_.allowed(Feature::load_with_other_precision)) return;
  if (!draws_.able().isolated) return;  // types are drawn when all else is known
  bool const other = draws_.feature(Feature::load_with_other_precision, 25);
  bool const own = draws_.chance(60);  // a recipe that no world of the engine starts with
  std::vector<Precision> const only_loaded = recipes(draws_.able().load_precisions.value());
  bool const takes_own = own && !only_loaded.empty();
  Precision to = draws_.one_of(takes_own ? only_loaded : load_recipes(draws_.able()));
  auto const scale = scenario_.optimizer.loss_scale.kind;
  settings_.choose_state_scale(to, draws_.able().precisions, scale);
  bool const offered = accepted(draws_.able().precisions, to, scale) ||
                       accepted(draws_.able().load_precisions.value(), to, scale);
  bool const fits = std::none_of(
      scenario_.params.begin(), scenario_.params.end(),
      [&](Param const& param) { return conflict_in(with(to, param.precision)).has_value(); });
  if (other && offered && fits && to != precision_) load.precision = difference(precision_, to);
}

bool ProgramDrawing::may_capture() const {
  Optimizer const& optimizer = scenario_.optimizer;
  if (!optimizer.capturable || !draws_.allowed(Feature::capture) ||
      !draws_.allowed(Feature::replay) ||
      scenario_.world.rank_count() > draws_.able().captured_ranks_max)
    return false;
  if (!any_order() && scenario_.gradients != GradientClass::exact) return false;
  std::vector<ParameterSpec> const specs = parameter_specs(scenario_);
  return std::all_of(specs.begin(), specs.end(), [&](ParameterSpec const& spec) {
    return draws_.able().why_not_captured(spec, optimizer).empty();
  });
}

bool ProgramDrawing::any_order() const {
  return draws_.allowed(Feature::accumulated_backward) &&
         draws_.allowed(Feature::step_without_gradient) &&
         draws_.allowed(Feature::zero_grad_keeps) && draws_.allowed(Feature::train);
}

Action ProgramDrawing::draw_graph() {
  bool const replays = draws_.chance(65);
  std::int64_t const count = draws_.between(1, 3);
  bool const fits = any_order() || !unused_backward_;
  bool const changes = draws_.chance(15) && draws_.allowed(Feature::set);
  if (captured_.empty() || (!replays && !changes)) return draw_capture();
  if (changes) return draw_set();  // what a graph must not have kept
  return fits ? Action(Replay{.count = count}) : draw_capture();
}

Action ProgramDrawing::draw_capture() {
  Capture capture;
  auto const add = [&](Action action) {
    capture.body.push_back({.action = std::move(action), .line = {}});
  };
  std::int64_t const part = any_order() ? draws_.below(8) : 7;
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

Backward ProgramDrawing::captured_backward() {
  Backward backward;
  if (!draws_.feature(Feature::backward_without, 20)) return backward;
  backward.without.push_back(scenario_.params.front().name);
  return backward;
}

Action ProgramDrawing::draw_set() {
  Set set;
  settings_.make_override(set.change.adam, false);
  keep_to_offers(set.change.adam, draws_.able());
  bool const adam_alone = draws_.chance(scenario_.optimizer.capturable ? 50 : 80);
  bool const clips = !adam_alone && draws_.chance(50);
  bool const scales = !adam_alone && !clips;
  if (clips && draws_.allowed(Feature::clip) && (has_norm_ || !keeps_norm()) &&
      offers(draws_.able().set, "clip"))
    set.change.clip = draw_clip();
  if (scales && offers(draws_.able().set, "loss_scale"))
    settings_.make_loss_scale(set.change.loss_scale.emplace());
  return set == Set{} ? Action(Check{}) : Action(set);
}

bool ProgramDrawing::keeps_norm() const {
  return scenario_.optimizer.capturable;
}

Clip ProgramDrawing::draw_clip() {
  bool const ends = has_norm_ && draws_.chance(50);
  if (ends && !keeps_norm()) return Clip();
  return settings_.draw_norm();
}

void ProgramDrawing::track(Action const& action) {
  states_->follow(action);
  if (auto const* capture = std::get_if<Capture>(&action)) captured_ = capture->body;
  if (std::holds_alternative<Replay>(action))
    for (Operation const& operation : captured_) track(operation.action);
  if (auto const* set = std::get_if<Set>(&action))
    has_norm_ = set->change.clip.value_or(has_norm_ ? Clip(1.0F) : Clip()).has_value();
  if (std::holds_alternative<Backward>(action)) has_gradient_ = unused_backward_ = true;
  if (std::holds_alternative<Train>(action)) has_gradient_ = unused_backward_ = false;
  if (auto const* save = std::get_if<Save>(&action)) {
    newly_saved_ = true;
    if (!has_norm_) saved_without_norm_.insert(save->checkpoint);
  }
  if (std::holds_alternative<Step>(action) || std::holds_alternative<Train>(action))
    newly_loaded_ = false;
  if (auto const* load = std::get_if<Load>(&action)) {
    newly_saved_ = has_gradient_ = unused_backward_ = false;
    newly_loaded_ = true;
    is_reversed_ = load->order.value_or(is_reversed_ ? ParamOrder::reversed : ParamOrder::listed) ==
                   ParamOrder::reversed;
    has_norm_ = has_norm_ && scenario_.optimizer.clip && !saved_without_norm_.contains(load->from);
    precision_ = with(precision_, load->types());
    if (!load->keeps_addresses()) captured_.clear();
  }
  if (auto const* zero = std::get_if<ZeroGrad>(&action)) {
    has_gradient_ = !zero->set_to_none;
    unused_backward_ = false;
  }
}

}  // namespace adamant::scenarios
