#include "scenarios/report/html/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "scenarios/report/html/source.h"
#include "scenarios/report/html/testing/markup.h"
#include "scenarios/report/html/testing/pages.h"
#include "scenarios/report/markup.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

Markup read(Page const& page) {
  return read_markup(to_html(page));
}

bool has_text(Markup const& markup, std::string const& name, std::string const& text) {
  auto const all = find_all(markup, name);
  return std::any_of(all.begin(), all.end(), [&](Markup const* each) {
    return each->text.find(text) != std::string::npos;
  });
}

TEST(Page, TellsARaceWithBothAccessesTheirLinesScenarioAndReplay) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  Page const page = page_of({item_of("bugs/step_skips_wait_for_reduction.yaml")});
  Markup const html = read(page);
  auto const cards = find_all(html, [](Markup const& each) { return each.has_class("card"); });
  ASSERT_EQ(cards.size(), 2U);
  EXPECT_NE(cards[0]->text.find("mean_kernel writes"), std::string::npos);
  EXPECT_NE(cards[1]->text.find("adam_kernel reads"), std::string::npos);
  for (Markup const* const card : cards) {
    for (char const* const what : {"at", "enqueued at", "allocated at"})
      EXPECT_TRUE(has_text(*card, "dt", what)) << card->text;
    EXPECT_TRUE(has_text(*card, "code", ".cu:")) << card->text;
  }
  EXPECT_TRUE(has_text(html, "p", "Missing: no event recorded on stream `comm`"));
  EXPECT_EQ(find_all(html, "figure").size(), 1U);
  EXPECT_TRUE(has_text(html, "pre", "adamant run 'bugs/step_skips"));
  EXPECT_TRUE(has_text(html, "pre", "bug: step_skips_wait_for_reduction"));
  EXPECT_TRUE(find_all(html, "nav").empty()) << "one scenario needs no table of scenarios";
}

TEST(Page, TellsTheLinesOfBothCallsInWhichRanksDiffer) {
  PageItem const item = item_of("bugs/parameters_swapped_on_one_rank.yaml");
  Markup const html = read(page_of({item}));
  Violation const& differ = item.reported.result.violations.front();
  ASSERT_EQ(differ.law, Law::order_collective);
  ASSERT_EQ(differ.related.size(), 1U);
  for (Location const* const at : {&differ.at, &differ.related.front().at})
    EXPECT_TRUE(at->file.starts_with("real/")) << at->file;
  EXPECT_TRUE(has_text(html, "dt", "called by rank"));
}

TEST(Page, ShowsTheSourceAtTheLinesOfAccesses) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  PageItem const item = item_of("bugs/step_skips_wait_for_reduction.yaml");
  Access const& access = item.reported.result.violations.front().accesses.front();
  Location const& at = access.at.known() ? access.at : access.enqueued_at;
  std::string const line = source_at(at);
  EXPECT_GT(line.size(), 8U) << at.file << ":" << at.line;
  Markup const html = read(page_of({item}));
  EXPECT_TRUE(has_text(html, "pre", line));
}

TEST(Page, PassesOverLinesThatCannotBeRead) {
  EXPECT_EQ(source_at({.file = "real/engine.h", .line = 1'000'000}), "");
  EXPECT_EQ(source_at({.file = "no/such.h", .line = 1}), "");
  EXPECT_EQ(source_at({.file = "/etc/passwd", .line = 1}), "") << "it is no source";
  PageItem item = item_of("bugs/step_skips_wait_for_reduction.yaml");
  item.reported.result.violations.resize(1);
  item.reported.result.warnings.clear();
  for (Access& access : item.reported.result.violations[0].accesses)
    access.at = access.enqueued_at = access.captured_at = access.allocated_at =
        access.freed_at = {.file = "no/such.h", .line = 1};
  Markup const html = read(page_of({item}));
  EXPECT_TRUE(find_all(html, [](Markup const& each) { return each.has_class("src"); }).empty());
}

TEST(Page, LinksToTheScript) {
  PageItem item = plain_item("a", false);
  item.script = "found/a.py";
  Markup const html = read(page_of({item}));
  auto const links = find_all(html, "a");
  EXPECT_TRUE(std::ranges::any_of(
      links, [](Markup const* each) { return (*each)["href"] == "found/a.py"; }));
}

TEST(Page, SaysOfAFileThatCannotBeReadWhyAndNoMore) {
  PageItem item = plain_item("a.yaml", false);
  item.reported.result.message = "a.yaml:3: world: expected a map";
  Markup const html = read(page_of({item}));
  EXPECT_TRUE(has_text(html, "pre", "expected a map"));
  EXPECT_FALSE(has_text(html, "p", "digest"));
}

TEST(Page, SaysWhichElementsAreWrong) {
  Markup const html = read(page_of({item_of("bugs/mean_not_divided.yaml")}));
  EXPECT_TRUE(has_text(html, "p", "Elements 0"));
}

