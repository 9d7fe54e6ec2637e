// What a search has seen, for people and as JSON: how often each feature and each pair of features
// was in a case, and which pairs are still missing.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/language/json_text.h"
#include "scenarios/search/generate/features.h"

namespace adamant::scenarios {

/// Features that were in no case.
enum class Zeros { left_out, shown };

/// Each feature's share, a line each, then the pairs: how many can occur, how many did, and the
/// first that did not. Features in `lacking` are none of the engine that was searched
/// (search/generate/offers.h), and are not spoken of. REQUIRES: seen.cases() > 0.
std::string describe(Distribution const& seen, FeatureSet const& lacking, Zeros zeros);

/// Cases with each feature, by label.
StrictJson features_json(Distribution const& seen, FeatureSet const& lacking);
/// Cases with both features of each pair that can occur, by "label, label".
StrictJson pairs_json(Distribution const& seen, FeatureSet const& lacking);
/// What could have been in a case and was in none: features, and pairs of those that were.
StrictJson never_json(Distribution const& seen, FeatureSet const& lacking);
/// Why each of the other pairs cannot.
StrictJson exclusive_json(FeatureSet const& lacking);

/// Of cases that ran under two schedules and passed. Values may differ all the same: a sum of
/// floats that is taken in the order in which ranks come, for one.
struct ValuesCompared {
  std::uint64_t cases = 0;
  std::uint64_t different = 0;  // of those: with other values under the second

  void add(ValuesCompared const& other);
};

/// A line; nothing where there are no such cases.
std::string describe(ValuesCompared const& values);

StrictJson to_json(ValuesCompared const& values);
/// The inverse. Errors: those of nlohmann::json.
ValuesCompared values_compared_from_json(StrictJson const& json);

}  // namespace adamant::scenarios
