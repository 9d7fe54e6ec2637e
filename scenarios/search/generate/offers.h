// What of the generators' words an engine offers: the features that none of its scenarios has, and
// the recipes that may be drawn.
#pragma once

#include <vector>

#include "scenarios/seam/capabilities.h"
#include "scenarios/search/generate/features.h"

namespace adamant::scenarios {

/// Features of no scenario that an engine with these capabilities executes, or that generators make
/// for it.
FeatureSet lacking(Capabilities const& capabilities);

/// Every recipe of plain types that these offers accept, each once, in their order. Scales of
/// states are `global`.
std::vector<Precision> recipes(std::vector<PrecisionOffer> const& offers);

/// Those that a load may lead to; none where it changes no types.
std::vector<Precision> load_recipes(Capabilities const& capabilities);

/// Is it done to checkpoints of this engine: promised to be noticed, or done without a promise?
bool has_damage(Capabilities const& capabilities, Fault::Then kind);

/// The kinds of damage that generators do whatever the program: what the engine promises to notice,
/// and what it is held to without a promise. What follows from any other kind is not known, so that
/// nothing could be expected of such a scenario.
std::vector<Fault::Then> damage_kinds(Capabilities const& capabilities);

}  // namespace adamant::scenarios
