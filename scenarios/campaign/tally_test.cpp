#include "scenarios/campaign/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "scenarios/campaign/ledger.h"
#include "scenarios/report/json.h"

namespace adamant::scenarios {
namespace {

SearchedCase passed(std::uint64_t index, Feature feature) {
  return {.index = index, .features = set_of(feature)};
}

SearchedCase broke(std::uint64_t index, Law law) {
  SearchedCase ended = passed(index, Feature::save);
  RunResult result;
  result.outcome = Outcome::violated;
  result.violations.push_back({.law = law});
  ended.failure = Failure{.case_index = index, .result = result};
  return ended;
}

/// Of `law`, with so many rows: the more, the heavier.
KeptFinding finding(std::uint64_t shard, Law law, std::int64_t rows,
                    std::string const& signature = "the same") {
  KeptFinding kept{.shard = shard, .signature = signature, .file = "x.yaml"};
  kept.finding.case_index = 100 * shard;
  kept.finding.runs = 5;
  Scenario& scenario = kept.finding.scenario;
  scenario.name = "what breaks";
  scenario.seed = 0;
  scenario.params = {{.name = "p0", .shape = {rows}}};
  scenario.program = {{Check{}}};
  scenario.expect = {.kind = Expectation::Kind::violates, .id = std::string(id_of(law))};
  RunResult& result = kept.finding.result;
  result.outcome = Outcome::violated;
  result.name = scenario.name;
  result.expected = "violates " + scenario.expect.id;
  result.met = true;
  result.wall_seconds = 3;
  result.violations.push_back({.law = law, .operation = 0});
  kept.finding.symptom = *symptom_of(result, scenario.expect);
  return kept;
}

Tally some() {
  Tally tally;
  tally.add(passed(0, Feature::load));
  SearchedCase pct = passed(1, Feature::schedule_pct);
  pct.marks = 1U << static_cast<unsigned>(sim::CoverageMark::memory_reused);
  pct.schedule_depth = 3;
  pct.schedule_chance = 0.1;
  pct.values = {.cases = 1, .different = 1};
  pct.known = {"torn", "shaped"};
  tally.add(pct);
  tally.add(broke(2, Law::order_race));
  tally.findings.push_back(finding(4, Law::order_race, 7));
  return tally;
}

std::string text_of(Tally const& tally) {
  return to_line(to_json(tally));
}

TEST(Tally, CountsFeaturesSchedulesAndFailures) {
  Tally const tally = some();
  EXPECT_EQ(tally.cases(), 3U);
  EXPECT_EQ(tally.seen.count(Feature::load), 1U);
  EXPECT_EQ(tally.marks[static_cast<std::size_t>(sim::CoverageMark::memory_reused)], 1U);
  EXPECT_EQ(tally.marks[static_cast<std::size_t>(sim::CoverageMark::sum_by_tree)], 0U);
  EXPECT_EQ(tally.pct, (std::map<std::pair<int, double>, std::uint64_t>{{{3, 0.1}, 1}}));
  EXPECT_EQ(tally.failed, (std::map<std::string, std::vector<std::uint64_t>>{{"order.race", {2}}}));
}

TEST(Tally, ComesBackFromItsLine) {
  Tally const tally = some();
  auto const line = nlohmann::ordered_json::parse(text_of(tally));
  Tally const back = tally_from_json(line, 4);
  EXPECT_EQ(text_of(back), text_of(tally));
  EXPECT_EQ(back.seen, tally.seen);
  EXPECT_EQ(back.values.different, 1U);
  EXPECT_EQ(back.findings.at(0).finding.symptom, tally.findings.at(0).finding.symptom);
  EXPECT_EQ(back.findings.at(0).finding.scenario, tally.findings.at(0).finding.scenario);
  EXPECT_EQ(back.findings.at(0).shard, 4U);
  EXPECT_EQ(back.findings.at(0).finding.result.wall_seconds, 0) << "time is not kept";
}

TEST(Tally, ALineOfOtherFeaturesIsRefused) {
  auto line = to_json(some());
  line["seen"].erase(0);
  EXPECT_ANY_THROW(tally_from_json(line, 0));
  line = to_json(some());
  line["marks"].erase(0);
  EXPECT_ANY_THROW(tally_from_json(line, 0));
}

/// Is it told anew from other things when it is written again, or nothing in another form?
bool may_change(std::string const& place, StrictJson const& value) {
  return place.ends_with("/wall_seconds") || place.ends_with("/message") ||
         place.ends_with("/ranks/0") || place.ends_with("/by_purpose") || value.empty() ||
         value == -1 || value == "-1";
}

// What is read and taken for something else is written otherwise again.
TEST(Tally, WhateverStandsInALineIsReadOrRefused) {
  StrictJson const line = to_json(some());
  std::vector<StrictJson> const odd{nullptr,
                                    true,
                                    -1,
                                    0,
                                    4.9,
                                    1e300,
                                    1U << 31U,
                                    UINT64_MAX,
                                    "",
                                    "x",
                                    "-1",
                                    StrictJson::array(),
                                    StrictJson::object()};
  int read = 0;
  int refused = 0;
  auto const places = line.flatten();
  for (auto const& [place, value] : places.items()) {
    if (place.starts_with("/seen/1")) continue;  // there are thousands
    for (StrictJson const& other : odd) try {
        StrictJson changed = line;
        changed[StrictJson::json_pointer(place)] = other;
        Tally const tally = tally_from_json(changed, 0);
        if (!may_change(place, other)) {
          EXPECT_EQ(to_json(tally).at(StrictJson::json_pointer(place)), other) << place;
        }
        Ledger const ledger = ledger_of({.shards = 1}, {{0, tally}});
        EXPECT_NE(describe(ledger, Zeros::shown) + to_line(to_json(ledger)), "");
        ++read;
      } catch (std::exception const&) {
        ++refused;
      }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

TEST(Tally, WhatIsCalledOtherwiseInAnotherShardIsOneFinding) {
  KeptFinding other = finding(1, Law::order_race, 7, "another look");
  other.finding.scenario.name += ", world: {shard: 2}";
  EXPECT_EQ(folded({finding(0, Law::order_race, 7), other}).size(), 1U);
}

TEST(Tally, AddsUp) {
  Tally sum = some();
  sum.add(some());
  EXPECT_EQ(sum.cases(), 6U);
  EXPECT_EQ(sum.seen.count(Feature::load), 2U);
  EXPECT_EQ(sum.pct.at({3, 0.1}), 2U);
  EXPECT_EQ(sum.failed.at("order.race").size(), 2U);
  EXPECT_EQ(sum.marks[static_cast<std::size_t>(sim::CoverageMark::memory_reused)], 2U);
  EXPECT_EQ(sum.values.cases, 2U);
  EXPECT_EQ(sum.findings.size(), 2U);
}

TEST(Folded, KeepsTheSmallestOfThoseThatLookAlike) {
  auto const kept = folded({finding(0, Law::order_race, 7), finding(1, Law::order_race, 3),
                            finding(2, Law::ranks_agree, 9, "another")});
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].shard, 1U);
  EXPECT_EQ(kept[1].shard, 2U);
}

TEST(Folded, OneScenarioIsOneFindingWhateverItLookedLike) {
  EXPECT_EQ(
      folded({finding(0, Law::order_race, 7, "one"), finding(1, Law::order_race, 7, "two")}).size(),
      1U);
}

TEST(Folded, ADefectThatNeedsLessIsAnotherOne) {
  KeptFinding needing = finding(0, Law::order_race, 3);
  needing.ingredients = {"implementation=fused"};
  needing.finding.scenario.engine.options = {{"implementation", "fused"}};
  KeptFinding without = finding(1, Law::order_race, 7);
  without.finding.scenario.program.push_back({Check{}});  // the heavier of the two
  EXPECT_EQ(folded({needing, without}).size(), 2U);
  needing.finding.scenario.engine.options.clear();  // minimising showed that it needs none
  EXPECT_EQ(folded({needing, without}).size(), 1U);
}

TEST(Folded, WhatIsNotMinimisedExplainsItsLikeAlone) {
  KeptFinding found = finding(0, Law::order_race, 3);
  found.finding.runs = 0;
  KeptFinding other = finding(1, Law::order_race, 7);
  EXPECT_EQ(folded({found, other}).size(), 1U);
  other.ingredients = {"crash"};
  EXPECT_EQ(folded({found, other}).size(), 2U);
}

TEST(Folded, DoesNotDependOnTheOrder) {
  std::vector<KeptFinding> findings{finding(0, Law::order_race, 7), finding(1, Law::order_race, 3),
                                    finding(2, Law::order_race, 3),
                                    finding(3, Law::ranks_agree, 3, "another")};
  auto const shards = [&] {
    std::vector<std::uint64_t> of_kept;
    for (KeptFinding const& kept : folded(findings)) of_kept.push_back(kept.shard);
    return of_kept;
  };
  auto const expected = shards();
  std::reverse(findings.begin(), findings.end());
  EXPECT_EQ(shards(), expected);
  std::swap(findings[0], findings[2]);
  EXPECT_EQ(shards(), expected);
}

}  // namespace
}  // namespace adamant::scenarios
