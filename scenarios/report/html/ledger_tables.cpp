#include "scenarios/report/html/ledger_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "scenarios/campaign/ledger.h"
#include "scenarios/report/markup.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {

namespace {

constexpr int width = 560;
constexpr int height = 150;
constexpr int left = 44;
constexpr int bottom = 124;
constexpr int top = 14;
constexpr int right = width - 20;

using Json = StrictJson;

constexpr int bar_width = 160;
constexpr double least_chance = 1e-6;  // that a bar of chances shows
constexpr std::size_t never_shown_max = 300;

std::string bar(double part) {
  auto const filled = static_cast<int>(std::lround(bar_width * std::clamp(part, 0.0, 1.0)));
  return fmt::format(
      "<td><svg class=\"bar\" width=\"{0}\" height=\"10\" viewBox=\"0 0 {0} 10\" "
      "aria-hidden=\"true\"><rect width=\"{1}\" height=\"10\"/></svg></td>",
      bar_width, filled);
}

/// Of a chance, by its logarithm: a tenth of the chance is always so much shorter.
std::string chance_bar(double chance) {
  return bar(1 - std::log10(std::max(chance, least_chance)) / std::log10(least_chance));
}

std::string cell(std::string const& text) {
  return "<td>" + text + "</td>";
}
std::string number_cell(std::string const& text) {
  return "<td class=\"n\">" + text + "</td>";
}

/// Names of columns; those of numbers begin with `#`.
std::string table(std::vector<std::string_view> const& columns, std::string const& rows) {
  std::string html = "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>";
  for (std::string_view const column : columns)
    html += column.starts_with("#")
                ? fmt::format("<th class=\"n\">{}</th>", escaped(column.substr(1)))
                : fmt::format("<th>{}</th>", escaped(column));
  return html + "</tr></thead><tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string row(std::string const& cells) {
  return "<tr>" + cells + "</tr>\n";
}

std::string done(Ledger const& ledger) {
  std::string text = fmt::format("{} cases in {} of {}, seed <code>{}</code>, engine {}",
                                 grouped(ledger.tally.cases()), ledger.shards.size(),
                                 counted(ledger.settings.shards, "shard"), ledger.settings.seed,
                                 escaped(ledger.settings.engine));
  if (!ledger.settings.bug.empty())
    text += ", bug <code>" + escaped(ledger.settings.bug) + "</code>";
  using Strategy = Schedule::Strategy;
  if (ledger.has_marks())
    text += fmt::format(
        "; schedules: {} fifo, {} random, {} pct", grouped(ledger.schedules(Strategy::fifo)),
        grouped(ledger.schedules(Strategy::random)), grouped(ledger.schedules(Strategy::pct)));
  std::string const values = describe(ledger.tally.values);
  if (!values.empty()) text += ".</p>\n<p>" + values.substr(0, values.size() - 1);
  return "<p>" + text + ".</p>\n";
}

/// Distinct findings, by the number of the case that showed each.
std::string findings(Ledger const& ledger) {
  std::vector<std::uint64_t> cases;
  for (KeptFinding const& kept : ledger.tally.findings) cases.push_back(kept.finding.case_index);
  if (cases.empty()) return {};
  std::uint64_t last = ledger.tally.cases();
  for (std::uint64_t const number : cases) last = std::max(last, number + 1);
  return "<h3>Findings over the cases</h3>\n" +
         step_curve(std::move(cases), last, "distinct findings by the number of their case");
}

std::string chances(Ledger const& ledger) {
  std::string rows;
  for (LedgerLaw const& law : ledger.laws)
    rows += row(cell("<code>" + escaped(law.id) + "</code>") + number_cell(grouped(law.cases)) +
                number_cell(fmt::format("{:.3g}", law.at_most)) + chance_bar(law.at_most));
  return fmt::format(
             "<h3>The chance that one more case breaks a law</h3>\n"
             "<p class=\"note\">At most this, with {:.0f} % confidence; a bar is full at 1 "
             "and empty at 10<sup>-6</sup>, by logarithm.</p>\n",
             100 * confidence) +
         table({"law", "#broken by", "#at most", ""}, rows);
}

std::string depths(Ledger const& ledger) {
  if (ledger.depths.empty()) return {};
  std::string rows;
  for (LedgerDepth const& depth : ledger.depths)
    rows += row(number_cell(std::to_string(depth.depth)) + number_cell(grouped(depth.schedules)) +
                number_cell(grouped(depth.too_long)) +
                number_cell(fmt::format("{:.3g}", depth.missed_at_most)) +
                chance_bar(depth.missed_at_most) +
                number_cell(fmt::format("{:.3g}", depth.share_at_most)) +
                chance_bar(depth.share_at_most));
  return "<h3>What pct schedules say, by depth</h3>\n" +
         table({"#depth", "#schedules", "#too long", "#one in all cases is missed, at most", "",
                "#share of cases with a missed one, at most", ""},
               rows);
}

std::string counts(std::string_view title, std::string_view what, Json const& counted_by_name,
                   std::uint64_t cases) {
  std::string rows;
  for (auto const& [name, value] : counted_by_name.items()) {
    auto const count = value.get<std::uint64_t>();
    std::string const never = count == 0 ? "<span class=\"tag\">never</span>" : grouped(count);
    double const share = static_cast<double>(count) / static_cast<double>(cases);
    rows += row(cell(escaped(name)) + number_cell(never) +
                number_cell(fmt::format("{:.2f} %", 100 * share)) + bar(share));
  }
  return fmt::format("<h3>{}</h3>\n", title) + table({what, "#cases", "#share", ""}, rows);
}

std::string list_of(std::string const& summary, std::vector<std::string> const& names) {
  if (names.empty()) return {};
  std::string items;
  for (std::size_t i = 0; i < std::min(names.size(), never_shown_max); ++i)
    items += "<li>" + escaped(names[i]) + "</li>\n";
  if (names.size() > never_shown_max)
    items += fmt::format("<li>and {} more</li>\n", names.size() - never_shown_max);
  return fmt::format("<details><summary>{}</summary>\n<ul>\n{}</ul></details>\n", summary, items);
}

std::string pairs(Json const& document) {
  std::uint64_t occurred = 0;
  for (auto const& [name, value] : document.at("pairs").items())
    occurred += std::uint64_t{value.get<std::uint64_t>() > 0};
  auto const never = document.at("never").at("pairs").get<std::vector<std::string>>();
  return fmt::format(
             "<h3>Pairs of features</h3>\n<p>{} of {} pairs that can occur together did."
             "</p>\n",
             grouped(occurred), grouped(document.at("pairs").size())) +
         list_of(fmt::format("{} never reached, of features that both occurred",
                             counted(never.size(), "pair")),
                 never);
}

}  // namespace

