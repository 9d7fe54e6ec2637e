#include "scenarios/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "scenarios/language/plain_text.h"
#include "scenarios/report/json.h"
#include "scenarios/report/memory_text.h"
#include "scenarios/report/words/digits.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {

namespace {

constexpr std::size_t violations_shown_max = 5;
constexpr int traceback_lines_shown = 4;

/// Both sides in one notation.
FacingDigits facing_printable(std::string const& expected, std::string const& actual) {
  return facing(printable(expected), printable(actual));
}

std::string painted(MarkedDigits const& digits, Color color, Style const& style) {
  std::string text;
  for (auto const& [part, differs] : digits.pieces())
    text += differs ? style.paint(color, part) : part;
  return text;
}

/// `^` below what is marked.
std::string carets(MarkedDigits const& digits, std::size_t width) {
  std::string text(width, ' ');
  for (std::size_t i = 0; i < std::min(width, digits.differs.size()); ++i)
    if (digits.differs[i]) text[i] = '^';
  return text;
}

/// Both sides, one over the other: in hexadecimal, and where there is one in decimal.
class ValueLines {
 public:
  ValueLines(Sides const& sides, Style const& style)
      : hexadecimal_(facing_printable(sides.expected, sides.actual)),
        decimal_(facing_printable(sides.expected_decimal, sides.actual_decimal)),
        width_(std::max(hexadecimal_.expected.text.size(), hexadecimal_.actual.text.size())),
        style_(style) {}

  std::string expected() const {
    return line("expected", hexadecimal_.expected, decimal_.expected, Color::green);
  }
  std::string actual() const {
    return line("actual", hexadecimal_.actual, decimal_.actual, Color::red);
  }
  /// Below them, where colours do not mark what differs.
  std::string marks() const {
    bool const any = hexadecimal_.actual.any() || decimal_.actual.any();
    if (style_.colored || !any) return {};
    std::string const line = indent() + carets(hexadecimal_.actual, width_ + 1) + "  " +
                             carets(decimal_.actual, decimal_.actual.differs.size());
    return line.substr(0, line.find_last_of('^') + 1) + "\n";
  }

 private:
  static std::string indent() { return std::string(14, ' '); }

  std::string line(std::string_view label, MarkedDigits const& hexadecimal,
                   MarkedDigits const& decimal, Color color) const {
    std::string text = fmt::format("    {:<9} {}", label, painted(hexadecimal, color, style_));
    if (decimal.text.empty()) return text;
    text.append(width_ - hexadecimal.text.size(), ' ');
    return text + "  (" + painted(decimal, color, style_) + ")";
  }

