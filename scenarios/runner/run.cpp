#include "scenarios/runner/run.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/judge/memory_plan.h"
#include "scenarios/language/further_runs.h"
#include "scenarios/language/laws.h"
#include "scenarios/language/operations.h"
#include "scenarios/runner/admission.h"
#include "scenarios/runner/expectation.h"
#include "scenarios/runner/runner.h"
#include "scenarios/runner/two_runs.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

/// Number `index` of the further schedules: random and pct by turns, with seeds of their own.
Schedule further_schedule(std::uint64_t seed, int index) {
  return {.strategy = index % 2 == 0 ? Schedule::Strategy::random : Schedule::Strategy::pct,
          .seed = seed + 1 + static_cast<std::uint64_t>(index),
          .depth = std::nullopt,
          .choices = std::nullopt};
}

/// The run again, by its recorded choices: anything undetermined shows as another digest.
void expect_same_digest(Runner& runner, Schedule schedule, RunResult& result) {
  schedule.choices = result.choices;
  RunResult const again = runner.run(schedule, false);
  if (again.digest == result.digest) return;
  result.violations.push_back({.law = Law::determinism_digest,
                               .breach = Breach::other_digest,
                               .expected = Digest{result.digest},
                               .actual = Digest{again.digest}});
  result.outcome = Outcome::violated;
}

/// Is the law that the scenario expects to be broken one about two runs?
bool expects_other_digest(Scenario const& scenario) {
  return scenario.expect.kind == Expectation::Kind::violates &&
         matches(scenario.expect.id, Law::determinism_digest);
}

/// Is any of them one that the world noticed? Only those are about lines.
bool has_world_violation(RunResult const& result) {
  if (!result.warnings.empty()) return true;
  return std::any_of(result.violations.begin(), result.violations.end(),
                     [](Violation const& violation) { return is_of_world(violation.breach); });
}

bool wants_timeline(RunOptions const& options, RunResult const& result) {
  return options.timelines == Timelines::all ||
         (options.timelines == Timelines::of_violations && !result.violations.empty());
}

/// `recording`: of the scenario's own run, or null.
RunResult run_schedules(Scenario const& scenario, RunOptions const& options, std::uint64_t seed,
                        Recording* recording) {
  bool const repeat = options.repeat || options.schedules > 0 || expects_other_digest(scenario);
  Runner runner(scenario, options, seed, 1 + int{repeat} + options.schedules);
  if (recording != nullptr)
    runner.watch([&](Primitive const& operation, WorldView const& world) {
      recording->after(operation, world);
    });
  RunResult result = runner.run(scenario.schedule, options.dump.has_value());
  runner.watch({});
  if (repeat && result.outcome == Outcome::pass)
    expect_same_digest(runner, scenario.schedule, result);
  std::uint64_t const schedule_seed = scenario.schedule.seed.value_or(seed);
  int done = 1;
  std::set<std::uint64_t> values{result.values_digest};
  for (int i = 0; i < options.schedules && result.outcome == Outcome::pass; ++i, ++done) {
    RunResult next = runner.run(further_schedule(schedule_seed, i), false);
    values.insert(next.values_digest);
    if (next.outcome != Outcome::pass) result = std::move(next);
  }
  result.schedules = done;
  result.different_values = static_cast<int>(values.size());
  if (values.size() > 1 && result.outcome == Outcome::pass) {
    result.notes.push_back("values depend on the schedule: " + std::to_string(values.size()) +
                           " different results in " + std::to_string(done) +
                           " schedules, all of them allowed");
  }
  bool const timeline = wants_timeline(options, result);
  if (timeline || (options.lines && has_world_violation(result)))
    runner.look_again(result, timeline);
  return result;
}

/// Joins what a further run came to by itself: a broken law, a refusal, or nothing.
void join_run(RunResult& result, RunResult other, FurtherRun const& run, std::string const& text) {
  for (auto* const list : {&other.violations, &other.warnings})
    for (Violation& violation : *list) {
      if (violation.operation >= 0) violation.operation = run.original(violation.operation);
      violation.run = text;
    }
  join_violations(result, std::move(other.violations));
  std::move(other.warnings.begin(), other.warnings.end(), std::back_inserter(result.warnings));
  for (std::string const& note : other.notes)
    if (!offers(result.notes, note)) result.notes.push_back("with " + text + ": " + note);
  constexpr std::uint64_t fold_factor = 0x9e3779b97f4a7c15ULL;
  result.digest = (result.digest ^ other.digest) * fold_factor;
  result.simulated_seconds += other.simulated_seconds;
  result.spoilt = other.spoilt;
  if (other.outcome != Outcome::refused) return;
  result.outcome = Outcome::refused;
  result.reason = other.reason;
  result.message = "with " + text + ": " + other.message;
  result.failed_at = other.failed_at;
}