std::string ledger_section(Ledger const& ledger) {
  std::string html = "<section>\n<h2 id=\"ledger\">What was searched</h2>\n" + done(ledger);
  std::uint64_t const cases = ledger.tally.cases();
  if (cases == 0) return html + "</section>\n";
  Json const document = to_json(ledger);
  html += findings(ledger) + chances(ledger) + depths(ledger);
  if (ledger.has_marks())
    html += counts("What the simulated hardware did", "what", document.at("marks"), cases);
  return html + counts("Features", "feature", document.at("distribution"), cases) +
         pairs(document) + "</section>\n";
}

std::string step_curve(std::vector<std::uint64_t> events, std::uint64_t last,
                       std::string const& title) {
  std::sort(events.begin(), events.end());
  auto const x = [&](std::uint64_t number) {
    return left + static_cast<double>(right - left) * static_cast<double>(number) /
                      static_cast<double>(last);
  };
  auto const y = [&](std::size_t count) {
    return bottom - static_cast<double>(bottom - top) * static_cast<double>(count) /
                        static_cast<double>(std::max<std::size_t>(events.size(), 1));
  };
  std::string path = fmt::format("M{} {}", left, bottom);
  std::string points;
  for (std::size_t i = 0; i < events.size(); ++i) {
    path += fmt::format("H{:.1f}V{:.1f}", x(events[i]), y(i + 1));
    points +=
        fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3"><title>case {}</title></circle>)",
                    x(events[i]), y(i + 1), events[i]);
  }
  path += fmt::format("H{}", right);
  return fmt::format(
      R"(<figure><div class="scroll" tabindex="0"><svg xmlns="http://www.w3.org/2000/svg" )"
      R"(class="curve" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" )"
      R"(aria-label="{2}"><path class="r" d="M{3} {4}H{5}M{3} {6}H{5}"/><path class="w" d="{7}"/>{8})"
      R"(<text class="g" x="{9}" y="{10}">{11}</text><text class="g" x="{9}" y="{12}">0</text>)"
      R"(<text x="{3}" y="{13}" class="g s">case 0</text>)"
      R"(<text x="{5}" y="{13}" class="g e">{14}</text></svg></div></figure>)"
      "\n",
      width, height, escaped(title), left, bottom, right, top, path, points, left - 14, top + 4,
      events.size(), bottom + 4, bottom + 18, grouped(last));
}

}  // namespace adamant::scenarios
