#include "sim/sim.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/broken_off.h"
#include "sim/one_run.h"
#include "sim/second_run.h"
#include "sim/world/prng.h"

namespace adamant::sim {
namespace {

// A second run finds every leak apart, as the first one did: `report` is not yet folded.
void locate(Report& report, int ranks, std::function<void(int)> const& main,
            Options const& options) {
  if (!options.locate || options.sought) return;
  Options again = options;
  again.sought = report.sought;
  again.schedule.choices = report.choices;
  locate_in_child(
      report, [&] { return run_once(ranks, main, again).report; }, report_so_far);
}

// Which of them are one mistake, lines tell.
Report folded(Report report) {
  for (std::vector<Violation>* const list : {&report.violations, &report.warnings})
    fold(*list, std::exchange(*list, {}));
  return report;
}

void print_before_the_end(Report const& report, std::string_view how) {
  if (report.ok() && report.warnings.empty()) return;
  std::string const text = fmt::format("adamant: the program {} after {}:\n{}", how,
                                       report.ok() ? "warnings" : "violations", describe(report));
  std::fputs(text.c_str(), stderr);
}

Report run_unfolded(int ranks, std::function<void(int)> const& main, Options const& options) {
  auto const break_off = [&] {
    Report report = report_so_far();
    leave_world();
    locate(report, ranks, main, options);
    print_before_the_end(folded(std::move(report)), "ends its process");
  };
  bool const announces = options.announce && !options.sought;
  std::optional<AtBreakOff> at_break_off;
  if (announces) at_break_off.emplace(break_off);
  Ended ended = run_once(ranks, main, options);
  at_break_off.reset();
  locate(ended.report, ranks, main, options);
  if (ended.failure == nullptr) return std::move(ended.report);
  if (announces) print_before_the_end(folded(std::move(ended.report)), "throws an exception");
  std::rethrow_exception(ended.failure);
}

}  // namespace

Report run(int ranks, std::function<void(int)> const& main, Options const& options) {
  return folded(run_unfolded(ranks, main, options));
}

Report explore(int ranks, std::function<void(int)> const& main, int schedules,
               Options const& options) {
  Report report;
  std::set<std::uint64_t> values;
  std::vector<Violation> warnings;
  for (int i = 0; i < schedules; ++i) {
    Options next = options;
    next.schedule.strategy = i == 0       ? Strategy::fifo
                             : i % 2 == 1 ? Strategy::random
                                          : Strategy::pct;
    next.schedule.seed = mix64(options.schedule.seed + static_cast<std::uint64_t>(i));
    next.locate = options.locate && warnings.empty();  // which have their lines already
    report = run_unfolded(ranks, main, next);
    values.insert(report.values_digest);
    report.schedules = i + 1;
    report.different_values = static_cast<int>(values.size());
    if (!report.ok() && !next.locate) {
      next.locate = options.locate;
      locate(report, ranks, main, next);
    }
    if (warnings.empty()) warnings = report.warnings;
    if (!report.ok()) break;
  }
  report.warnings = std::move(warnings);
  return folded(std::move(report));
}

}  // namespace adamant::sim