/// Makes a further run, and holds it to what was recorded.
void run_once_more(Recording const& recording, FurtherRun const& run, RunOptions const& options,
                   std::uint64_t seed, RunResult& result) {
  RunOptions quiet = options;
  quiet.progress = {};
  Runner runner(run.scenario, quiet, seed, 1);
  HeldTo held(recording, run, capabilities_of(run.scenario.engine.name).same_files);
  runner.watch(
      [&](Primitive const& operation, WorldView const& world) { held.after(operation, world); });
  RunResult other = runner.run(run.scenario.schedule, false);
  join_run(result, std::move(other), run, text_of(recording.scenario(), run));
  join_violations(result, held.violations());
  if (!held.gave_up().empty()) result.notes.push_back(held.gave_up());
  if (!result.violations.empty()) result.outcome = Outcome::violated;
}

/// The scenario's own run, and after it the further ones until one of them fails.
RunResult run_all(Scenario const& scenario, RunOptions const& options, std::uint64_t seed) {
  std::vector<FurtherRun> const further = further_runs(scenario);
  if (further.empty()) return run_schedules(scenario, options, seed, nullptr);
  Recording recording(scenario);
  RunResult result = run_schedules(scenario, options, seed, &recording);
  for (FurtherRun const& run : further)
    if (result.outcome == Outcome::pass) run_once_more(recording, run, options, seed, result);
  return result;
}

RunResult refused(Refusal const& refusal) {
  RunResult result;
  result.outcome = Outcome::refused;
  result.reason = refusal.id;
  result.message = refusal.message;
  return result;
}

/// Nothing refuses it, and nothing is executed.
RunResult planned(Scenario const& scenario, Capabilities const& capabilities) {
  RunResult result;
  result.outcome = Outcome::pass;
  result.planned.emplace();
  if (auto const refusal = refuse_to_run(scenario, capabilities))
    result.notes.push_back("executed here it would be refused: " + refusal->id + ": " +
                           refusal->message);
  if (capabilities_in_process(scenario.engine.name) == nullptr) {
    result.notes.push_back("no bytes are counted: engine " + scenario.engine.name +
                           " allocates by itself");
    return result;
  }
  if (auto plan = plan_memory(scenario))
    result.planned = std::move(plan);
  else
    result.notes.emplace_back(
        "no bytes are counted: so many parameters, ranks and operations take too long");
  for (PlannedMemory const& planned : *result.planned) raise_to(result.peak_bytes, planned.peak);
  if (has<Save, Load>(scenario.program))
    result.notes.push_back("save and load may take up to " +
                           std::to_string(checkpoint_bytes_max >> 20) +
                           " MiB more of each rank while they run");
  return result;
}

RunResult judge(Scenario const& scenario, RunOptions const& options, std::uint64_t seed) {
  auto capabilities = capabilities_of(scenario.engine.name);
  if (options.loopback) capabilities.captured_ranks_max = 0;
  if (options.dry) {
    if (auto const refusal = refuse_to_plan(scenario, capabilities)) return refused(*refusal);
    return planned(scenario, capabilities);
  }
  if (auto const refusal = refuse_to_run(scenario, capabilities)) return refused(*refusal);
  try {
    RunResult result = run_all(scenario, options, seed);
    result.notes.insert(result.notes.end(), capabilities.notes.begin(), capabilities.notes.end());
    return result;
  } catch (std::bad_alloc const&) {
    return refused({.id = "out_of_memory", .message = "this machine has no more memory"});
  }
}

/// The scenario with what the options replace.
Scenario effective(Scenario scenario, RunOptions const& options) {
  scenario.engine.replace(engine_here(options.engine.value_or(scenario.engine.name)));
  if (!options.bug.empty()) scenario.bug = options.bug;
  if (options.schedule) scenario.schedule = *options.schedule;
  return scenario;
}

}  // namespace

RunResult run_scenario(Scenario const& scenario, RunOptions const& options) {
  auto const begin = std::chrono::steady_clock::now();
  Scenario const here = effective(scenario, options);
  std::uint64_t const seed = options.seed.value_or(scenario.seed.value_or(0));
  RunResult result = judge(here, options, seed);

  result.name = scenario.name;
  result.seed = seed;
  result.engine = here.engine.name;
  if (here.engine.name != options.engine.value_or(scenario.engine.name))
    result.notes.push_back("engine " + scenario.engine.name + " runs here as " + here.engine.name);
  result.expected = text_of(scenario.expect);
  result.operations = static_cast<int>(operation_count(scenario.program));
  result.met = result.planned ? may_be_met(scenario.expect) : meets(result, scenario.expect);
  result.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace adamant::scenarios
