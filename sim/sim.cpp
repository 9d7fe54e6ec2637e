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

void run_again(Report& report, int ranks, std::function<void(int)> const& main,
               Options const& options) {
  Options again = options;
  again.sought = report.sought;
  again.schedule.choices = report.choices;
  locate_in_child(
      report, [&] { return run_once(ranks, main, again).report; }, report_so_far);
}

void locate(Report& report, int ranks, std::function<void(int)> const& main,
            Options const& options) {
  if (report.ok() && report.warnings.empty()) return;
  if (options.locate && !options.sought) run_again(report, ranks, main, options);
  for (std::vector<Violation>* const list : {&report.violations, &report.warnings})
    fold(*list, std::exchange(*list, {}));  // which of them are one mistake, lines tell
}

void print_before_the_end(Report const& report, std::string_view how) {
  if (report.ok() && report.warnings.empty()) return;
  std::string const text = fmt::format("adamant: the program {} after {}:\n{}", how,
                                       report.ok() ? "warnings" : "violations", describe(report));
  std::fputs(text.c_str(), stderr);
}

}  // namespace

Report run(int ranks, std::function<void(int)> const& main, Options const& options) {
  auto const break_off = [&] {
    Report report = report_so_far();
    leave_world();
    locate(report, ranks, main, options);
    print_before_the_end(report, "ends its process");
  };
  bool const announces = options.announce && !options.sought;
  std::optional<AtBreakOff> at_break_off;
  if (announces) at_break_off.emplace(break_off);
  Ended ended = run_once(ranks, main, options);
  at_break_off.reset();
  locate(ended.report, ranks, main, options);
  if (ended.failure == nullptr) return std::move(ended.report);
  if (announces) print_before_the_end(ended.report, "throws an exception");
  std::rethrow_exception(ended.failure);
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
    report = run(ranks, main, next);
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
  return report;
}

}  // namespace adamant::sim
