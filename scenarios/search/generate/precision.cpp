// Number formats and recipes of a scenario, and of what it loads.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/language/operations.h"
#include "scenarios/language/rounding_scale.h"
#include "scenarios/language/table.h"
#include "scenarios/search/generate/drawing.h"

namespace adamant::scenarios {

namespace {

bool has_elements(std::vector<std::int64_t> const& shape) {
  return std::ranges::none_of(shape, [](std::int64_t extent) { return extent == 0; });
}

/// As a change that leaves nothing as it was.
PrecisionOverride all_of(Precision const& recipe) {
  PrecisionOverride all;
  for_each_common_key<Precision, PrecisionOverride>(
      [&](auto const& in_change, auto const& in_whole) {
        put(all, in_change.place, std::optional(value_at(recipe, in_whole.place)));
      });
  return all;
}

class RecipeDrawing {
 public:
  RecipeDrawing(Drawing& draws, Drawing& model, Scenario& scenario)
      : draws_(draws), model_(model), scenario_(scenario) {}

  void make_offered() {
    LossScale::Kind const scale = scenario_.optimizer.loss_scale.kind;
    bool const keeps_out_fp16 =
        any_scale_rounds(scenario_) && !draws_.allowed(Feature::loss_scale_rounds);
    auto const fits = [&](Precision const& p) {
      return draws_.allowed(features_of(p)) && accepted_with_any_scale(p, scale) &&
             !(keeps_out_fp16 && p.grad == GradType::fp16);
    };
    std::vector<Precision> const preferred = draw_order_of_recipes();
    auto const chosen = std::ranges::find_if(preferred, fits);
    // Where none fits, nothing can be left out.
    scenario_.precision = chosen == preferred.end() ? preferred.front() : *chosen;
    choose_state_scale(draws_, scenario_.precision, draws_.able().precisions, scale);
    fit_shapes_to_offers();
    if (!draws_.able().own_precision) return;
    for (Param& param : scenario_.params) {
      Precision own = draws_.one_of(preferred);
      bool const is_drawn = draws_.feature(Feature::own_precision, 20) && !param.is_tied();
      if (!is_drawn || !fits(own)) continue;
      if (is_quantised(own.param)) fit_shape(param.shape, own.param);
      if (is_quantised(own.param) && !takes(own.param, param.shape)) continue;
      choose_state_scale(draws_, own, draws_.able().precisions, scale);
      param.precision = all_of(own);  // so that no load leads to a recipe that is not offered
    }
  }

  /// What is drawn when the program is known.
  void make_each() {
    make_types();
    make_quantised();
    if (!may_round(draws_, scenario_.optimizer)) widen_gradients();
    make_types_of_loads();
  }

 private:
  void make_types() {
    Precision& recipe = scenario_.precision;
    if (draws_.feature(Feature::weights_bf16, 35)) recipe.param = ParamType::bf16;
    if (draws_.feature(Feature::weights_fp16, 15)) recipe.param = ParamType::fp16;
    if (recipe.param != ParamType::fp32 && draws_.feature(Feature::main_weights, 60))
      recipe.main = draw_main(recipe.param);
    if (draws_.feature(Feature::gradients_16_bits, 30)) {
      bool const bf16 = draws_.chance(60);
      recipe.grad = bf16 ? GradType::bf16 : GradType::fp16;
    }
    for (auto const& [feature, type] : {std::pair(Feature::moments_bf16, StateType::bf16),
                                        std::pair(Feature::moments_fp16, StateType::fp16),
                                        std::pair(Feature::moments_fp8, StateType::fp8)}) {
      if (!draws_.feature(feature, 20)) continue;
      std::int64_t const which = draws_.below(3);
      if (which != 1) recipe.exp_avg = type;
      if (which != 0) recipe.exp_avg_sq = type;
    }
    if (has_scaled_state(recipe) && draws_.feature(Feature::local_scale, 25))
      recipe.state_scale = StateScale::local;
    if (!draws_.feature(Feature::own_precision, 20)) return;
    for (Param& param : scenario_.params) {
      bool const own = draws_.chance(40) && !param.is_tied();
      if (own) make_own_precision(param);
    }
  }

  /// Blocks of 128 x 128 make large tensors, which cost as much as many small ones.
  ParamType draw_quantised() {
    constexpr std::array small{ParamType::fp8_delayed, ParamType::fp8_current, ParamType::mxfp8,
                               ParamType::nvfp4};
    ParamType const drawn = draws_.one_of(small);
    return draws_.chance(4) ? ParamType::fp8_block : drawn;
  }

  /// Quantises parameters, most of them in shapes that the recipe takes. Codes and scales pass
  /// through a checkpoint in ways of their own.
  void make_quantised() {
    bool const drawn = draws_.feature(Feature::quantised, has<Load>(scenario_.program) ? 25 : 10);
    if (!drawn || !draws_.allowed(Feature::main_weights)) return;
    scenario_.precision.param = draw_quantised();
    scenario_.precision.main = MainType::fp32;
    for (Param& param : scenario_.params) {
      bool const fits = draws_.chance(45);
      if (param.is_tied()) continue;
      if (fits && !param.precision.param) fit_shape(param.shape, scenario_.precision.param);
      if (conflict_in(scenario_.precision_of(param))) param.precision.main = MainType::none;
    }
  }

