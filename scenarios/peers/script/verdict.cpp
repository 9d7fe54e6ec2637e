#include "scenarios/peers/script/verdict.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "scenarios/peers/script/expected.h"
#include "scenarios/peers/script/observation.h"

namespace adamant::scenarios::script {

namespace {

bool is_hexadecimal(Plan const& plan) {
  return expects_number(plan.violation) || allowed_by(plan.violation);
}

/// What is printed of `name`, a text with a number.
std::string shown(Plan const& plan, std::string_view name) {
  if (!is_hexadecimal(plan)) return fmt::format("{{{}}}", name);
  return fmt::format("{{{}}} = {{float.fromhex({})}}", name, name);
}

// A rank that fails does come back: that is another defect.
void write_hang_verdict(Draft& draft) {
  draft.code.line("print(\"expected: each rank ends\")");
  draft.code.line(
      "print(f\"actual:   exit statuses {ended}; None did not end within {SECONDS} s\")");
  draft.code.line("sys.exit(None in ended)");
}

/// DCP's error is a BaseException, which torch.multiprocessing does not hand on: of a rank of
/// several nothing is seen but that its process ended.
bool comes_without_text(Plan const& plan) {
  bool const of_dcp = plan.violation.text.find("CheckpointException") != std::string::npos;
  return of_dcp && !plan.reading && !plan.alone() && !plan.worlds.back().in_main;
}

/// Is it the error that the violation speaks of? Where it names none, any is.
std::string error_test(Plan const& plan) {
  Violation const& violation = plan.violation;
  if (comes_without_text(plan)) return "\"terminated with exit code\" in actual";
  if (has_died(violation)) {
    bool const of_signal = about<Call>(violation)->ending == Ending::signal;
    return fmt::format("\"terminated with {}\" in actual", of_signal ? "signal" : "exit code");
  }
  std::string test;
  for (std::string const& words : error_words(violation))
    test.append(test.empty() ? "" : " and ")
        .append(fmt::format("{} in actual", python::quoted(words)));
  return test.empty() ? "actual != \"no error\"" : test;
}

void write_error_verdict(Draft& draft) {
  bool const wanted = wants_error(draft.plan);
  draft.code.line(fmt::format("print(\"expected: {}\")", wanted ? "an error" : "no error"));
  draft.code.line("print(f\"actual:   {actual.splitlines()[-1]}\")");
  draft.code.line(
      fmt::format("sys.exit({})", wanted ? "actual == \"no error\"" : error_test(draft.plan)));
}

void write_interval_verdict(Draft& draft, Allowed const& interval) {
  std::string allowed = interval.low.empty() ? "" : "[{LOW.hex()}, {HIGH.hex()}]";
  std::string test = interval.low.empty() ? "" : "LOW <= value <= HIGH";
  for (std::string const& other : interval.others) {
    allowed.append(allowed.empty() ? "" : " or ").append(other);
    test.append(test.empty() ? "" : " or ")
        .append(fmt::format("actual == {}", python::quoted(other)));
  }
  std::string const place = place_of(draft.plan.violation);
  draft.code.line("value = float.fromhex(actual)");
  draft.code.line(fmt::format("print(f\"{}: expected {}\")", place, allowed));
  draft.code.line(fmt::format("print(f\"{}: actual   {}\")", place, shown(draft.plan, "actual")));
  draft.code.line(fmt::format("sys.exit(not ({}))", test));
}

void write_ranks_verdict(Draft& draft) {
  Violation const& violation = draft.plan.violation;
  draft.code.line(fmt::format("print(f\"{}: rank 0 has {{expected}}, rank {} has {{actual}}\")",
                              place_of(violation), violation.rank));
  draft.code.line("sys.exit(actual != expected)");
}

void write_value_verdict(Draft& draft) {
  std::string const place = place_of(draft.plan.violation);
  draft.code.line(fmt::format("print(f\"{}: expected {}\")", place, shown(draft.plan, "EXPECTED")));
  draft.code.line(fmt::format("print(f\"{}: actual   {}\")", place, shown(draft.plan, "actual")));
  draft.code.line("sys.exit(actual != EXPECTED)");
}

}  // namespace

void write_expectation(Draft& draft) {
  if (observes_error(draft.plan) || compares_ranks(draft.plan) || hangs(draft.plan.violation))
    return;
  if (auto const interval = allowed_by(draft.plan.violation)) {
    if (!interval->low.empty())
      draft.code.line(fmt::format("LOW, HIGH = float.fromhex(\"{}\"), float.fromhex(\"{}\")",
                                  interval->low, interval->high));
    return;
  }
  draft.code.line(
      fmt::format("EXPECTED = {}", python::quoted(expected_text(draft.plan.violation))));
}

void write_verdict(Draft& draft) {
  Plan const& plan = draft.plan;
  draft.imports.add("sys");
  if (hangs(plan.violation)) return write_hang_verdict(draft);
  if (observes_error(plan)) return write_error_verdict(draft);
  if (auto const interval = allowed_by(plan.violation))
    return write_interval_verdict(draft, *interval);
  if (compares_ranks(plan)) return write_ranks_verdict(draft);
  write_value_verdict(draft);
}

}  // namespace adamant::scenarios::script
