// The page that --html writes, by the commands that have it.
#include <gtest/gtest.h>

#include <string>

#include "scenarios/program/testing/called_program.h"
#include "scenarios/report/html/testing/markup.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

class HtmlTest : public ProgramTest {
 protected:
  Markup page() const { return read_markup(read("page.html")); }

  std::string heading() const { return find_all(page(), "h1").front()->text; }

  void write_race(std::string const& name) const {
    write(name, passing_scenario("seed: 7\nbug: step_skips_wait_for_reduction\n"));
  }
};

TEST_F(HtmlTest, OfARunHasARowForWhatPassedAndASectionForWhatFailed) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  write("a.yaml", passing_scenario());
  write_race("b.yaml");
  EXPECT_EQ(call("run a.yaml b.yaml --html page.html").status, 1);
  EXPECT_EQ(heading(), "2 scenarios, 1 not as expected");
  Markup const html = page();
  EXPECT_EQ(find_all(html, "section").size(), 1U);
  EXPECT_GE(find_all(html, "svg").size(), 1U);
  auto const rows = find_all(*find_all(html, "tbody").front(), "tr");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NE(rows[0]->text.find("b.yaml"), std::string::npos) << "failures first";
  EXPECT_NE(rows[0]->text.find("order.race"), std::string::npos);
}

TEST_F(HtmlTest, IsTheSameButForDurations) {
  write_race("b.yaml");
  call("run b.yaml --html one.html");
  call("run b.yaml --html two.html --jobs 1");
  EXPECT_EQ(read("one.html"), read("two.html"));
}

TEST_F(HtmlTest, IsWrittenWhereSomethingCannotBeRead) {
  write("a.yaml", "adamant: 1\nname: <&\n");
  EXPECT_EQ(call("run a.yaml --html page.html").status, 2);
  EXPECT_EQ(find_all(page(), "section").size(), 1U);
}

TEST_F(HtmlTest, IsRefusedBeforeAnyWorkWhereItCannotBeWritten) {
  write("a.yaml", passing_scenario());
  Called const called = call("run a.yaml --html missing/page.html");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("missing/page.html: cannot be written"), std::string::npos)
      << called.err;
  EXPECT_EQ(called.out, "");
  EXPECT_EQ(call("run a.yaml --html x --json ./x").status, 2);
  EXPECT_EQ(call("bench --html x").status, 2);
}

TEST_F(HtmlTest, SaysThatItWasInterrupted) {
  write("a.yaml", passing_scenario());
  write("endless.yaml", endless_scenario());
  Called const called = shell(
      "PROGRAM run a.yaml endless.yaml --jobs 2 --html page.html & pid=$!; sleep 1; "
      "kill -INT $pid; wait $pid");
  EXPECT_EQ(called.status, 130) << called.err;
  Markup const html = page();
  auto const alerts = find_all(html, [](Markup const& each) { return each.has_class("alert"); });
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts.front()->text, "interrupted: 1 of 2 scenarios finished");
}

TEST_F(HtmlTest, OfASearchHasItsFindingsAndWhatWasSearched) {
  Called const called = call("fuzz --cases 30 --seed 1 --bug canary --out found --html page.html");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_EQ(heading(), "1 distinct failure in 30 cases");
  Markup const html = page();
  EXPECT_EQ(find_all(html, "figure").size(), 2U) << "the values, and the curve of findings";
  EXPECT_NE(html.text.find("found/canary.yaml"), std::string::npos);
  EXPECT_NE(html.text.find("The chance that one more case breaks a law"), std::string::npos);
}

TEST_F(HtmlTest, OfACampaignIsThatOfItsMerge) {
  std::string const search = "fuzz --cases 40 --seed 1 --campaign all --shard ";
  EXPECT_EQ(call(search + "0/2 --html page.html").status, 0);
  EXPECT_EQ(heading(), "nothing found in 20 cases");
  EXPECT_EQ(call(search + "1/2").status, 0);
  EXPECT_EQ(call("merge all --html page.html").status, 0);
  EXPECT_EQ(heading(), "nothing found in 40 cases");
  EXPECT_NE(page().text.find("in 2 of 2 shards"), std::string::npos);
}

TEST_F(HtmlTest, OfAMinimisationHasWhatItCameTo) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  write_race("big.yaml");
  EXPECT_EQ(call("minimize big.yaml -o small.yaml --html page.html").status, 0);
  EXPECT_EQ(heading(), "big.yaml: minimised to 2 operations");
  EXPECT_EQ(find_all(page(), "figure").size(), 1U);
  write("good.yaml", passing_scenario());
  EXPECT_EQ(call("minimize good.yaml -o small.yaml --html page.html").status, 1);
  EXPECT_NE(heading().find("does not fail"), std::string::npos);
}

TEST_F(HtmlTest, OfAHuntHasWhatItsBugsWereFoundBy) {
  EXPECT_EQ(call("hunt te_2795 --seed 1 --searches 1 --html page.html").status, 0);
  EXPECT_EQ(heading(), "2 of 2 bugs found, 1 search each");
  Markup const html = page();
  EXPECT_NE(html.text.find("checkpoint.roundtrip"), std::string::npos);
  EXPECT_EQ(find_all(html, "section").size(), 2U) << "the canary, too";
  EXPECT_EQ(call("hunt --mutants --html page.html").status, 2);
}

}  // namespace
}  // namespace adamant::scenarios
