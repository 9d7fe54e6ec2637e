#include "scenarios/report/html/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "scenarios/report/json.h"
#include "scenarios/report/markup.h"

namespace adamant::scenarios {

namespace {

constexpr std::size_t full_bytes_max = 800'000;  // of a page of at most 1,000,000

/// Those that ended otherwise than expected come first.
std::vector<PageItem const*> in_order(std::vector<PageItem> const& items) {
  std::vector<PageItem const*> order;
  for (PageItem const& item : items) order.push_back(&item);
  std::stable_partition(order.begin(), order.end(), [](PageItem const* item) {
    return item->reported.lacking.empty() && !item->reported.result.met;
  });
  return order;
}

std::string head_of(Page const& page) {
  std::string html =
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n"
      "<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n";
  html += fmt::format("<title>adamant {}: {}</title>\n<style>\n", escaped(page.command),
                      escaped(page.verdict));
  return html + style_sheet() + "</style>\n</head>\n";
}

std::string header_of(Page const& page) {
  std::string html = fmt::format(
      "<header>\n<p class=\"facts\">adamant {}</p>\n<h1 class=\"{}\">{}"
      "</h1>\n",
      escaped(page.command), page.good ? "good" : "bad", escaped(page.verdict));
  std::string facts;
  for (auto const& [what, which] : page.facts)
    facts += fmt::format("{}{} <code>{}</code>", facts.empty() ? "" : ", ", escaped(what),
                         escaped(which));
  if (!facts.empty()) html += "<p class=\"facts\">" + facts + "</p>\n";
  if (!page.ledger.empty())
    html += "<p class=\"facts\"><a href=\"#ledger\">What was searched</a></p>\n";
  if (!page.cut_short.empty())
    html += "<p class=\"alert\" role=\"status\">" + escaped(page.cut_short) + "</p>\n";
  return html + "</header>\n";
}

// ---- the table of all --------------------------------------------------------------------------

std::string laws_in(RunResult const& result) {
  std::vector<std::string_view> ids;
  std::string text;
  for (Violation const& violation : result.violations) {
    std::string_view const id = id_of(violation.law);
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
    ids.push_back(id);
    text += fmt::format("{}<code>{}</code>", text.empty() ? "" : " ", id);
  }
  if (text.empty() && !result.reason.empty()) return escaped(result.reason);
  return text;
}

/// A path breaks between lines at its separators, not within a word.
std::string in_parts(std::string_view path) {
  std::string html;
  for (std::size_t begin = 0; begin < path.size();) {
    std::size_t const end = std::min(path.find_first_of("/_", begin), path.size() - 1) + 1;
    html += escaped(path.substr(begin, end - begin));
    if (end < path.size()) html += "<wbr/>";
    begin = end;
  }
  return html;
}

std::string name_cell(Reported const& reported, std::size_t number) {
  RunResult const& result = reported.result;
  std::string html = escaped(result.name.empty() ? result.file : result.name);
  if (is_finding(reported)) html = fmt::format("<a href=\"#{}\">{}</a>", anchor_of(number), html);
  if (!result.file.empty() && result.file != result.name)
    html += "<small>" + in_parts(result.file) + "</small>";
  return html;
}

std::string row_of(Reported const& reported, std::size_t number) {
  RunResult const& result = reported.result;
  std::string html = "<tr><td>" + name_cell(reported, number) + "</td>";
  if (!reported.lacking.empty())
    return html + "<td>skipped</td><td colspan=\"4\">" + escaped(reported.lacking) + "</td></tr>\n";
  return html +
         fmt::format(
             "<td class=\"{}\">{}</td><td>{}</td><td class=\"l\">{}</td><td class=\"n\">{}</td>"
             "<td class=\"n\">{}</td></tr>\n",
             result.met ? "good" : "bad", name_of(result.outcome), escaped(result.expected),
             laws_in(result), result.operations, duration(result.wall_seconds));
}

std::string index_of(std::vector<PageItem const*> const& items) {
  if (items.size() < 2) return {};
  std::string html =
      "<nav aria-label=\"Scenarios\">\n<div class=\"scroll\" tabindex=\"0\"><table "
      "class=\"index\"><thead><tr><th>scenario</th><th>outcome</th><th>expected</th>"
      "<th>law or reason</th><th class=\"n\">operations</th><th class=\"n\">time</th>"
      "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < items.size(); ++i) html += row_of(items[i]->reported, i);
  return html + "</tbody></table></div>\n</nav>\n";
}

// ---- findings ----------------------------------------------------------------------------------

std::string findings_of(std::vector<PageItem const*> const& items) {
  std::string html;
  std::size_t brief = 0;
  Pictures pictures;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!is_finding(items[i]->reported)) continue;
    Pictures before = pictures;
    std::string full = finding_section(*items[i], i, pictures);
    if (html.size() + full.size() > full_bytes_max) {
      pictures = std::move(before);
      full = finding_in_brief(*items[i], i);
      ++brief;
    }
    html += full;
  }
  if (brief > 0)
    html += fmt::format(
        "<p class=\"note\">{} of these are told in brief, so that the page stays "
        "small; <code>adamant run</code> of one of them with <code>--html</code> "
        "shows it whole.</p>\n",
        brief);
  return html;
}

}  // namespace

std::string to_html(Page const& page) {
  std::vector<PageItem const*> const items = in_order(page.items);
  return head_of(page) + "<body>\n" + header_of(page) + "<main>\n" + index_of(items) +
         findings_of(items) + page.ledger + "</main>\n</body>\n</html>\n";
}

}  // namespace adamant::scenarios
