#include "scenarios/search/minimize_in_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "scenarios/language/json_text.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/report/worker_lines.h"
#include "scenarios/seam/engine.h"
#include "scenarios/search/known_here.h"
#include "scenarios/search/minimize/document.h"

namespace adamant::scenarios {

namespace {

constexpr std::chrono::seconds run_time_max{60};
// Of an engine in a process of its own, which runs some 20 scenarios a second: most of a minute.
constexpr std::uint64_t isolated_runs_max = 1'000;
// Of others a process runs some thousands a second.
constexpr std::uint64_t runs_max = 10'000;
constexpr std::size_t at_once_max = 64;
constexpr std::size_t alternatives_max = 1'000;
// The law that takes two runs to judge.
constexpr Law repeatability = Law::determinism_digest;

/// The scenario as it will be written: what the caller adds is in it, and it expects to pass.
Scenario prepared(Scenario scenario, RunOptions const& options) {
  scenario.seed = options.seed.value_or(scenario.seed.value_or(0));
  if (options.engine) scenario.engine.replace(*options.engine);
  if (options.schedule) scenario.schedule = *options.schedule;
  if (!options.bug.empty()) scenario.bug = options.bug;
  scenario.expect = {};
  return scenario;
}

std::string count_of(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string size_of(Scenario const& scenario) {
  return count_of(operation_count(scenario.program), "operation") + " on " +
         count_of(scenario.world.rank_count(), "rank");
}

/// Is the engine a process already?
bool runs_in_own_process(std::span<Scenario const> scenarios, RunOptions const& options) {
  if (scenarios.empty()) return false;
  return capabilities_of(options.engine.value_or(scenarios.front().engine.name)).isolated;
}

class IsolatedMinimizer {
 public:
  explicit IsolatedMinimizer(WorkerOptions const& options) : options_(options), run_(options.run) {
    run_.seed.reset();
    run_.engine.reset();
    run_.schedule.reset();
    run_.bug.clear();
  }

  MinimizeAttempt run(Scenario const& scenario, Expectation const& expected) {
    run_.repeat = true;
    std::vector<RunResult> first = judge(std::span(&scenario, 1));
    if (first.empty()) return {.end = MinimizeAttempt::End::interrupted};
    MinimizeAttempt attempt{.first = std::move(first.front())};
    auto const symptom = symptom_of(attempt.first, expected);
    if (!symptom) return attempt;
    attempt.symptom = *symptom;
    if (runs_in_own_process(std::span(&scenario, 1), run_)) {
      keep_likeness(attempt);
      runs_max_ = isolated_runs_max;
    }
    run_.repeat = symptom->law == repeatability;
    minimize(scenario, attempt);
    return attempt;
  }

 private:
  std::vector<RunResult> judge(std::span<Scenario const> scenarios) {
    std::vector<RunResult> results = run_isolated(scenarios, run_, options_.at_once);
    options_.progress({.done = runs_ + scenarios.size(), .total = runs_max_, .at_most = true});
    return results;
  }

  /// Many candidates share few processes, and few of them fail. One that does is run once more in a
  /// process of its own, where nothing of those before it can be the reason.
  std::vector<RunResult> judge_candidates(std::span<Scenario const> candidates,
                                          Symptom const& symptom) {
    if (runs_ >= runs_max_) return {};  // what went around known defects counts here, too
    std::vector<RunResult> results = judge(candidates);
    bool const share = static_cast<int>(candidates.size()) > options_.at_once;
    for (std::size_t i = 0; i < results.size(); ++i) {
      ++runs_;
      if (!shows(results[i], symptom)) continue;
      if (share) {
        std::vector<RunResult> alone = run_isolated(candidates.subspan(i, 1), run_, 1);
        if (alone.empty()) return {};  // interrupted
        results[i] = std::move(alone.front());
      }
      if (is_known(candidates[i], results[i])) results[i].outcome = Outcome::pass;
      if (shows(results[i], symptom)) break;
    }
    return results;
  }

  /// Another cause of the same look: what is minimised must not turn into it.
  bool is_known(Scenario const& scenario, RunResult const& result) {
    if (options_.known == nullptr) return false;
    return options_.known->is_known(scenario, result, [&](Scenario const& other) {
      std::vector<RunResult> results = run_isolated(std::span(&other, 1), run_, 1);
      ++runs_;
      return results.empty() ? RunResult{} : std::move(results.front());
    });
  }

  Minimized minimized_from(Scenario const& scenario, RunResult const& result,
                           Symptom const& symptom) {
    return scenarios::minimize(
        scenario, result, symptom,
        [&](std::span<Scenario const> candidates) { return judge_candidates(candidates, symptom); },
        limits(capabilities_of(scenario.engine.name)));
  }

  /// Of a failure that was seen under one of the further schedules: what is written must not need
  /// them, so the choices of that one become part of the scenario, and are made small in their
  /// turn.
  Minimized without_schedules(Minimized minimized, Symptom const& symptom) {
    bool const further = std::exchange(minimized.result.schedules, 1) > 1;
    run_.schedules = 0;
    if (!further) return minimized;
    minimized.scenario.schedule = {.choices = minimized.result.choices};
    Minimized recorded = minimized_from(minimized.scenario, minimized.result, symptom);
    recorded.runs += minimized.runs;
    recorded.complete = recorded.complete && minimized.complete;
    return recorded;
  }

  void minimize(Scenario const& scenario, MinimizeAttempt& attempt) {
    Minimized minimized = without_schedules(
        minimized_from(scenario, attempt.first, attempt.symptom), attempt.symptom);
    auto const* const kept = violation_of(minimized.result, attempt.symptom);
    if (kept != nullptr) attempt.symptom.law = kept->law;
    attempt.scenario = expecting(std::move(minimized.scenario), attempt.symptom, kept);
    attempt.result = std::move(minimized.result);
    attempt.result.name = attempt.scenario.name;
    attempt.result.notes.push_back(fmt::format(
        "minimised from {} to {} in {} runs{}", size_of(scenario), size_of(attempt.scenario),
        minimized.runs, minimized.complete ? "" : ", and not to its end"));
    attempt.runs = minimized.runs;
    attempt.complete = minimized.complete;
    attempt.end =
        confirm(attempt) ? MinimizeAttempt::End::minimized : MinimizeAttempt::End::unsteady;
  }

  /// In a search of an engine with catalogued bugs one of them is switched on. Another's engine has
  /// those that it has, many of them break one law, and one must not turn into another.
  static void keep_likeness(MinimizeAttempt& attempt) {
    Violation const* const violation = violation_of(attempt.first, attempt.symptom);
    if (violation != nullptr) attempt.symptom.likeness = likeness_of(*violation);
  }

  MinimizeOptions limits(Capabilities const& capabilities) const {
    std::uint64_t const left = runs_max_ - std::min(runs_, runs_max_ - 1);
    if (capabilities.isolated) return {.capabilities = capabilities, .runs_max = left};
    return {.capabilities = capabilities,
            .runs_max = left,
            .at_once = static_cast<std::size_t>(options_.at_once),
            .at_once_max = at_once_max,
            .alternatives_max = alternatives_max};
  }

  /// Runs what will be written once more: the file has to repeat what was seen. This time the
  /// violations get the lines of the source that they are about.
  bool confirm(MinimizeAttempt& attempt) {
    run_.lines = true;
    Scenario const written = as_written(attempt.scenario);
    std::vector<RunResult> again = judge(std::span(&written, 1));
    if (again.empty()) return true;  // interrupted: it has been seen once
    bool const steady =
        attempt.symptom.law == repeatability || again.front().digest == attempt.result.digest;
    if (!steady || !shows(again.front(), attempt.symptom)) return false;
    attempt.result.violations = std::move(again.front().violations);
    return true;
  }

  WorkerOptions const& options_;
  RunOptions run_;
  std::uint64_t runs_ = 0;  // up to each that showed the symptom, and those around what is known
  std::uint64_t runs_max_ = runs_max;
};

std::vector<RunResult> run_in_turn(std::span<Scenario const> scenarios, RunOptions const& options,
                                   std::function<void(HowFar const&)> const& progress) {
  std::vector<RunResult> results;
  for (Scenario const& scenario : scenarios) {
    progress({.done = results.size(), .total = scenarios.size()});
    Ended ended = ended_with(run_in_worker(scenario, options), scenario, options);
    if (must_stop()) return {};
    if (ended.status == Status::lacking) throw MachineLacks(ended.result.reason);
    results.push_back(std::move(ended.result));
  }
  return results;
}

}  // namespace

std::vector<RunResult> run_isolated(std::span<Scenario const> scenarios, RunOptions const& options,
                                    int processes,
                                    std::function<void(HowFar const&)> const& progress) {
  if (runs_in_own_process(scenarios, options)) return run_in_turn(scenarios, options, progress);
  std::vector<RunResult> results(scenarios.size());
  std::size_t ended = 0;
  auto const work = [&](std::uint64_t job) {
    return to_answer(run_in_worker(scenarios[job], options));
  };
  auto const done = [&](JobEnd const& end) {
    Scenario const& scenario = scenarios[end.job];
    results[end.job] =
        end.answer ? ended_with(parse_json<StrictJson>(*end.answer), scenario, options).result
                   : ended_by_death(end.death, scenario, options).result;
    progress({.done = ++ended, .total = scenarios.size()});
  };
  run_jobs({.workers = std::max(processes, 1),
            .jobs = scenarios.size(),
            .until = {},
            .job_time_max = run_time_max},
           work, done);
  if (ended != scenarios.size()) results.clear();
  return results;
}

Scenario as_written(Scenario const& scenario) {
  return load_scenario_text(write_scenario(scenario), scenario.name);
}

MinimizeAttempt minimize_in_workers(Scenario scenario, WorkerOptions const& options) {
  Expectation const expected = scenario.expect;
  return IsolatedMinimizer(options).run(prepared(std::move(scenario), options.run), expected);
}

}  // namespace adamant::scenarios