  // Rows of blocks come in other numbers than other rows: whoever wants no ragged end, or a small
  // scenario, has them as they were drawn.
  void fit_shape(std::vector<std::int64_t>& shape, ParamType recipe) {
    std::int64_t const side = block_side(recipe);
    std::int64_t const rows = model_.between(1, side == 128 ? 2 : 3);
    std::int64_t const columns = model_.chance(25) && side < 128 ? 2 : 1;
    bool const stacked = model_.chance(25);
    if (!has_elements(shape) || model_.options().size < 50) return;
    if (side == 1) {
      if (shape.size() == 1) shape.push_back(model_.between(1, model_.scaled(1, 12)));
      return;
    }
    for (Feature const of_rows : {Feature::ragged_end, Feature::empty_shard, Feature::cut_block})
      if (!model_.allowed(of_rows)) return;
    shape = {rows * side, columns * side};
    if (stacked) shape.insert(shape.begin(), 2);
  }

  /// What a main weight beside such a parameter may be, most often fp32.
  MainType draw_main(ParamType param) {
    if (param == ParamType::bf16 && draws_.feature(Feature::remainder, 25))
      return MainType::remainder;
    if (param == ParamType::bf16 && draws_.feature(Feature::scaled_main, 20)) return MainType::fp16;
    if (param == ParamType::fp16 && draws_.feature(Feature::main_bf16, 20)) return MainType::bf16;
    return MainType::fp32;
  }

  /// What a scenario of this model takes if it can, else what comes next: so those whose loss
  /// scales allow the same types have the same.
  std::vector<Precision> draw_order_of_recipes() {
    std::vector<Precision> order = recipes(draws_.able().precisions);
    bool const first = model_.chance(45);  // what most people train with
    for (auto place = order.begin() + (first ? 1 : 0); place < order.end(); ++place)
      std::iter_swap(place, place + model_.below(order.end() - place));
    return order;
  }

  // A recipe is listed without what its scales cover.
  bool accepted_with_any_scale(Precision precision, LossScale::Kind scale) const {
    for (StateScale const covers : {StateScale::global, StateScale::local, StateScale::none}) {
      precision.state_scale = covers;
      if (accepted(draws_.able().precisions, precision, scale)) return true;
    }
    return false;
  }

  /// Most parameters of a quantised recipe have shapes that it takes, and some of a program whose
  /// loads may lead to one.
  void fit_shapes_to_offers() {
    std::vector<ParamType> types;
    for (Precision const& recipe : load_recipes(model_.able()))
      if (is_quantised(recipe.param)) types.push_back(recipe.param);
    ParamType type = scenario_.precision.param;
    bool const starts = is_quantised(type);
    if (!starts && types.empty()) return;
    bool const loads = !starts && model_.chance(20) && model_.allowed(Feature::quantised);
    if (!starts && !loads) return;
    if (loads) type = model_.one_of(types);
    for (Param& param : scenario_.params) {
      bool const fits = model_.chance(60) && !param.is_tied();
      if (fits) fit_shape(param.shape, type);
    }
  }

  void make_own_precision(Param& param) {
    constexpr std::array types{ParamType::fp32, ParamType::bf16, ParamType::fp16};
    ParamType const type = draws_.one_of(types);
    if (type == ParamType::bf16 && !draws_.allowed(Feature::weights_bf16)) return;
    if (type == ParamType::fp16 && !draws_.allowed(Feature::weights_fp16)) return;
    param.precision.param = type;
    if (conflict_in(scenario_.precision_of(param))) param.precision.main = MainType::none;
    if (draws_.chance(60)) make_own_states(param);
  }

  void make_own_states(Param& param) {
    constexpr std::array gradients{GradType::fp32, GradType::bf16, GradType::fp16};
    constexpr std::array states{StateType::fp32, StateType::bf16, StateType::fp16, StateType::fp8};
    constexpr std::array scales{StateScale::global, StateScale::local};
    Param own = param;
    PrecisionOverride& types = own.precision;
    bool const narrow = types.param != ParamType::fp32;
    if (narrow && draws_.chance(50)) types.main = draw_main(*types.param);
    if (draws_.chance(15)) {
      types.param = draw_quantised();
      types.main = MainType::fp32;
      fit_shape(own.shape, *types.param);
    }
    if (draws_.chance(40)) types.grad = draws_.one_of(gradients);
    if (draws_.chance(60)) types.exp_avg = draws_.one_of(states);
    if (draws_.chance(60)) types.exp_avg_sq = draws_.one_of(states);
    if (draws_.chance(60)) types.state_scale = draws_.one_of(scales);
    bool const fits = !is_quantised(*types.param) || takes(*types.param, own.shape);
    Precision const all = scenario_.precision_of(own);
    if (fits && !conflict_in(all) && draws_.allowed(features_of(all))) param = own;
  }

