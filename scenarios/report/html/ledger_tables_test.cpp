#include "scenarios/report/html/ledger_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/report/html/testing/markup.h"
#include "scenarios/report/html/testing/pages.h"

namespace adamant::scenarios {
namespace {

std::vector<std::string> cells_of_row(Markup const& html, std::string const& first) {
  for (Markup const* const row : find_all(html, "tr")) {
    if (row->children.empty() || row->children.front().text != first) continue;
    std::vector<std::string> cells;
    for (Markup const& cell : row->children) cells.push_back(cell.text);
    return cells;
  }
  return {};
}

TEST(LedgerTables, HaveLawsDepthsMarksAndFeatures) {
  Markup const html = read_markup(ledger_section(small_ledger()));
  auto const race = cells_of_row(html, "order.race");
  ASSERT_EQ(race.size(), 4U);
  EXPECT_EQ(race[1], "1");
  EXPECT_EQ(cells_of_row(html, "values.bitwise")[1], "0");
  EXPECT_EQ(cells_of_row(html, "3")[1], "1") << "schedules of depth 3";
  EXPECT_EQ(cells_of_row(html, "a sum went by a tree")[1], "1");
  EXPECT_EQ(cells_of_row(html, "a host polled in vain")[1], "never");
  EXPECT_FALSE(find_all(html, "details").empty()) << "pairs that never occurred";
  EXPECT_NE(html.text.find("values depended on the schedule in 1."), std::string::npos);
}

TEST(LedgerTables, HaveACurveWithAStepForEachFinding) {
  Markup const html = read_markup(ledger_section(small_ledger()));
  auto const circles = find_all(html, "circle");
  ASSERT_EQ(circles.size(), 1U);
  EXPECT_EQ(circles.front()->text, "case 2");
  Markup const curve = read_markup(step_curve({40, 10, 10}, 100, "<&"));
  EXPECT_EQ(find_all(curve, "circle").size(), 3U);
  EXPECT_EQ((*find_all(curve, "svg").front())["aria-label"], "<&");
}

TEST(LedgerTables, OfNoCasesSaySo) {
  Markup const html = read_markup(ledger_section(ledger_of({}, {})));
  EXPECT_TRUE(find_all(html, "table").empty());
  EXPECT_NE(html.text.find("0 cases"), std::string::npos);
}

}  // namespace
}  // namespace adamant::scenarios
