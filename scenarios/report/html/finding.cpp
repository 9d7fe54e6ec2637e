#include "scenarios/report/html/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "scenarios/report/html/source.h"
#include "scenarios/report/json.h"
#include "scenarios/report/markup.h"
#include "scenarios/report/trace/marks.h"
#include "scenarios/report/words/digits.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {

namespace {

constexpr std::size_t violations_max = 6;
constexpr std::size_t scenario_bytes_max = 20'000;

std::string code(std::string_view text) {
  return "<code>" + escaped(text) + "</code>";
}

std::string paragraph(std::string_view classes, std::string const& html) {
  if (html.empty()) return {};
  return fmt::format("<p class=\"{}\">{}</p>\n", classes, html);
}

// ---- lines of the source -----------------------------------------------------------------------

std::string place_of(Location const& location) {
  return code(fmt::format("{}:{}", location.file, location.line));
}

std::string entry(std::string_view term, std::string const& html) {
  return html.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", term, html);
}

std::string entry(std::string_view term, Location const& location) {
  if (!location.known()) return {};
  std::string html = place_of(location);
  if (!location.function.empty()) html += " in " + code(location.function);
  std::string callers;
  for (Location const& caller : location.callers)
    callers += (callers.empty() ? "from " : ", ") + place_of(caller);
  if (!callers.empty()) html += "<small>" + callers + "</small>";
  if (std::string const text = source_at(location); !text.empty())
    html += "<pre class=\"src\">" + escaped(text) + "</pre>";
  return entry(term, html);
}

std::string card_of(Access const& access, std::string_view number) {
  return fmt::format(
             "<div class=\"card\"><h4><span class=\"n\">{}</span> {} <em>{}s</em></h4>\n<dl>\n",
             number, code(access.operation), escaped(access.kind)) +
         entry("on", fmt::format("rank {}, stream {}", access.rank, code(access.stream))) +
         entry("bytes",
               fmt::format("[{}, {}) of {}", access.begin, access.end, escaped(access.buffer))) +
         entry("at", access.at) + entry("enqueued at", access.enqueued_at) +
         entry("captured at", access.captured_at) + entry("allocated at", access.allocated_at) +
         entry("freed at", access.freed_at) + "</dl></div>\n";
}

std::string accesses_of(Violation const& violation) {
  std::string cards;
  for (std::size_t i = 0; i < violation.accesses.size(); ++i)
    cards += card_of(violation.accesses[i], fmt::format("{}", i + 1));
  std::string html = cards.empty() ? "" : "<div class=\"cards\">\n" + cards + "</div>\n";
  if (!violation.missing.empty())
    html += paragraph("missing", "<b>Missing:</b> " + escaped(violation.missing));
  return html;
}

/// The calls that a violation is about.
std::string calls_of(Violation const& violation) {
  std::string entries;
  for (Waiting const& waiting : violation.waiting)
    entries += entry(fmt::format("rank {} waits at", waiting.rank), waiting.at);
  if (entries.empty()) entries = entry("at", violation.at);
  for (Related const& related : violation.related)
    entries +=
        entry(fmt::format("{} by rank {} at", escaped(related.what), related.rank), related.at);
  return entries.empty() ? "" : "<dl>\n" + entries + "</dl>\n";
}

// ---- values ------------------------------------------------------------------------------------

/// Are both sides numbers? Then they are compared digit by digit.
bool has_numbers(Violation const& violation) {
  Sides const sides = sides_in_words(violation);
  return !sides.expected_decimal.empty() && !sides.actual_decimal.empty();
}

std::string code(MarkedDigits const& digits) {
  std::string html;
  for (auto const& [part, differs] : digits.pieces())
    html += differs ? "<mark>" + escaped(part) + "</mark>" : escaped(part);
  return "<code>" + html + "</code>";
}

std::string cells_of(std::string_view side, MarkedDigits const& hexadecimal,
                     MarkedDigits const& decimal) {
  return fmt::format("<th scope=\"row\">{}</th><td>{}</td><td>{}</td>", side, code(hexadecimal),
                     code(decimal));
}

std::string rows_of(Violation const& violation) {
  Sides const sides = sides_in_words(violation);
  FacingDigits const hexadecimal = facing(sides.expected, sides.actual);
  FacingDigits const decimal = facing(sides.expected_decimal, sides.actual_decimal);
  std::string where = subject_in_words(violation);
  if (violation.index >= 0) where += fmt::format("[{}]", violation.index);
  std::string const apart = violation.ulp ? grouped(*violation.ulp) + " ulp" : std::string();
  return fmt::format(
      "<tbody><tr><th scope=\"rowgroup\" rowspan=\"2\">{}</th>{}"
      "<td rowspan=\"2\">{}</td></tr>\n<tr class=\"actual\">{}</tr></tbody>\n",
      where.empty() ? "" : code(where),
      cells_of("expected", hexadecimal.expected, decimal.expected), apart,
      cells_of("actual", hexadecimal.actual, decimal.actual));
}

std::string sides_of(Violation const& violation) {
  Sides const sides = sides_in_words(violation);
  auto const [expected, actual] = facing(sides.expected, sides.actual);
  bool const marked = actual.any();
  std::string const entries = entry("expected", marked ? code(expected) : escaped(sides.expected)) +
                              entry("actual", marked ? code(actual) : escaped(sides.actual));
  return entries.empty() ? "" : "<dl>\n" + entries + "</dl>\n";
}

std::string values_of(std::span<Violation const> moment) {
  if (!has_numbers(moment.front())) return sides_of(moment.front());
  std::string rows;
  for (Violation const& violation : moment) rows += rows_of(violation);
  return "<div class=\"scroll\" tabindex=\"0\"><table class=\"values\"><thead><tr><th>where</th>"
         "<th>side</th><th>hexadecimal</th><th>decimal</th><th>apart</th></tr></thead>\n" +
         rows + "</table></div>\n";
}

// ---- a moment ----------------------------------------------------------------------------------

/// Wrong values that were seen together.
bool is_same_moment(Violation const& a, Violation const& b) {
  return a.accesses.empty() && b.accesses.empty() && has_numbers(a) && has_numbers(b) &&
         a.law == b.law && a.breach == b.breach && a.operation == b.operation && a.rank == b.rank &&
         a.text == b.text;
}

std::size_t length_of_moment(std::span<Violation const> violations) {
  std::size_t length = 1;
  while (length < violations.size() && is_same_moment(violations[0], violations[length])) ++length;
  return length;
}

std::string figure_of(Scene const& scene, std::string const& id, Pictures& pictures) {
  auto const [known, is_new] = pictures.try_emplace(scene.body, id);
  if (!is_new)
    return paragraph("note", fmt::format("The time around it is the picture <a href=\"#{}\">that "
                                         "is shown above</a>.",
                                         known->second));
  return fmt::format(
      "<figure id=\"{}\"><div class=\"scroll\" tabindex=\"0\" aria-label=\"{}\">{}</div>"
      "<figcaption>{}Time from left to right, in order and not to scale; +n: so many events are "
      "left out.</figcaption></figure>\n",
      id, escaped(scene.title), to_svg(scene, id), scene.key);
}

std::string heading_of(std::span<Violation const> moment, std::string_view tag) {
  Violation const& first = moment.front();
  std::string const place = moment.size() == 1 ? place_in_words(first) : moment_in_words(first);
  return fmt::format("<h3>{}<code class=\"law\">{}</code> {}</h3>\n", tag, id_of(first.law),
                     escaped(place));
}

std::string moment_of(std::span<Violation const> moment, std::string_view tag) {
  Violation const& first = moment.front();
  std::string html = heading_of(moment, tag);
  html += paragraph("what", escaped(message_of(first)));
  if (!first.thrown.traceback.empty())
    html += "<pre>" + escaped(first.thrown.traceback) + "</pre>\n";
  html += values_of(moment) + accesses_of(first) + calls_of(first);
  for (Violation const& violation : moment)
    if (std::string const elements = elements_in_words(violation); !elements.empty())
      html += paragraph("note", "Elements " + escaped(elements) + ".");
  for (Violation const& violation : moment)
    if (std::string const again = repetitions_in_words(violation); !again.empty())
      html += paragraph("note", "Found " + again + ".");
  return html;
}

std::string why_no_picture(RunResult const& result) {
  if (!has_simulated_time(result.engine))
    return paragraph("note", fmt::format("There is no picture of the time around it: engine {} has "
                                         "no simulated time.",
                                         escaped(result.engine)));
  return paragraph("note",
                   "There is no picture of the time around it: a repetition with the same choices "
                   "showed nothing of it.");
}

std::string violations_of(PageItem const& item, std::string const& anchor, Pictures& pictures) {
  RunResult const& result = item.reported.result;
  std::span<Violation const> const all(result.violations);
  std::size_t const shown = std::min(all.size(), violations_max);
  std::string html;
  bool pictured = false;
  for (std::size_t i = 0; i < shown;) {
    std::size_t const length = length_of_moment(all.subspan(i, shown - i));
    html += "<article>\n" + moment_of(all.subspan(i, length), "");
    for (std::size_t j = i; j < i + length && j < item.scenes.size(); ++j) {
      if (!item.scenes[j]) continue;
      html += figure_of(*item.scenes[j], fmt::format("{}-{}", anchor, j), pictures);
      pictured = true;
    }
    html += "</article>\n";
    i += length;
  }
  if (shown < all.size())
    html += paragraph("note", fmt::format("And {} more, which <code>--verbose</code> prints.",
                                          all.size() - shown));
  if (!all.empty() && !pictured) html += why_no_picture(result);
  return html;
}

std::string warnings_of(RunResult const& result) {
  std::string html;
  for (Violation const& warning : result.warnings)
    html += "<article>\n" + moment_of({&warning, 1}, "<span class=\"tag\">warning</span> ") +
            "</article>\n";
  return html;
}

// ---- the whole ---------------------------------------------------------------------------------

std::string outcome_of(RunResult const& result) {
  std::string html = fmt::format("<span class=\"badge {}\">{}</span> ", result.met ? "good" : "bad",
                                 name_of(result.outcome));
  html += result.met ? "as expected" : "expected: " + escaped(result.expected);
  if (!result.reason.empty()) html += "; " + escaped(result.reason);
  return html;
}

std::string facts_of(RunResult const& result) {
  return fmt::format("engine {}, seed {}, {}, {}, digest {}", code(result.engine),
                     code(std::to_string(result.seed)),
                     counted(static_cast<std::uint64_t>(result.operations), "operation"),
                     counted(static_cast<std::uint64_t>(result.schedules), "schedule"),
                     code(fmt::format("{:016x}", result.digest)));
}

/// A file that cannot be read has nothing to tell but why.
bool was_run(RunResult const& result) {
  return !result.engine.empty();
}

std::string heading_of(PageItem const& item, std::size_t number) {
  RunResult const& result = item.reported.result;
  std::string html = fmt::format("<h2 id=\"{}\">{}</h2>\n", anchor_of(number),
                                 escaped(result.name.empty() ? result.file : result.name));
  return html + paragraph("facts", outcome_of(result));
}

std::string replay_of(PageItem const& item) {
  std::string html;
  if (!item.reported.replay.empty())
    html += "<h3>Replay</h3>\n<pre>" + escaped(item.reported.replay) + "</pre>\n";
  if (item.script.empty()) return html;
  return html + paragraph("script", fmt::format("<a href=\"{0}\">{0}</a> shows it without adamant",
                                                escaped(item.script)));
}

std::string scenario_of(PageItem const& item) {
  if (item.scenario.empty()) return {};
  std::string_view const shown = std::string_view(item.scenario).substr(0, scenario_bytes_max);
  std::string html =
      "<details open=\"open\"><summary>Scenario</summary>\n<pre>" + escaped(shown) + "</pre>\n";
  if (shown.size() < item.scenario.size())
    html += paragraph(
        "note", fmt::format("{} bytes more are in its file.", item.scenario.size() - shown.size()));
  return html + "</details>\n";
}

}  // namespace

