// The draws of one scenario, as its options allow: which features it may have, and how large things
// get. And the parts of a scenario that are drawn by themselves; their order is generate.cpp's.
// What scenarios of a model have in common, shapes, types and worlds, is drawn from the draws of
// that: `model`, which is `draws` where they have nothing in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/search/generate/draws.h"
#include "scenarios/search/generate/generate.h"
#include "scenarios/search/generate/offers.h"
#include "scenarios/search/generate/profile.h"

namespace adamant::scenarios {

class Drawing : public Draws {
 public:
  Drawing(std::uint64_t seed, std::uint64_t index, GenerateOptions const& options)
      : Draws(seed, index),
        options_(options),
        profile_(profile_of(options.capabilities)),
        off_(options.off | lacking(options.capabilities)) {}

  GenerateOptions const& options() const { return options_; }
  Capabilities const& able() const { return options_.capabilities; }
  Profile const& profile() const { return profile_; }
  bool allowed(Feature feature) const { return !has(off_, feature); }
  bool allowed(FeatureSet const& features) const { return (features & off_).none(); }
  /// A feature that is on in `percent` of the full-size scenarios, rarer in small ones.
  bool feature(Feature which, int percent) {
    bool const drawn = chance(percent * (20 + options_.size) / 120);
    return drawn && allowed(which);
  }
  /// `maximum` at full size, `minimum` at size 0.
  std::int64_t scaled(std::int64_t minimum, std::int64_t maximum) const {
    return minimum + (maximum - minimum) * options_.size / 100;
  }
  /// One of these, or where there are none any from 1 on; no more than `most`.
  std::int64_t one_of_or_any(std::span<std::int64_t const> usual, std::int64_t most) {
    if (usual.empty()) return between(1, most);
    return std::min(usual[static_cast<std::size_t>(below(std::ssize(usual)))], most);
  }

 private:
  GenerateOptions const& options_;
  Profile const& profile_;
  FeatureSet off_;
};

// ---- world and parameters, world_drawing.cpp ----------------------------------------------------

/// All else depends on them.
void draw_world(Drawing& model, Scenario& scenario);
/// Of a few ranks: whoever runs in processes of their own pays for each.
World draw_small_world(Drawing& model);
/// So many ranks, as replicas where they can be.
World draw_mesh(Drawing& model, std::int64_t ranks, Feature why);
/// Behind its target, with others between them or not.
void draw_ties(Drawing& draws, Scenario& scenario);
/// Of a parameter whose rows happen to be as many.
void draw_parts(Drawing& draws, Scenario& scenario);

// ---- settings, settings_drawing.cpp -------------------------------------------------------------

void draw_groups(Drawing& draws, Scenario& scenario);
void draw_optimizer(Drawing& draws, Scenario& scenario);
void draw_gradients(Drawing& draws, Scenario& scenario);
void draw_schedule(Drawing& draws, Schedule& schedule);
/// What few scenarios have. Drawn behind everything else, so that it changes no other scenario.
void draw_rare(Drawing& draws, Scenario& scenario);
// These are drawn in the middle of a program, too: what `set` and `load` change.
void draw_override(Drawing& draws, AdamOverride& settings, bool in_group);
void draw_loss_scale(Drawing& draws, Optimizer const& optimizer, LossScale& scale);
/// For `clip`.
float draw_norm(Drawing& draws);
Offload draw_offload(Drawing& draws);
/// May a loss scale round? What a replay computes is known by its bits alone.
bool may_round(Drawing const& draws, Optimizer const& optimizer);

// ---- number formats, precision.cpp --------------------------------------------------------------

/// One of the recipes that the engine offers, where types do not combine freely.
void draw_recipe(Drawing& draws, Drawing& model, Scenario& scenario);
/// Each type by itself, and those of loads. No operation depends on them.
void draw_types(Drawing& draws, Drawing& model, Scenario& scenario);
/// Can every parameter have these types, or its own beside them?
bool fits_all(Scenario const& scenario, Precision const& precision);
/// What scales cover, of what `offers` has with the types of a recipe, if that has scales.
void choose_state_scale(Drawing& draws, Precision& recipe,
                        std::vector<PrecisionOffer> const& offers, LossScale::Kind scale);

// ---- operations, program_drawing.cpp ------------------------------------------------------------

/// One after another for settings that are known: mostly what a training loop would do next, else
/// anything that is no refusal at that point. Where a checkpoint costs no more than any other
/// operation, half of the programs save. May it be captured?
bool draw_program(Drawing& draws, Drawing& model, Scenario& scenario);
bool may_capture(Drawing const& draws, Scenario const& scenario);

/// At most one thing, and only where it is known how the run ends then.
void draw_fault(Drawing& draws, Scenario& scenario);

}  // namespace adamant::scenarios
