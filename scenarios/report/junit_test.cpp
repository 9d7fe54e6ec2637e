#include "scenarios/report/junit.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::scenarios {
namespace {

Reported make(std::string name, Outcome outcome, bool met) {
  Reported reported;
  reported.result.name = std::move(name);
  reported.result.outcome = outcome;
  reported.result.expected = "pass";
  reported.result.met = met;
  reported.result.wall_seconds = 0.5;
  reported.replay = "adamant run x.yaml --seed 1";
  return reported;
}

TEST(Junit, CountsFailuresAndErrorsApart) {
  std::vector results{make("a", Outcome::pass, true), make("b", Outcome::violated, false),
                      make("c", Outcome::error, false), make("d", Outcome::pass, false)};
  results[1].result.violations.push_back({.law = Law::values_bitwise});
  results[2].result.reason = "cannot be read";
  results[2].result.message = "x.yaml:3: wrong";
  results[3].result.expected = "violates order.race";
  std::string const xml = to_junit("run", results);
  EXPECT_NE(xml.find("<failure message=\"expected violates order.race, outcome pass\">"),
            std::string::npos);
  EXPECT_NE(xml.find("tests=\"4\" failures=\"2\" errors=\"1\" skipped=\"0\" time=\"2.000000\""),
            std::string::npos);
  results[1].result.expected = "violates order.race";
  EXPECT_NE(to_junit("run", results).find("; expected violates order.race\">"), std::string::npos);
  EXPECT_NE(xml.find("<testcase classname=\"run\" name=\"a\" time=\"0.500000\"/>"),
            std::string::npos);
  EXPECT_NE(xml.find("<failure message=\"values.bitwise: "), std::string::npos) << xml;
  EXPECT_NE(xml.find("<error message=\"cannot be read: x.yaml:3: wrong\">"), std::string::npos);
  EXPECT_NE(xml.find("adamant run x.yaml --seed 1"), std::string::npos);
}

TEST(Junit, EscapesWhatXmlCannotHold) {
  std::vector const results{make("<&\"\x01\xff\u009b\u202e>", Outcome::pass, true)};
  std::string const xml = to_junit("run", results);
  EXPECT_NE(xml.find("name=\"&lt;&amp;&quot;????&gt;\""), std::string::npos) << xml;
}

}  // namespace
}  // namespace adamant::scenarios
