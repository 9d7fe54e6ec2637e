#include "scenarios/engines/sim/sim_findings.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "scenarios/engines/execution.h"

namespace adamant::scenarios {

namespace {

// A world's laws and breaches lie one behind the other among a scenario's, in the same order.
constexpr int first_law = static_cast<int>(Law::access_bounds);
constexpr int first_breach = static_cast<int>(Breach::unordered_accesses);
static_assert(first_law + static_cast<int>(sim::Law::graph_scalar) ==
              static_cast<int>(Law::graph_scalar));
static_assert(first_breach + static_cast<int>(sim::Breach::foreign_thread) ==
              static_cast<int>(Breach::foreign_thread));
constexpr int first_warning = static_cast<int>(Law::error_unseen);
constexpr int first_warning_of_world = static_cast<int>(sim::Law::error_unseen);
static_assert(first_warning + static_cast<int>(sim::Law::error_thread) - first_warning_of_world ==
              static_cast<int>(Law::error_thread));

Law law_of(sim::Law law) {
  int const number = static_cast<int>(law);
  return static_cast<Law>(sim::is_warning(law) ? first_warning + number - first_warning_of_world
                                               : first_law + number);
}

Location location_of(sim::Location const& seen) {
  Location location{.file = seen.file, .line = seen.line, .function = seen.function};
  for (sim::Location const& caller : seen.callers) location.callers.push_back(location_of(caller));
  return location;
}

Access access_of(sim::Access const& seen) {
  return {.rank = seen.rank,
          .stream = seen.stream,
          .operation = seen.operation,
          .kind = seen.kind,
          .buffer = seen.buffer,
          .begin = seen.begin,
          .end = seen.end,
          .at = location_of(seen.at),
          .enqueued_at = location_of(seen.enqueued_at),
          .captured_at = location_of(seen.captured_at),
          .allocated_at = location_of(seen.allocated_at),
          .freed_at = location_of(seen.freed_at),
          .event = static_cast<int>(seen.event)};
}

/// None where it is on one alone.
std::vector<int> ranks_of(sim::Violation const& seen) {
  return seen.ranks.size() > 1 ? seen.ranks : std::vector<int>{};
}

/// REQUIRES: it is the world's own.
Violation violation_of(sim::Violation const& seen) {
  Violation violation{.law = law_of(seen.law),
                      .breach = static_cast<Breach>(first_breach + static_cast<int>(seen.breach)),
                      .operation = seen.operation,
                      .rank = seen.rank,
                      .text = seen.message,
                      .missing = seen.missing,
                      .at = location_of(seen.at),
                      .ranks = ranks_of(seen),
                      .count = seen.count,
                      .event = static_cast<int>(seen.event)};
  if (seen.law == sim::Law::memory_leak)
    violation.actual = Count{.count = static_cast<std::int64_t>(seen.bytes)};
  if (!seen.about.empty()) violation.subject = Named{seen.about};
  for (sim::Access const& access : seen.accesses) violation.accesses.push_back(access_of(access));
  for (sim::Related const& related : seen.related)
    violation.related.push_back(
        {.what = related.what, .rank = related.rank, .at = location_of(related.at)});
  for (sim::Waiting const& waiting : seen.waiting)
    violation.waiting.push_back({.rank = waiting.rank, .at = location_of(waiting.at)});
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
    all.back().event = static_cast<int>(seen.event);
  }
  return all;
}

}  // namespace adamant::scenarios
