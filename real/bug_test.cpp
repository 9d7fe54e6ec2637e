#include "real/bug.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace adamant::real {
namespace {

TEST(Bug, IdsAreDistinctAndDescribed) {
  std::set<std::string_view> ids;
  for (BugInfo const& bug : all_bugs()) {
    EXPECT_TRUE(ids.insert(bug.id).second) << bug.id;
    EXPECT_GT(bug.text.size(), 20U) << bug.id;
  }
  EXPECT_GE(ids.size(), 54U);
}

TEST(Bug, ComesFromAPublicReportOrFromHere) {
  for (BugInfo const& bug : all_bugs()) {
    EXPECT_TRUE(bug.source == "adamant" || bug.source.starts_with("https://")) << bug.id;
  }
}

TEST(Bug, TheShippedEngineContainsNone) {
  static_assert(!bugs_compiled);
  static_assert(!ADAMANT_BUG(remainder_dropped));
  for (BugInfo const& bug : all_bugs()) EXPECT_FALSE(bug_is(bug.bug)) << bug.id;
}

}  // namespace
}  // namespace adamant::real
