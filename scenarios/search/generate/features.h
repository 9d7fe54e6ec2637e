// The features of a scenario, and how often each of them and each pair was seen.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/language/features.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// All features of `scenario`.
FeatureSet features_of(Scenario const& scenario);
/// Those of types.
FeatureSet features_of(Precision const& precision);

/// How often each feature and each pair of features was seen.
class Distribution {
 public:
  Distribution() = default;
  /// From what counts() said of so many cases. REQUIRES: as many numbers.
  Distribution(std::uint64_t cases, std::vector<std::uint64_t> const& counts);

  void add(FeatureSet const& features);
  void add(Distribution const& other);

  std::uint64_t cases() const { return cases_; }
  std::uint64_t count(Feature feature) const { return count(feature, feature); }
  std::uint64_t count(Feature a, Feature b) const;
  /// Of each feature, then its pairs with those behind it.
  std::vector<std::uint64_t> counts() const;

  friend bool operator==(Distribution const&, Distribution const&) = default;

 private:
  std::uint64_t cases_ = 0;
  std::vector<std::uint64_t> pairs_ = std::vector<std::uint64_t>(feature_count * feature_count);
};

}  // namespace adamant::scenarios
