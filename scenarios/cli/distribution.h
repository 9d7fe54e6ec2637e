// What a search has seen, for people and as JSON: how often each feature and each pair of features
// was in a case, and which pairs are still missing.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "scenarios/generate/features.h"

namespace adamant::scenarios {

/// Each feature's share, a line each, then the pairs: how many can occur, how many did, and the
/// first that did not. REQUIRES: seen.cases() > 0.
std::string describe(Distribution const& seen);

/// Cases with each feature, by label.
nlohmann::ordered_json features_json(Distribution const& seen);
/// Cases with both features of each pair that can occur, by "label, label".
nlohmann::ordered_json pairs_json(Distribution const& seen);
/// Why each of the other pairs cannot.
nlohmann::ordered_json exclusive_json();

}  // namespace adamant::scenarios
