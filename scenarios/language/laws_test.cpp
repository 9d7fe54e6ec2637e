#include "scenarios/language/laws.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace adamant::scenarios {
namespace {

TEST(Laws, NoIdentifierIsListedTwice) {
  std::set<std::string_view> seen;
  for (auto const table : {laws(), refusal_reasons()}) {
    for (Meaning const& entry : table) {
      EXPECT_TRUE(seen.insert(entry.id).second) << entry.id;
      EXPECT_FALSE(entry.text.empty()) << entry.id;
    }
  }
  EXPECT_EQ(laws().size(), 24U);
}

TEST(Laws, APrefixMatchesUpToADotOnly) {
  EXPECT_TRUE(matches("access", "access.bounds"));
  EXPECT_TRUE(matches("access.bounds", "access.bounds"));
  EXPECT_FALSE(matches("acc", "access.bounds"));
  EXPECT_FALSE(matches("access.", "access.bounds"));
  EXPECT_FALSE(matches("", "access.bounds"));
  EXPECT_FALSE(matches("access.bounds.low", "access.bounds"));
}

TEST(Laws, KnownIsWhatMatchesSomeIdentifier) {
  EXPECT_TRUE(is_known("unsupported.duplicate_main", refusal_reasons()));
  EXPECT_TRUE(is_known("checkpoint", laws()));
  EXPECT_FALSE(is_known("unsupported.mood", refusal_reasons()));
  EXPECT_FALSE(is_known("scalar", refusal_reasons()));
}

}  // namespace
}  // namespace adamant::scenarios
