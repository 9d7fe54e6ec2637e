#include "scenarios/search/hunt_report.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

HuntEnd found_after(std::uint64_t cases, double seconds, std::string first_law) {
  HuntEnd end;
  end.found = true;
  end.cases = cases;
  end.seconds = seconds;
  end.first_law = std::move(first_law);
  return end;
}

Hunted hunted(std::vector<HuntEnd> searches) {
  return {.bug = {.id = "canary",
                  .law = "values.bitwise",
                  .source = "adamant",
                  .symptom = "counts wrongly",
                  .diff = ""},
          .searches = std::move(searches)};
}

TEST(HuntReport, TakesTheMiddleOfAllSearches) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2);
  Hunted const found =
      hunted({found_after(9, 0.9, "values.bitwise"), found_after(1, 0.1, "values.bitwise"),
              found_after(5, 0.5, "order.race")});
  EXPECT_EQ(median_cases(found), 5U);
  EXPECT_EQ(median_seconds(found), 0.5);
  EXPECT_EQ(other_law_first(found), 1);
  EXPECT_NE(describe(found).find("another law first in 1 of 3"), std::string::npos);
}

TEST(HuntReport, WhatMostSearchesMissIsNotFound) {
  HuntEnd missed;
  missed.cases = 100;
  Hunted const mostly = hunted({found_after(9, 0.9, "values.bitwise"), missed, missed});
  EXPECT_FALSE(is_found(mostly));
  EXPECT_NE(describe(mostly).find("MISSED"), std::string::npos);
  EXPECT_EQ(to_json(mostly).at("found"), false);
  EXPECT_TRUE(to_json(mostly).at("seconds").is_null());
  EXPECT_FALSE(reported(mostly, "").result.met);
  EXPECT_FALSE(is_found(hunted({})));
}

TEST(HuntReport, WhatWasNeverSearchedIsNotMissed) {
  Hunted const none = hunted({});
  EXPECT_NE(describe(none).find("not searched"), std::string::npos);
  EXPECT_EQ(describe(none).find("MISSED"), std::string::npos);
  EXPECT_NE(reported(none, "").lacking, "");
  EXPECT_EQ(reported(hunted({HuntEnd{}}), "").lacking, "");
}

TEST(HuntReport, OneMissIsSaid) {
  Hunted const once = hunted({found_after(9, 0.9, ""), found_after(8, 0.8, ""), HuntEnd{}});
  EXPECT_TRUE(is_found(once));
  EXPECT_EQ(median_cases(once), 9U);
  EXPECT_NE(describe(once).find("missed in 1 of 3"), std::string::npos) << describe(once);
}

TEST(HuntReport, AProcessThatDiedIsSaid) {
  HuntEnd dead;
  dead.death = "killed by signal 6";
  EXPECT_NE(describe(hunted({dead})).find("killed by signal 6"), std::string::npos);
  EXPECT_EQ(to_json(hunted({dead})).at("deaths").at(0), "killed by signal 6");
}

HuntMinimized minimized_to(std::string const& name, std::size_t operations, double seconds) {
  HuntMinimized minimized{.finding = {}, .text = name, .seconds = seconds};
  minimized.finding.scenario.program.assign(operations, {.action = Step{}, .line = {}});
  return minimized;
}

TEST(HuntReport, OneDefectIsOneFileForMostOfItsFinds) {
  Hunted found = hunted({found_after(9, 0.9, ""), found_after(8, 0.8, "")});
  EXPECT_EQ(describe(found).find("minimised"), std::string::npos);
  EXPECT_EQ(to_json(found).at("minimized"), 0);
  found.minimized = {minimized_to("b", 2, 3), minimized_to("a", 1, 1), minimized_to("b", 2, 2)};
  EXPECT_EQ(commonest(found).text, "b") << "what most came to, although another is lighter";
  EXPECT_EQ(alike(found), 2U);
  EXPECT_NE(describe(found).find("minimised to 2 operations in 2.0 s, 2 of 3 alike"),
            std::string::npos)
      << describe(found);
  EXPECT_EQ(to_json(found).at("minimized"), 3);
  EXPECT_EQ(to_json(found).at("minimized_alike"), 2);
  found.minimized = {minimized_to("b", 2, 1), minimized_to("a", 1, 1)};
  EXPECT_EQ(commonest(found).text, "a") << "the lighter of two";
  found.minimized = {minimized_to("a", 1, 1), minimized_to("a", 1, 1)};
  EXPECT_EQ(describe(found).find("alike"), std::string::npos) << "nothing to say";
}

TEST(HuntReport, ASearchGoesThroughALine) {
  HuntEnd end = found_after(3, 0.25, "order.race");
  end.scenario = "adamant: 1\nname: x\n";
  end.operations = 2;
  HuntEnd const back = hunt_end_from_line(to_line(end));
  EXPECT_TRUE(back.found);
  EXPECT_EQ(back.cases, 3U);
  EXPECT_EQ(back.seconds, 0.25);
  EXPECT_EQ(back.first_law, "order.race");
  EXPECT_EQ(back.scenario, end.scenario);
  EXPECT_EQ(back.operations, 2);
}

}  // namespace
}  // namespace adamant::scenarios