// What is read first without scrolling aside: the law stands before names, facts and times.
TEST(Page, ShowsTheLawFirstOnAPhone) {
  Markup const html = read(page_of({item_of("bugs/areal_1468.yaml"), plain_item("b", true)}));
  auto const cells = find_all(html, [](Markup const& each) { return each.has_class("l"); });
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_TRUE(has_text(*cells[0], "code", "checkpoint.roundtrip"));
  std::string const rules = find_all(html, "style").front()->text;
  std::string const phone = rules.substr(rules.find("@media(max-width:600px)"));
  EXPECT_NE(phone.find(".index td.l{order:-1"), std::string::npos);
  EXPECT_NE(phone.find("section>article{order:1}"), std::string::npos);
}

TEST(Page, TellsWhereAGraphCapturedWhatUsesFreedMemory) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  PageItem const item = item_of("bugs/graph_buffers_move.yaml");
  Violation const& stale = item.reported.result.violations.front();
  ASSERT_EQ(stale.law, Law::graph_pointer);
  EXPECT_TRUE(stale.accesses.front().captured_at.file.starts_with("real/"));
  EXPECT_TRUE(has_text(read(page_of({item})), "dt", "captured at"));
}

TEST(Page, ShowsWrongValuesInBothNotationsWithOnePictureForTheirMoment) {
  PageItem const item = item_of("bugs/areal_1468.yaml");
  ASSERT_EQ(item.reported.result.violations.size(), 2U);
  ASSERT_EQ(item.scenes.size(), 2U);
  EXPECT_FALSE(item.scenes[1].has_value()) << "the first one's picture shows it";
  Markup const html = read(page_of({item}));
  auto const tables = find_all(html, [](Markup const& each) { return each.has_class("values"); });
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(find_all(*tables[0], "tbody").size(), 2U);
  for (char const* const cell : {"0x1.053338p-2", "0.255078197", "0x1.aa674cp-8", "0.00650640111"})
    EXPECT_TRUE(has_text(*tables[0], "td", cell)) << cell;
  EXPECT_FALSE(find_all(*tables[0], "mark").empty()) << "digits that differ";
  EXPECT_TRUE(has_text(*tables[0], "td", "1\u00A0048\u00A0746\u00A0396 ulp"));
  EXPECT_EQ(find_all(html, "svg").size(), 1U);
}

TEST(Page, TellsSidesThatAreNoNumbersAsWords) {
  PageItem item = item_of("bugs/te_2795.yaml");
  item.reported.result.violations.resize(1);
  Violation& violation = item.reported.result.violations[0];
  violation = {.law = Law::checkpoint_roundtrip, .breach = Breach::not_loaded, .reason = "why"};
  Markup const html = read(page_of({item}));
  EXPECT_TRUE(find_all(html, "table").empty());
  EXPECT_TRUE(has_text(html, "dd", "what was saved"));
}

TEST(Page, SaysWhyThereIsNoPicture) {
  PageItem item = item_of("bugs/te_2795.yaml");
  item.scenes.clear();
  item.reported.result.engine = "torch";
  EXPECT_TRUE(has_text(read(page_of({item})), "p", "engine torch has no simulated time"));
}

TEST(Page, TellsOfAThreadThatIsNoRank) {
  PageItem item = plain_item("a", false);
  item.reported.result.violations = {
      {.law = Law::error_thread, .breach = Breach::foreign_thread, .operation = -1, .rank = -1}};
  Markup const html = read(page_of({item}));
  EXPECT_TRUE(has_text(html, "h3", "error.thread no rank"));
  EXPECT_FALSE(has_text(html, "section", "-1"));
}

TEST(Page, EscapesAllThatIsForeign) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  PageItem item = item_of("bugs/step_skips_wait_for_reduction.yaml");
  std::string const foreign = "</pre><script>alert(\"&\")</script>\x01\xff";
  RunResult& result = item.reported.result;
  result.name = result.file = result.engine = result.reason = result.message = foreign;
  result.notes = {foreign};
  result.violations[0].text = result.violations[0].missing = foreign;
  result.violations[0].accesses[0].buffer = result.violations[0].accesses[0].operation = foreign;
  result.violations[0].accesses[0].at.file = result.violations[0].accesses[0].at.function = foreign;
  item.reported.replay = item.scenario = foreign;
  Page page = page_of({item, plain_item(foreign, false)});
  page.verdict = page.cut_short = foreign;
  Markup const html = read(page);
  EXPECT_TRUE(find_all(html, "script").empty());
  EXPECT_TRUE(has_text(html, "h1", "</pre><script>alert(\"&\")</script>\uFFFD\uFFFD"));
}

TEST(Page, EscapesWhatIsNoText) {
  EXPECT_EQ(escaped("a<b>&\"c\"\n\t"), "a&lt;b&gt;&amp;&quot;c&quot;\n\t");
  EXPECT_EQ(escaped("\u00e4\u20ac\U0001F600"), "\u00e4\u20ac\U0001F600");
  EXPECT_EQ(escaped("\xc0\xaf \xed\xa0\x80 \xf5 \xe2\x82"),
            "\uFFFD\uFFFD \uFFFD\uFFFD\uFFFD \uFFFD \uFFFD\uFFFD");
}

