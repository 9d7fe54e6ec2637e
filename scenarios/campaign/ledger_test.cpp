#include "scenarios/campaign/ledger.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace adamant::scenarios {
namespace {

CampaignSettings settings(std::uint64_t shards, std::uint64_t first_full_case) {
  return {.seed = 7, .shards = shards, .engine = "sim", .first_full_case = first_full_case};
}

SearchedCase fine(FeatureSet features = {}) {
  return {.features = features};
}

SearchedCase failing(std::uint64_t index) {
  RunResult result;
  result.outcome = Outcome::violated;
  result.violations.push_back({.law = Law::order_race});
  return {.index = index, .failure = Failure{.case_index = index, .result = result}};
}

SearchedCase pct(int depth, double chance) {
  return {.features = set_of(Feature::schedule_pct),
          .schedule_chance = chance,
          .schedule_depth = depth};
}

Tally of(std::vector<SearchedCase> const& cases) {
  Tally tally;
  for (SearchedCase const& ended : cases) tally.add(ended);
  return tally;
}

LedgerLaw law(Ledger const& ledger, std::string const& id) {
  for (LedgerLaw const& row : ledger.laws)
    if (row.id == id) return row;
  return {};
}

TEST(Ledger, BoundsTheChanceOfOneMoreFailureForEachLaw) {
  Ledger const ledger =
      ledger_of(settings(2, 0), {{0, of({fine(), fine(), failing(4)})}, {1, of({fine(), fine()})}});
  EXPECT_EQ(ledger.tally.cases(), 5U);
  EXPECT_EQ(law(ledger, "order.race").cases, 1U);
  EXPECT_EQ(law(ledger, "order.race").at_most, chance_at_most(1, 5));
  EXPECT_EQ(law(ledger, "values.bitwise").at_most, chance_at_most(0, 5));
  EXPECT_EQ(law(ledger, "any").at_most, chance_at_most(1, 5));
}

// Shard 0 has cases 0, 2, 4, 6 and shard 1 has 1, 3: the first three are smaller than the others.
TEST(Ledger, TheFirstCasesAreSmallerAndSayNothingOfOthers) {
  Ledger const ledger =
      ledger_of(settings(2, 3),
                {{0, of({fine(), failing(2), failing(4), fine()})}, {1, of({fine(), fine()})}});
  EXPECT_EQ(ledger.full_cases, 3U);
  EXPECT_EQ(law(ledger, "order.race").cases, 2U);
  EXPECT_EQ(law(ledger, "order.race").at_most, chance_at_most(1, 3));
}

// Addresses, streams and graphs of an engine in a process of its own are not seen.
TEST(Ledger, BoundsNothingByWhichCasesCannotBeJudged) {
  auto const ids = [](std::string const& engine) {
    CampaignSettings of_engine = settings(1, 0);
    of_engine.engine = engine;
    std::set<std::string> found;
    for (LedgerLaw const& law : ledger_of(of_engine, {{0, of({fine()})}}).laws)
      found.insert(law.id);
    return found;
  };
  for (char const* const seen : {"values.bitwise", "order.deadlock", "runs.worlds", "any"}) {
    EXPECT_TRUE(ids("sim").contains(seen));
    EXPECT_TRUE(ids("torch").contains(seen));
  }
  for (char const* const hidden : {"order.race", "pointers.stable", "graph.scalar"}) {
    EXPECT_TRUE(ids("sim").contains(hidden));
    EXPECT_FALSE(ids("torch").contains(hidden));
  }
}

TEST(Ledger, BoundsWhatPctSchedulesHaveMissedByDepth) {
  Ledger const ledger =
      ledger_of(settings(1, 0), {{0, of({pct(1, 0.5), pct(2, 0.25), pct(2, 0), fine()})}});
  ASSERT_EQ(ledger.depths.size(), 2U);
  EXPECT_EQ(ledger.depths[0].depth, 1);
  EXPECT_EQ(ledger.depths[0].schedules, 1U);
  EXPECT_EQ(ledger.depths[0].too_long, 0U);
  EXPECT_EQ(ledger.depths[0].missed_at_most, 0.5);
  EXPECT_EQ(ledger.depths[1].schedules, 2U);
  EXPECT_EQ(ledger.depths[1].too_long, 1U);
  EXPECT_EQ(ledger.depths[1].missed_at_most, 0.75);
  EXPECT_EQ(ledger.schedules(Schedule::Strategy::pct), 3U);
  EXPECT_EQ(ledger.schedules(Schedule::Strategy::fifo), 1U);
}

TEST(Ledger, SaysWhatWasNeverReached) {
  auto const both = set_of(Feature::save) | set_of(Feature::load);
  Ledger const ledger =
      ledger_of(settings(1, 0), {{0, of({fine(both), fine(set_of(Feature::set))})}});
  auto const never = to_json(ledger).at("never");
  auto const has = [](nlohmann::ordered_json const& array, std::string const& entry) {
    return std::find(array.begin(), array.end(), entry) != array.end();
  };
  EXPECT_FALSE(has(never.at("features"), std::string(label_of(Feature::save))));
  EXPECT_TRUE(has(never.at("features"), std::string(label_of(Feature::capture))));
  std::string const save(label_of(Feature::save));
  std::string const load(label_of(Feature::load));
  std::string const set(label_of(Feature::set));
  EXPECT_FALSE(has(never.at("pairs"), save + ", " + load));
  EXPECT_TRUE(has(never.at("pairs"), set + ", " + save) ||
              has(never.at("pairs"), save + ", " + set));
}

TEST(Ledger, CountsWhatTheSimulatedHardwareDid) {
  SearchedCase marked = fine();
  marked.marks = 1U << static_cast<unsigned>(sim::CoverageMark::sum_by_tree);
  Ledger ledger = ledger_of(settings(1, 0), {{0, of({marked, fine()})}});
  auto const marks = to_json(ledger).at("marks");
  EXPECT_EQ(marks.at("a sum went by a tree"), 1);
  EXPECT_EQ(marks.at("a sum went round the ring backwards"), 0);
  ledger.settings.lacking = set_of(Feature::schedule_random);
  EXPECT_FALSE(to_json(ledger).contains("marks")) << "an engine outside the process has none";
}

TEST(Ledger, AShardThatHasNotBegunIsMissing) {
  Ledger const ledger = ledger_of(settings(3, 0), {{1, of({fine()})}});
  EXPECT_EQ(to_json(ledger).at("shards"), (std::vector<int>{0, 1, 0}));
  EXPECT_NE(describe(ledger, Zeros::left_out).find("1 case in 1 of 3 shards"), std::string::npos)
      << describe(ledger, Zeros::left_out);
  EXPECT_EQ(law(ledger_of(settings(3, 0), {}), "any").at_most, 1);
}

}  // namespace
}  // namespace adamant::scenarios
