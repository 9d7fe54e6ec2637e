#include "scenarios/search/distribution.h"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "scenarios/search/generate/exclusive.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

constexpr std::size_t missing_shown_max = 6;

void for_each_feature(FeatureSet const& lacking, std::function<void(Feature)> const& visit) {
  for (std::size_t f = 0; f < feature_count; ++f)
    if (!lacking.test(f)) visit(static_cast<Feature>(f));
}

void for_each_pair(FeatureSet const& lacking, std::function<void(Feature, Feature)> const& visit) {
  for_each_feature(lacking, [&](Feature a) {
    for_each_feature(lacking, [&](Feature b) {
      if (a < b) visit(a, b);
    });
  });
}

void for_each_possible_pair(FeatureSet const& lacking,
                            std::function<void(Feature, Feature)> const& visit) {
  for_each_pair(lacking, [&](Feature a, Feature b) {
    if (compatible(a, b)) visit(a, b);
  });
}

std::string name_of_pair(Feature a, Feature b) {
  return fmt::format("{}, {}", label_of(a), label_of(b));
}

std::string shares(Distribution const& seen, FeatureSet const& lacking, Zeros zeros) {
  std::string text;
  for_each_feature(lacking, [&](Feature feature) {
    if (seen.count(feature) == 0 && zeros == Zeros::left_out) return;
    double const share =
        100.0 * static_cast<double>(seen.count(feature)) / static_cast<double>(seen.cases());
    text += fmt::format("{:6.2f}% {}\n", share, label_of(feature));
  });
  return text;
}

std::string pairs(Distribution const& seen, FeatureSet const& lacking) {
  std::size_t possible = 0;
  std::vector<std::string> missing;
  for_each_possible_pair(lacking, [&](Feature a, Feature b) {
    ++possible;
    if (seen.count(a, b) == 0)
      missing.push_back(fmt::format("{} with {}", label_of(a), label_of(b)));
  });
  std::string text = fmt::format("{} of {} pairs of features that can occur together did\n",
                                 possible - missing.size(), possible);
  if (missing.size() > missing_shown_max) {
    std::size_t const more = missing.size() - missing_shown_max;
    missing.resize(missing_shown_max);
    missing.push_back(fmt::format("{} more", more));
  }
  if (!missing.empty()) text += fmt::format("not yet: {}\n", fmt::join(missing, "; "));
  return text;
}

}  // namespace

std::string describe(Distribution const& seen, FeatureSet const& lacking, Zeros zeros) {
  return shares(seen, lacking, zeros) + pairs(seen, lacking);
}

Json features_json(Distribution const& seen, FeatureSet const& lacking) {
  Json json = Json::object();
  for_each_feature(lacking, [&](Feature feature) {
    json[std::string(label_of(feature))] = seen.count(feature);
  });
  return json;
}

Json pairs_json(Distribution const& seen, FeatureSet const& lacking) {
  Json json = Json::object();
  for_each_possible_pair(
      lacking, [&](Feature a, Feature b) { json[name_of_pair(a, b)] = seen.count(a, b); });
  return json;
}

Json never_json(Distribution const& seen, FeatureSet const& lacking) {
  Json features = Json::array();
  for_each_feature(lacking, [&](Feature feature) {
    if (seen.count(feature) == 0) features.push_back(label_of(feature));
  });
  Json pairs = Json::array();
  for_each_possible_pair(lacking, [&](Feature a, Feature b) {
    bool const both_seen = seen.count(a) > 0 && seen.count(b) > 0;
    if (both_seen && seen.count(a, b) == 0) pairs.push_back(name_of_pair(a, b));
  });
  return {{"features", features}, {"pairs", pairs}};
}

Json exclusive_json(FeatureSet const& lacking) {
  Json json = Json::object();
  for_each_pair(lacking, [&](Feature a, Feature b) {
    if (!compatible(a, b)) json[name_of_pair(a, b)] = why_exclusive(a, b);
  });
  return json;
}

void ValuesCompared::add(ValuesCompared const& other) {
  cases += other.cases;
  different += other.different;
}

std::string describe(ValuesCompared const& values) {
  if (values.cases == 0) return {};
  return fmt::format("{} ran under two schedules: values depended on the schedule in {}\n",
                     values.cases == 1 ? "1 case" : fmt::format("{} cases", values.cases),
                     values.different);
}

StrictJson to_json(ValuesCompared const& values) {
  return {{"cases", values.cases}, {"different_values", values.different}};
}

ValuesCompared values_compared_from_json(StrictJson const& json) {
  return {.cases = json.at("cases"), .different = json.at("different_values")};
}

}  // namespace adamant::scenarios