std::vector<std::optional<Scene>> draw_scenes(RunResult const& result) {
  std::vector<std::optional<Scene>> scenes;
  std::set<std::vector<int>> drawn;
  for (Violation const& violation : result.violations) {
    if (scenes.size() == violations_max) break;
    bool const is_new = drawn.insert(events_of(violation, result.timeline)).second;
    scenes.push_back(is_new ? draw_scene(result.timeline, violation) : std::nullopt);
  }
  return scenes;
}

bool is_finding(Reported const& reported) {
  RunResult const& result = reported.result;
  bool const told = !result.met || !result.violations.empty() || !result.warnings.empty();
  return reported.lacking.empty() && told;
}

std::string anchor_of(std::size_t number) {
  return fmt::format("f{}", number + 1);
}

std::string finding_section(PageItem const& item, std::size_t number, Pictures& pictures) {
  RunResult const& result = item.reported.result;
  std::string html = "<section>\n" + heading_of(item, number);
  if (!result.file.empty()) html += paragraph("facts", code(result.file));
  if (was_run(result)) html += paragraph("facts", facts_of(result));
  if (std::string const message = message_of(result); !message.empty())
    html += "<pre>" + escaped(message) + "</pre>\n";
  html += violations_of(item, anchor_of(number), pictures) + warnings_of(result);
  for (std::string const& note : result.notes) html += paragraph("note", "Note: " + escaped(note));
  return html + replay_of(item) + scenario_of(item) + "</section>\n";
}

std::string finding_in_brief(PageItem const& item, std::size_t number) {
  RunResult const& result = item.reported.result;
  std::string html = "<section>\n" + heading_of(item, number);
  if (!result.violations.empty())
    html += paragraph("what", escaped(in_one_line(result.violations.front())));
  return html + replay_of(item) + "</section>\n";
}

}  // namespace adamant::scenarios
