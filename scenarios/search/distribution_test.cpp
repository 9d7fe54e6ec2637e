#include "scenarios/search/distribution.h"

#include <gtest/gtest.h>

#include "scenarios/search/generate/exclusive.h"

namespace adamant::scenarios {
namespace {

std::size_t possible_pairs() {
  std::size_t count = 0;
  for (std::size_t a = 0; a < feature_count; ++a)
    for (std::size_t b = a + 1; b < feature_count; ++b)
      count += compatible(static_cast<Feature>(a), static_cast<Feature>(b)) ? 1U : 0U;
  return count;
}

TEST(Distribution, SaysWhichPairsWereNotSeen) {
  Distribution seen;
  seen.add(set_of(Feature::group) | set_of(Feature::train));
  seen.add(set_of(Feature::group));
  std::string const text = describe(seen, {}, Zeros::left_out);
  EXPECT_NE(text.find("100.00% parameter group\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" 50.00% train\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n1 of " + std::to_string(possible_pairs()) + " pairs"), std::string::npos)
      << text;
  EXPECT_NE(text.find("not yet: one rank with flat layout; "), std::string::npos) << text;
  EXPECT_EQ(pairs_json(seen, {}).at("parameter group, train"), 1);
}

TEST(Distribution, SaysNothingOfPairsThatAreComplete) {
  Distribution seen;
  seen.add(FeatureSet().set());
  EXPECT_EQ(describe(seen, {}, Zeros::left_out).find("not yet"), std::string::npos);
}

TEST(Distribution, CountsNoPairThatCannotOccur) {
  Distribution seen;
  seen.add(FeatureSet().set());
  EXPECT_EQ(pairs_json(seen, {}).size(), possible_pairs());
  EXPECT_FALSE(pairs_json(seen, {}).contains("one rank, more than four ranks"));
  EXPECT_EQ(exclusive_json({}).at("one rank, more than four ranks"), "one rank is not five");
  EXPECT_EQ(exclusive_json({}).size() + possible_pairs(), feature_count * (feature_count - 1) / 2);
}

TEST(Distribution, IsSilentAboutWhatTheEngineLacks) {
  Distribution seen;
  seen.add(set_of(Feature::group));
  FeatureSet const lacking = FeatureSet().set() & ~set_of(Feature::group) & ~set_of(Feature::train);
  std::string const text = describe(seen, lacking, Zeros::shown);
  EXPECT_EQ(text,
            "100.00% parameter group\n  0.00% train\n0 of 1 pairs of features that can occur "
            "together did\nnot yet: parameter group with train\n");
  EXPECT_EQ(describe(seen, lacking, Zeros::left_out).find("0.00% train"), std::string::npos);
  EXPECT_EQ(features_json(seen, lacking).size(), 2U);
  EXPECT_EQ(pairs_json(seen, lacking).size(), 1U);
  EXPECT_TRUE(exclusive_json(lacking).empty());
}

}  // namespace
}  // namespace adamant::scenarios