TEST(Page, HasFailuresFirstAndThenTheOrderGiven) {
  Page page = page_of({plain_item("a", true), plain_item("b", false), plain_item("c", true),
                       plain_item("d", false)});
  PageItem skipped = plain_item("e", true);
  skipped.reported.lacking = "no GPU";
  page.items.push_back(skipped);
  Markup const html = read(page);
  std::string names;
  for (Markup const* const row : find_all(*find_all(html, "tbody").front(), "tr"))
    names += row->children.front().text;
  EXPECT_EQ(names, "bdace");
  EXPECT_TRUE(has_text(html, "td", "no GPU"));
  EXPECT_EQ(find_all(html, "section").size(), 2U) << "what passed has a row alone";
}

TEST(Page, BreaksPathsAtTheirSeparators) {
  PageItem item = plain_item("a", true);
  item.reported.result.file = "deep/two_steps.yaml";
  std::string const html = to_html(page_of({item, plain_item("b", true)}));
  EXPECT_NE(html.find("<small>deep/<wbr/>two_<wbr/>steps.yaml</small>"), std::string::npos);
}

TEST(Page, LinksLeadSomewhere) {
  PageItem const item = item_of("bugs/te_2795.yaml");
  Markup const html = read(page_of({item, item}));  // the second picture is a link to the first
  std::vector<std::string> ids;
  for (Markup const* const each : find_all(html, [](Markup const& m) { return !m["id"].empty(); }))
    ids.push_back((*each)["id"]);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end()) << "an id is there once";
  EXPECT_EQ(find_all(html, "svg").size(), 1U);
  for (Markup const* const link : find_all(html, "a")) {
    std::string const target = (*link)["href"];
    ASSERT_EQ(target.substr(0, 1), "#");
    EXPECT_TRUE(std::binary_search(ids.begin(), ids.end(), target.substr(1))) << target;
  }
}

TEST(Page, NeedsNothingFromElsewhere) {
  std::string const html = to_html(page_of({item_of("bugs/te_2795.yaml")}));
  for (char const* const word : {"<script", "<link", "<img", "src=", "url(", "@import", "<iframe"})
    EXPECT_EQ(html.find(word), std::string::npos) << word;
}

TEST(Page, HasAtMostAMegabyteHoweverManyFail) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  PageItem const item = item_of("bugs/step_skips_wait_for_reduction.yaml");
  std::vector<PageItem> items;
  for (int i = 0; i < 300; ++i) {
    items.push_back(item);
    items.back().scenes.front()->body += std::string(1 + i, ' ');  // no two are alike
  }
  std::string const html = to_html(page_of(std::move(items)));
  EXPECT_LT(html.size(), 1'000'000U);
  EXPECT_NE(html.find("are told in brief"), std::string::npos);
  EXPECT_EQ(find_all(read_markup(html), "section").size(), 300U);
}

// ---- colours -----------------------------------------------------------------------------------

/// Source: WCAG 2.2, relative luminance.
double luminance(std::string hex) {
  if (hex.size() == 3) hex = {hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]};
  double const weights[] = {0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    double const c = std::stoi(hex.substr(2 * i, 2), nullptr, 16) / 255.0;
    sum += weights[i] * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(std::string_view rule, std::string const& text, std::string const& ground) {
  auto const color = [&](std::string const& name) {
    std::smatch match;
    std::string const all(rule);
    EXPECT_TRUE(std::regex_search(all, match, std::regex("--" + name + ":#([0-9a-f]+)"))) << name;
    return luminance(match[1]);
  };
  double const a = color(text);
  double const b = color(ground);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

TEST(Page, IsReadableOnLightAndDarkScreens) {
  std::string const sheet = style_sheet();
  auto const dark = sheet.find("prefers-color-scheme:dark");
  ASSERT_NE(dark, std::string::npos);
  for (std::string const& colors : {sheet.substr(0, dark), sheet.substr(dark)}) {
    for (char const* const text : {"text", "muted", "link", "bad", "good", "warn"})
      for (char const* const ground : {"page", "card"})
        EXPECT_GE(contrast(colors, text, ground), 4.5) << text << " on " << ground;
    for (char const* const ground : {"kernel", "copy", "group", "call", "span", "bad-fill"})
      EXPECT_GE(contrast(colors, "text", ground), 4.5) << "text on " << ground;
    EXPECT_GE(contrast(colors, "page", "bad"), 4.5) << "numbers of accesses";
  }
}

TEST(Page, WritesNumbersForPeople) {
  EXPECT_EQ(grouped(7), "7");
  EXPECT_EQ(grouped(1234567), "1\u00A0234\u00A0567");
  EXPECT_EQ(duration(0), "");
  EXPECT_EQ(duration(0.0098), "9.8 ms");
  EXPECT_EQ(duration(59.94), "59.9 s");
  EXPECT_EQ(duration(185), "3 min 5 s");
}

}  // namespace
}  // namespace adamant::scenarios
