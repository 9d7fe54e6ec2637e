#include "scenarios/peers/script/verdict.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "scenarios/peers/script/comparison.h"
#include "scenarios/peers/script/expected.h"
#include "scenarios/peers/script/observation.h"

namespace adamant::scenarios::script {

namespace {

constexpr std::string_view any_error = "actual != \"no error\"";

// A rank that fails does come back: that is another defect.
void write_hang_verdict(Draft& draft) {
  draft.code.line("print(\"expected: each rank ends\")");
  draft.code.line(
      "print(f\"actual:   exit statuses {ended}; None did not end within {SECONDS} s\")");
  draft.code.line("sys.exit(1 if None in ended else 2 if any(ended) else 0)");
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
  return test.empty() ? std::string(any_error) : test;
}

void write_error_verdict(Draft& draft) {
  bool const wanted = wants_error(draft.plan);
  draft.code.line(fmt::format("print(\"expected: {}\")", wanted ? "an error" : "no error"));
  draft.code.line("print(f\"actual:   {actual.splitlines()[-1]}\")");
  if (wanted) return draft.code.line("sys.exit(actual == \"no error\")");
  std::string const test = error_test(draft.plan);
  draft.code.line(test == any_error
                      ? fmt::format("sys.exit({})", test)
                      : fmt::format("sys.exit(1 if {} else 2 if {} else 0)", test, any_error));
}

}  // namespace

void write_expectation(Draft& draft) {
  Violation const& violation = draft.plan.violation;
  if (observes_error(draft.plan) || compares_ranks(draft.plan) || hangs(violation) ||
      draft.plan.two_runs)
    return;
  write_expected(draft.code, violation, expected_text(violation));
}

void write_verdict(Draft& draft) {
  Plan const& plan = draft.plan;
  Violation const& violation = plan.violation;
  std::string const place = place_of(violation);
  draft.imports.add("sys");
  if (hangs(violation)) return write_hang_verdict(draft);
  if (observes_error(plan)) return write_error_verdict(draft);
  if (plan.repeated) return write_first_difference(draft.code);
  if (plan.two_runs) return write_comparison_of_runs(draft.code, violation, place);
  bool const of_interval = allowed_by(violation).has_value();
  if (compares_ranks(plan) && !of_interval)
    return write_comparison_of_ranks(draft.code, 0, violation.rank, place);
  write_comparison(draft.code, violation, place);
}

}  // namespace adamant::scenarios::script
