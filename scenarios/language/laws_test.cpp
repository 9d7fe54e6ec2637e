#include "scenarios/language/laws.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <variant>

namespace adamant::scenarios {
namespace {

TEST(Laws, NoIdentifierIsListedTwice) {
  std::set<std::string_view> seen;
  for (auto const table : {laws(), warnings(), refusal_reasons()}) {
    for (Meaning const& entry : table) {
      EXPECT_TRUE(seen.insert(entry.id).second) << entry.id;
      EXPECT_FALSE(entry.text.empty()) << entry.id;
    }
  }
}

TEST(Laws, AnIdentifierLeadsToItsLawAndBack) {
  for (auto const table : {laws(), warnings()})
    for (Meaning const& entry : table) {
      std::optional<Law> const law = law_of(entry.id);
      ASSERT_TRUE(law) << entry.id;
      EXPECT_EQ(id_of(*law), entry.id);
    }
  EXPECT_EQ(law_of("values"), std::nullopt);
}

TEST(Laws, WarningsAreToldApart) {
  for (Meaning const& entry : warnings())
    EXPECT_TRUE(sim::is_warning(std::get<sim::Law>(*law_of(entry.id)))) << entry.id;
  for (Meaning const& entry : laws()) {
    Law const law = law_of(entry.id).value();
    EXPECT_FALSE(is_of_world(law) && sim::is_warning(std::get<sim::Law>(law))) << entry.id;
  }
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