  /// Any of the types that a load may lead to.
  Precision draw_types_of_load(Precision const& now) {
    auto offered = load_recipes(draws_.able());
    std::erase_if(offered, [](Precision const& types) { return is_quantised(types.param); });
    Precision to = draws_.one_of(offered);
    if (draws_.feature(Feature::quantised, 25)) {
      to.param = draw_quantised();
      to.main = MainType::fp32;
    }
    if (draws_.chance(50) || !draws_.allowed(features_of(to)) || may_round_as(to.grad))
      to.grad = now.grad;
    to.state_scale = now.state_scale;
    if (draws_.chance(30) && draws_.allowed(Feature::local_scale))
      to.state_scale = draws_.one_of(std::array{StateScale::global, StateScale::local});
    return fits_all(scenario_, to) ? to : now;
  }

  /// Would a loss scale leave gradients of this type without all of their bits?
  bool may_round_as(GradType type) const {
    Scenario other = scenario_;
    other.precision.grad = type;
    return any_scale_rounds(other);
  }

  /// Names types of a load. What the world before it had, and every save under the name, need not
  /// be said again.
  PrecisionOverride draw_names(Precision const& now, std::vector<Precision> const& known) {
    PrecisionOverride names;
    for_each_common_key<Precision, PrecisionOverride>(
        [&](auto const& in_change, auto const& in_whole) {
          auto const type = value_at(now, in_whole.place);
          bool const is_known = std::ranges::all_of(
              known, [&](Precision const& one) { return value_at(one, in_whole.place) == type; });
          if (!is_known || draws_.chance(60)) put(names, in_change.place, std::optional(type));
        });
    return names;
  }

  /// May this load and all later ones end the graph that is there, as loads with types do?
  static bool no_replay_needs(std::span<Operation const> program) {
    bool ended = false;
    for (Operation const& operation : program) {
      if (is<Load>(operation.action)) ended = true;
      if (is<Capture>(operation.action)) ended = false;
      if (is<Replay>(operation.action) && ended) return false;
    }
    return true;
  }

  // Once a load has changed types, later ones name theirs, whichever were saved under the name, in
  // a save that crashed or in one before it. Casts that graphs cannot hold come with gradients that
  // the optimizer takes in another type.
  void make_types_of_loads() {
    if (!draws_.allowed(Feature::load_with_other_precision)) return;
    if (scenario_.optimizer.capturable && !scenario_.optimizer.decoupled_grad) return;
    auto const ends_no_graph_in_use = [&](Operation const& load) {
      auto const first = static_cast<std::size_t>(&load - scenario_.program.data());
      return no_replay_needs(std::span<Operation const>(scenario_.program).subspan(first));
    };
    Precision now = scenario_.precision;
    bool changed = false;
    std::map<std::string, std::vector<Precision>> saved;
    for (Operation& operation : scenario_.program) {
      if (auto const* save = std::get_if<Save>(&operation.action))
        saved[save->checkpoint].push_back(now);
      auto* const load = std::get_if<Load>(&operation.action);
      if (load == nullptr) continue;
      bool const other =
          draws_.feature(Feature::load_with_other_precision, 35) && ends_no_graph_in_use(operation);
      Precision const before = now;
      if (other) now = draw_types_of_load(now);
      changed = changed || now != before;
      if (!changed) continue;
      std::vector<Precision> known = saved[load->from];
      known.push_back(before);
      PrecisionOverride const names = draw_names(now, known);
      if (names != PrecisionOverride{}) load->precision = names;
    }
  }

  void widen_gradients() {
    if (!any_scale_rounds(scenario_)) return;
    if (scenario_.precision.grad == GradType::fp16) scenario_.precision.grad = GradType::bf16;
    for (Param& param : scenario_.params)
      if (param.precision.grad == GradType::fp16) param.precision.grad = GradType::bf16;
  }

  Drawing& draws_;
  Drawing& model_;
  Scenario& scenario_;
};

}  // namespace

bool fits_all(Scenario const& scenario, Precision const& precision) {
  return std::ranges::none_of(scenario.params, [&](Param const& param) {
    return conflict_in(with(precision, param.precision)).has_value();
  });
}

void draw_recipe(Drawing& draws, Drawing& model, Scenario& scenario) {
  RecipeDrawing(draws, model, scenario).make_offered();
}

void draw_types(Drawing& draws, Drawing& model, Scenario& scenario) {
  RecipeDrawing(draws, model, scenario).make_each();
}

void choose_state_scale(Drawing& draws, Precision& recipe,
                        std::vector<PrecisionOffer> const& offers, LossScale::Kind scale) {
  if (!has_scalable_state(recipe)) return;
  bool const local = draws.feature(Feature::local_scale, 35);
  std::array kinds{StateScale::global, StateScale::local, StateScale::none};
  if (local) std::swap(kinds[0], kinds[1]);
  for (StateScale const kind : kinds) {
    recipe.state_scale = kind;
    if (accepted(offers, recipe, scale)) return;
  }
}

}  // namespace adamant::scenarios
