#include "scenarios/report/junit.h"

#include <fmt/format.h>

#include <cstddef>

#include "scenarios/language/plain_text.h"
#include "scenarios/report/markup.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {

namespace {

/// XML 1.0 has no way to write most control characters, and no parser takes broken UTF-8.
std::string printed(std::string_view text) {
  return escaped(printable_lines(text));
}

/// What people see of a failure before they open it.
std::string reason_of(RunResult const& result) {
  if (result.outcome == Outcome::pass)
    return fmt::format("expected {}, outcome pass", result.expected);
  std::string text = result.reason;
  if (!result.violations.empty()) {
    text = in_one_line(result.violations.front());
  } else if (std::string const message = message_of(result); !message.empty()) {
    text += (text.empty() ? "" : ": ") + message;
  }
  return result.expected == "pass" ? text : text + "; expected " + result.expected;
}

std::string to_case(std::string_view suite, Reported const& reported) {
  RunResult const& result = reported.result;
  std::string const name = result.file.empty() ? result.name : result.file;
  std::string text = fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"",
                                 printed(suite), printed(name), result.wall_seconds);
  if (result.met) return text + "/>\n";
  if (!reported.lacking.empty())
    return text + fmt::format(">\n    <skipped message=\"{}\"/>\n  </testcase>\n",
                              printed(reported.lacking));
  std::string_view const element = result.outcome == Outcome::error ? "error" : "failure";
  return text + fmt::format(">\n    <{0} message=\"{1}\">{2}</{0}>\n  </testcase>\n", element,
                            printed(reason_of(result)), printed(describe(reported, Style{})));
}

}  // namespace

std::string to_junit(std::string_view suite, std::span<Reported const> results) {
  std::size_t errors = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  double seconds = 0;
  std::string cases;
  for (Reported const& reported : results) {
    bool const died = reported.result.outcome == Outcome::error;
    bool const lacking = !reported.lacking.empty();
    if (!reported.result.met) ++(lacking ? skipped : died ? errors : failures);
    seconds += reported.result.wall_seconds;
    cases += to_case(suite, reported);
  }
  auto const counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6f}\"",
                  results.size(), failures, errors, skipped, seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
      "<testsuite name=\"{1}\" {0}>\n{2}</testsuite>\n</testsuites>\n",
      counts, printed(suite), cases);
}

}  // namespace adamant::scenarios
