// What a scenario has beside its program: world, parameters, optimizer, gradients, offload,
// schedule and number formats. Some of it is drawn in the middle of a program, too: what `set` and
// `load` change.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/search/generate/drawing.h"

namespace adamant::scenarios {

class SettingsDrawing {
 public:
  /// What scenarios of a model have in common is drawn from `model`: shapes, types and worlds. It
  /// is `draws` where they have nothing in common.
  SettingsDrawing(Drawing& draws, Drawing& model, Scenario& scenario)
      : draws_(draws), model_(model), scenario_(scenario) {}

  /// World and parameters, on which all else depends.
  void make_model();
  /// What is left of all that a program is drawn for.
  void make_before_program();
  /// Schedule and formats, which no operation depends on.
  void make_after_program();
  /// What few scenarios have. Drawn behind everything else, so that it changes no other scenario.
  void make_rare();

  /// A `reload` needs states that are away.
  void drop_vain_reloads();
  void make_override(AdamOverride& settings, bool in_group);
  void make_loss_scale(LossScale& scale);
  /// For `clip`.
  float draw_norm();
  Offload draw_offload();
  /// What scales cover, of what `offers` has with the types of a recipe, if that has scales.
  void choose_state_scale(Precision& recipe, std::vector<PrecisionOffer> const& offers,
                          LossScale::Kind scale);
  /// Of a few ranks: whoever runs in processes of their own pays for each.
  World draw_small_world();
  /// At least two replicas, of so many ranks together at most.
  World draw_small_mesh(std::int64_t ranks_max, std::int64_t replicas_max);
  /// So many ranks, as replicas where they can be.
  World draw_mesh(std::int64_t ranks, Feature why);
  /// Any layout of the engine; the usual one about as often as the others together.
  Layout draw_layout();

 private:
  void make_world();
  void make_ties();
  void make_parts();
  /// Layouts whose buffers would be padding for the most part become the usual one.
  void bound_padding();
  void make_params();
  static std::string name_of_param(std::int64_t index, bool in_units);
  void make_shape(std::vector<std::int64_t>& shape);
  std::int64_t make_rows();
  std::int64_t make_few_rows();
  void make_groups();
  float draw_rate(bool extreme);
  float draw_epsilon(bool extreme);
  float draw_decay(bool extreme);
  std::array<float, 2> draw_betas(bool extreme);
  void make_optimizer();
  void override_bias_correction();
  /// What a replay computes is known by its bits alone.
  bool may_round() const;
  float draw_scale();
  void make_gradients();
  void make_offload();
  void make_schedule();
  void make_precision();
  MainType draw_main(ParamType param);
  void make_quantised();
  ParamType draw_recipe();
  void fit_shape(std::vector<std::int64_t>& shape, ParamType recipe);
  /// One of the recipes that the engine offers, where types do not combine freely.
  void make_offered_precision();
  std::vector<Precision> draw_order_of_recipes();
  /// Another type for the weight, and a main weight that goes with it.
  void make_own_precision(Param& param);
  /// The other types, as far as they can be had and may be drawn.
  void make_own_states(Param& param);
  void make_types_of_loads();
  static bool no_replay_needs(std::span<Operation const> program);
  Precision draw_types_of_load(Precision const& now);
  bool may_round_as(GradType type) const;
  PrecisionOverride draw_names(Precision const& now, std::vector<Precision> const& known);
  /// Can every parameter have these types, or its own beside them?
  bool fits_all(Precision const& precision) const;
  bool is_barred(Precision const& recipe) const;
  bool accepted_with_any_scale(Precision precision, LossScale::Kind scale) const;
  void fit_shapes_to_offers();
  void add_many_params();
  void let_weights_vanish();
  /// A dynamic scale begins at 2^32, which fp16 has no room for.
  void widen_gradients();

  Drawing& draws_;
  Drawing& model_;
  Scenario& scenario_;
};

}  // namespace adamant::scenarios
