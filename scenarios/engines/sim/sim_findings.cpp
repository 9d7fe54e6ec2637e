#include "scenarios/engines/sim/sim_findings.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "scenarios/engines/execution.h"

namespace adamant::scenarios {

namespace {

/// None where it is on one alone.
std::vector<int> ranks_of(sim::Violation const& seen) {
  return seen.ranks.size() > 1 ? seen.ranks : std::vector<int>{};
}

/// REQUIRES: it is the world's own.
Violation violation_of(sim::Violation const& seen) {
  Violation violation{.law = seen.law,
                      .breach = seen.breach,
                      .operation = seen.operation,
                      .rank = seen.rank,
                      .text = seen.message,
                      .accesses = seen.accesses,
                      .missing = seen.missing,
                      .at = seen.at,
                      .related = seen.related,
                      .waiting = seen.waiting,
                      .ranks = ranks_of(seen),
                      .count = seen.count};
  if (seen.law == sim::Law::memory_leak)
    violation.actual = Count{.count = static_cast<std::int64_t>(seen.bytes)};
  if (!seen.about.empty()) violation.subject = Named{seen.about};
  return violation;
}

void place(std::int64_t& event, int first_event) {
  if (event >= 0) event += first_event;
}

/// Numbers of events and of the harness' findings count from the run's beginning. `numbers`: what
/// those of the world have there.
std::vector<sim::Violation> placed(std::vector<sim::Violation> of_world,
                                   std::vector<int> const& numbers, int first_event) {
  for (sim::Violation& violation : of_world) {
    if (violation.law == sim::Law::of_harness)
      violation.number = numbers[static_cast<std::size_t>(violation.number)];
    place(violation.event, first_event);
    for (sim::Access& access : violation.accesses) place(access.event, first_event);
  }
  return of_world;
}

/// One of the harness, as often and on as many ranks as the worlds had it.
Violation repeated(Violation finding, sim::Violation const& seen) {
  finding.count = seen.count;
  finding.ranks = ranks_of(seen);
  return finding;
}

}  // namespace

void SimFindings::add(sim::Report const& report, std::vector<Violation> const& harness,
                      int first_event) {
  std::vector<int> const numbers = numbers_of(harness);
  sim::fold(violations_, placed(report.violations, numbers, first_event));
  sim::fold(warnings_, placed(report.warnings, numbers, first_event));
}

// What a world before has shown keeps the number that it got there.
std::vector<int> SimFindings::numbers_of(std::vector<Violation> const& harness) {
  std::vector<int> numbers;
  for (Violation const& finding : harness) {
    auto const same = std::ranges::find_if(
        harness_, [&](Violation const& known) { return is_same_finding(known, finding); });
    numbers.push_back(static_cast<int>(same - harness_.begin()));
    if (same == harness_.end()) harness_.push_back(finding);
  }
  return numbers;
}

std::vector<Violation> SimFindings::told(std::vector<sim::Violation> const& found) const {
  std::vector<Violation> all;
  for (sim::Violation const& seen : found) {
    bool const own = seen.law != sim::Law::of_harness;
    all.push_back(own ? violation_of(seen)
                      : repeated(harness_[static_cast<std::size_t>(seen.number)], seen));
    all.back().event = seen.event;
  }
  return all;
}

}  // namespace adamant::scenarios