  FacingDigits hexadecimal_;
  FacingDigits decimal_;
  std::size_t width_;
  Style const& style_;
};

std::string values_of(Violation const& violation, Style const& style) {
  Sides const sides = sides_in_words(violation);
  if (sides.expected.empty() && sides.actual.empty()) return {};
  ValueLines const lines(sides, style);
  std::string text = lines.expected() + "\n" + lines.actual();
  if (violation.ulp) text += fmt::format(", {} ulp apart", *violation.ulp);
  return text + "\n" + lines.marks();
}

std::string place_of(Location const& location) {
  return printable(fmt::format("{}:{}", location.file, location.line));
}

/// A line of the source, below what it belongs to, and who called it.
std::string line_of(std::string_view what, Location const& location) {
  if (!location.known()) return {};
  std::string text = fmt::format("              {} {}", what, place_of(location));
  if (!location.function.empty()) text += " in " + printable(location.function);
  for (Location const& caller : location.callers)
    text += (&caller == &location.callers.front() ? ", from " : ", ") + place_of(caller);
  return text + "\n";
}

/// Where the buffers were made and freed. Mostly both accesses are of one.
std::string buffers_of(std::vector<Access> const& accesses) {
  std::string text;
  std::string last;
  for (Access const& access : accesses) {
    std::string const lines =
        line_of("allocated at", access.allocated_at) + line_of("freed at", access.freed_at);
    if (lines.empty() || std::exchange(last, lines) == lines) continue;
    text += fmt::format("    {:<9} {}", "buffer", lines.substr(14));
  }
  return text;
}

/// The calls that a violation is about.
std::string calls_of(Violation const& violation) {
  std::string text;
  for (Waiting const& waiting : violation.waiting)
    text += line_of(fmt::format("rank {} waits at", waiting.rank), waiting.at);
  if (text.empty()) text = line_of("at", violation.at);
  for (Related const& related : violation.related)
    text +=
        line_of(fmt::format("{} by rank {} at", printable(related.what), related.rank), related.at);
  return text;
}

std::string repetitions_of(Violation const& violation) {
  std::string const again = repetitions_in_words(violation);
  return again.empty() ? again : fmt::format("    {:<9} {}\n", "found", again);
}

std::string elements_of(Violation const& violation) {
  std::string const elements = elements_in_words(violation);
  return elements.empty() ? elements
                          : fmt::format("    {:<9} {}\n", "elements", printable(elements));
}

std::string accesses_of(Violation const& violation) {
  std::string text;
  bool const alone = violation.accesses.size() == 1;
  for (Access const& access : violation.accesses) {
    std::string_view const which = alone ? "access" : text.empty() ? "first" : "second";
    text += printable(fmt::format("    {:<9} rank {}, stream {}: {} {}s bytes [{}, {}) of {}",
                                  which, access.rank, access.stream, access.operation, access.kind,
                                  access.begin, access.end, access.buffer)) +
            "\n";
    text += line_of("at", access.at) + line_of("enqueued at", access.enqueued_at) +
            line_of("captured at", access.captured_at);
  }
  text += buffers_of(violation.accesses);
  if (!violation.missing.empty()) {
    text += fmt::format("    {:<9} {}\n", "missing", printable(violation.missing));
  }
  return text;
}

/// A message may have several lines, such as the cycle of a deadlock.
std::string indented(std::string_view message, std::string_view by = "    ") {
  std::string text;
  while (!message.empty()) {
    auto const end = std::min(message.find('\n'), message.size());
    text.append(by) += printable(message.substr(0, end)) + "\n";
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return text;
}

/// What an exception came through: where it begins is seldom of interest.
std::string traceback_of(Thrown const& thrown, Style const& style) {
  bool const all = style.verbosity == Verbosity::verbose;
  return indented(all ? thrown.traceback : last_lines(thrown.traceback, traceback_lines_shown),
                  "      ");
}

std::string heading(RunResult const& result, Style const& style) {
  auto const word =
      result.met ? style.paint(Color::green, "ok  ") : style.paint(Color::red, "FAIL");
  std::string line = word + "  ";
  if (!result.file.empty()) line += printable(result.file) + ": ";
  return line + printable(result.name);
}

std::string details(RunResult const& result) {
  return fmt::format(
      "    engine {}, seed {}, {} operations, {} schedules, digest {:016x}\n"
      "    {:.3g} s, {:.3g} s simulated, at most {} bytes on a device and {} pinned\n",
      printable(result.engine), result.seed, result.operations, result.schedules, result.digest,
      result.wall_seconds, result.simulated_seconds, result.device_peak_bytes,
      result.pinned_peak_bytes);
}

/// Of a dry run.
std::string plan_of(RunResult const& result) {
  return fmt::format("    not executed: engine {}, seed {}, {} operations\n",
                     printable(result.engine), result.seed, result.operations) +
         tables_of(*result.planned);
}

/// A reason may go on in further lines, such as what an engine wrote before it ended.
std::string reason_in_lines(RunResult const& result) {
  std::string_view const reason = result.reason;
  auto const first = std::min(reason.find('\n'), reason.size());
  return printable(reason.substr(0, first)) + "\n" +
         indented(reason.substr(std::min(first + 1, reason.size())), "      ");
}

std::string outcome_of(RunResult const& result, Style const& style) {
  std::string text = result.met ? fmt::format("    {}, as expected", printable(result.expected))
                                : fmt::format("    expected {}, outcome {}",
                                              printable(result.expected), name_of(result.outcome));
  text += result.reason.empty() ? "\n" : ": " + reason_in_lines(result);
  text += indented(message_of(result));
  if (result.failed_at && !result.met) text += traceback_of(result.failed_at->thrown, style);
  return text;
}

std::string violations_of(RunResult const& result, Style const& style) {
  bool const all = style.verbosity == Verbosity::verbose;
  std::size_t const total = result.violations.size();
  std::size_t const shown = all ? total : std::min(total, violations_shown_max);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += describe(result.violations[i], style);
  if (shown < total) text += fmt::format("  and {} more; --verbose shows them\n", total - shown);
  return text;
}

/// As GitHub's commands want text: in a property, what ends properties is written out too.
std::string command_text(std::string_view text, std::string_view written_out) {
  std::string result;
  for (char const c : text) {
    if (written_out.find(c) == std::string_view::npos)
      result += c;
    else
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace

std::string annotation(Reported const& failure) {
  constexpr std::string_view in_data = "%\r\n";
  constexpr std::string_view in_property = "%\r\n:,";
  std::string const line = failure.line > 0 ? fmt::format(",line={}", failure.line) : "";
  std::string const& file = failure.result.file;
  std::string const place =
      file.empty() ? ""
                   : fmt::format("file={}{},", command_text(printable(file), in_property), line);
  return fmt::format("::error {}title={}::{}\n", place,
                     command_text(printable(failure.result.name), in_property),
                     command_text(describe(failure, Style{}), in_data));
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string per_second(double rate) {
  return rate >= 10 ? fmt::format("{:.0f}", rate) : fmt::format("{:.1f}", rate);
}

std::string describe(Violation const& violation, Style const& style) {
  return fmt::format("  {}: {}\n", style.paint(Color::bold, id_of(violation.law)),
                     printable(place_in_words(violation))) +
         values_of(violation, style) + elements_of(violation) + accesses_of(violation) +
         indented(message_of(violation)) + traceback_of(violation.thrown, style) +
         calls_of(violation) + repetitions_of(violation);
}

std::string describe(Reported const& reported, Style const& style) {
  RunResult const& result = reported.result;
  bool const verbose = style.verbosity == Verbosity::verbose;
  if (result.met && style.verbosity == Verbosity::quiet) return {};
  std::string text = heading(result, style) + "\n";
  bool const told = !result.met || (reported.alone && result.outcome != Outcome::pass);
  if (told) text += outcome_of(result, style);
  if (result.planned)
    text += plan_of(result);
  else if (verbose)
    text += details(result) + table_of(result.peak_bytes);
  if (told || verbose) text += violations_of(result, style);
  for (Violation const& warning : result.warnings)
    text += "  " + style.paint(Color::yellow, "warning:") + describe(warning, style).substr(1);
  for (std::string const& note : result.notes) {
    text += fmt::format("    {} {}\n", style.paint(Color::yellow, "note:"), printable(note));
  }
  if (!result.met) text += fmt::format("  replay: {}\n", printable(reported.replay));
  return text;
}

}  // namespace adamant::scenarios
