// What is special about a scenario, as a set of labels: the corners that a search should have seen.
// Generators switch features on and off by them, and reports count them and their pairs. Which of
// them a scenario has is search/generate/features.h.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <optional>
#include <string_view>

namespace adamant::scenarios {

enum class Feature {
#define ADAMANT_FEATURE(name, label) name,
#include "scenarios/language/features.inc"
#undef ADAMANT_FEATURE
  count_of_features
};
inline constexpr std::size_t feature_count = static_cast<std::size_t>(Feature::count_of_features);

using FeatureSet = std::bitset<feature_count>;

inline FeatureSet set_of(Feature feature) {
  return FeatureSet().set(static_cast<std::size_t>(feature));
}
inline bool has(FeatureSet const& features, Feature feature) {
  return features.test(static_cast<std::size_t>(feature));
}

/// Features of the values of one key, by the number of the value from 1 on.
using FeaturesOfValues = std::array<std::optional<Feature>, 7>;

/// As reports call it.
inline std::string_view label_of(Feature feature) {
  static constexpr std::string_view labels[] = {
#define ADAMANT_FEATURE(name, label) label,
#include "scenarios/language/features.inc"
#undef ADAMANT_FEATURE
  };
  return labels[static_cast<std::size_t>(feature)];
}

}  // namespace adamant::scenarios
