#include "scenarios/runner/run.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "scenarios/judge/budgets.h"
#include "scenarios/judge/dump/dump.h"
#include "scenarios/judge/memory_plan.h"
#include "scenarios/judge/verdict.h"
#include "scenarios/language/laws.h"
#include "scenarios/runner/admission.h"
#include "scenarios/runner/expectation.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

/// The verdict, after it the dump where one is wanted, and then who counts.
class VerdictAndDump final : public Observer {
 public:
  VerdictAndDump(Verdict& verdict, Dump* dump, std::function<void()> const& count)
      : verdict_(verdict), dump_(dump), count_(count) {
    if (dump_ == nullptr) return;
    verdict_.watch_replayed_steps(
        [this](Primitive const& step, WorldView const& world) { dump_->after(step, world); });
  }

  bool started(WorldView const& world) override {
    bool const go_on = verdict_.started(world);
    if (dump_ != nullptr) dump_->started(world);
    return go_on;
  }
  bool after(Primitive const& operation, WorldView const& world) override {
    bool const go_on = verdict_.after(operation, world);
    if (dump_ != nullptr) dump_->after(operation, world);
    if (count_) count_();
    return go_on;
  }
  void finished(WorldView const& world) override { verdict_.finished(world); }
  void ended(Leftovers const& left) override { verdict_.ended(left); }
  bool restarted(Primitive const& load, WorldView const& world) override {
    return verdict_.restarted(load, world);
  }
  void crashed(Primitive const& save, bool returned) override { verdict_.crashed(save, returned); }
  void damaged(Primitive const& load, DamagedFiles const& files) override {
    verdict_.damaged(load, files);
  }
  void refused(Primitive const& load, EngineFailure const& why, WorldView const* world) override {
    verdict_.refused(load, why, world);
  }

 private:
  Verdict& verdict_;
  Dump* dump_;
  std::function<void()> const& count_;
};

std::uint64_t operations_of(Program const& program) {
  ProgramWalk walk(program);
  std::uint64_t count = 0;
  while (walk.next()) ++count;
  return count;
}

/// A scenario that nothing refuses, ready to be run under one schedule after the other.
class Runner {
 public:
  /// `runs`: how many are planned, for who waits for them.
  Runner(Scenario const& scenario, RunOptions const& options, std::uint64_t seed, int runs)
      : scenario_(scenario),
        options_(options),
        seed_(seed),
        program_(scenario),
        parameters_(parameter_specs(scenario)),
        engine_(make_scenario_engine(scenario.engine.name)) {
    if (options.progress) count_from(operations_of(program_) * static_cast<std::uint64_t>(runs));
  }

  /// One run; a dump is written only where the caller wants one of this run.
  RunResult run(Schedule const& schedule, bool dump);
  /// Enters into `result` what is kept of no run unless somebody wants it: the lines of the source
  /// that violations are about, which the engine then has to watch for, and the timeline. Runs it
  /// again, by its choices.
  void look_again(RunResult& result, bool timeline);

 private:
  /// Of a run that is repeated.
  struct Again {
    std::shared_ptr<LinesSought const> lines_sought = nullptr;
    bool timeline = false;
  };
  /// `verdict` outlives it.
  std::unique_ptr<Dump> new_dump(Verdict const& verdict) const;
  RunResult execute(Schedule const& schedule, bool dump, Again again);
  void count_from(std::uint64_t planned);
  EngineTask task(Schedule const& schedule, Verdict const& verdict) const;

  Scenario const& scenario_;
  RunOptions const& options_;
  std::uint64_t seed_;
  Program program_;
  std::vector<ParameterSpec> parameters_;
  std::unique_ptr<ScenarioEngine> engine_;
  Schedule last_schedule_;
  std::shared_ptr<LinesSought const> last_sought_;
  std::function<void()> count_;  // an operation was executed
};

/// One that looks again after a violation executes more than was planned.
void Runner::count_from(std::uint64_t planned) {
  options_.progress(0, planned);  // the first operation may take long
  count_ = [this, planned, done = std::uint64_t{0}]() mutable {
    ++done;
    options_.progress(done, std::max(done, planned));
  };
}

EngineTask Runner::task(Schedule const& schedule, Verdict const& verdict) const {
  return {.scenario = scenario_,
          .program = program_,
          .parameters = parameters_,
          .seed = seed_,
          .schedule = schedule,
          .initial_values = [&](int parameter) { return verdict.initial_values(parameter); },
          .device_bytes = options_.device_bytes,
          .loopback = options_.loopback,
          .foreign_checkpoints = options_.checkpoints};
}

// In the order of operations, and of one operation what the world saw first: a wrong value is often
// only its consequence.
void join_violations(RunResult& result, std::vector<Violation> found) {
  for (Violation& violation : found)
    if (!full(result.violations, violation.law)) result.violations.push_back(std::move(violation));
  std::stable_sort(
      result.violations.begin(), result.violations.end(),
      [](Violation const& a, Violation const& b) { return a.operation < b.operation; });
}

// Nothing was broken on purpose in the world around the engine, so but for memory it has no reason
// to fail.
Violation unexpected(EngineFailure const& failure) {
  return {.law = Law::error_clean,
          .breach = Breach::failed,
          .operation = failure.operation,
          .rank = failure.rank,
          .subject = failure.call,
          .text = failure.message};
}

void conclude(RunResult& result, std::optional<EngineFailure> const& failure) {
  if (failure && failure->reason.empty() && result.violations.empty())
    result.violations.push_back(unexpected(*failure));
  if (!result.violations.empty()) {
    result.outcome = Outcome::violated;
  } else if (!failure) {
    result.outcome = Outcome::pass;
  } else {
    result.outcome = Outcome::refused;
    result.reason = failure->reason;
    result.message = failure->message;
    result.failed_at = FailedAt{.rank = failure->rank, .operation = failure->operation};
  }
}

RunResult Runner::run(Schedule const& schedule, bool dump) {
  last_schedule_ = schedule;
  return execute(schedule, dump, {});
}

void Runner::look_again(RunResult& result, bool timeline) {
  if (last_sought_ == nullptr) return;
  last_schedule_.choices = result.choices;
  RunResult again = execute(last_schedule_, false, {last_sought_, timeline});
  if (again.digest == result.digest) {
    // One that is about two runs is not found again.
    if (again.violations.size() == result.violations.size())
      result.violations = std::move(again.violations);
    result.warnings = std::move(again.warnings);
    result.timeline = std::move(again.timeline);
  } else {
    result.notes.push_back(
        "source lines are missing: the scenario did not do the same again with the same choices");
  }
}

std::unique_ptr<Dump> Runner::new_dump(Verdict const& verdict) const {
  Dumped dumped{
      .parameter_count = static_cast<int>(parameters_.size()),
      .spec = [&](int parameter) -> ParameterSpec const& { return verdict.spec(parameter); },
      .settings = [&](int group) -> AdamConfig const& { return verdict.settings(group); }};
  return std::make_unique<Dump>(*options_.dump, options_.dump_process, std::move(dumped));
}

RunResult Runner::execute(Schedule const& schedule, bool dump, Again again) {
  Verdict verdict(scenario_, program_, parameters_, seed_);
  std::unique_ptr<Dump> const files = dump ? new_dump(verdict) : nullptr;
  VerdictAndDump observer(verdict, files.get(), count_);
  EngineTask of_run = task(schedule, verdict);
  of_run.lines_sought = std::move(again.lines_sought);
  of_run.timeline = again.timeline;
  EngineEnd end = engine_->execute(of_run, observer);
  last_sought_ = std::move(end.lines_sought);

  RunResult result;
  result.engine = engine_->name();
  join_violations(result, std::move(end.violations));
  join_violations(result, verdict.violations());
  if (options_.strict)
    join_violations(result, std::move(end.warnings));
  else
    result.warnings = std::move(end.warnings);
  conclude(result, end.failure);
  result.notes = verdict.notes();
  result.notes.insert(result.notes.end(), end.notes.begin(), end.notes.end());
  result.choices = std::move(end.choices);
  result.digest = end.digest;
  result.values_digest = end.values_digest;
  result.simulated_seconds = end.simulated_seconds;
  result.device_peak_bytes = end.device_peak_bytes;
  result.pinned_peak_bytes = end.pinned_peak_bytes;
  result.peak_bytes = verdict.peak_bytes();
  result.timeline = std::move(end.timeline);
  result.schedule_chance = end.schedule_chance;
  result.marks = end.marks;
  result.schedules = 1;
  if (files && result.outcome != Outcome::refused) files->commit();
  return result;
}

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

RunResult run_schedules(Scenario const& scenario, RunOptions const& options, std::uint64_t seed) {
  bool const repeat = options.repeat || options.schedules > 0 || expects_other_digest(scenario);
  Runner runner(scenario, options, seed, 1 + int{repeat} + options.schedules);
  RunResult result = runner.run(scenario.schedule, options.dump.has_value());
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

RunResult refused(Refusal const& refusal) {
  RunResult result;
  result.outcome = Outcome::refused;
  result.reason = refusal.id;
  result.message = refusal.message;
  return result;
}

bool uses_checkpoints(Scenario const& scenario) {
  return std::any_of(scenario.program.begin(), scenario.program.end(), [](Operation const& each) {
    return std::holds_alternative<Save>(each.action) || std::holds_alternative<Load>(each.action);
  });
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
  result.planned = plan_memory(scenario);
  for (PlannedMemory const& planned : *result.planned) raise_to(result.peak_bytes, planned.peak);
  if (uses_checkpoints(scenario))
    result.notes.push_back("save and load may take up to " +
                           std::to_string(checkpoint_bytes_max >> 20) +
                           " MiB more of each rank while they run");
  return result;
}

RunResult judge(Scenario const& scenario, RunOptions const& options, std::uint64_t seed) {
  auto const capabilities = capabilities_of(scenario.engine.name);
  if (options.dry) {
    if (auto const refusal = refuse_to_plan(scenario, capabilities)) return refused(*refusal);
    return planned(scenario, capabilities);
  }
  if (auto const refusal = refuse_to_run(scenario, capabilities)) return refused(*refusal);
  try {
    return run_schedules(scenario, options, seed);
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
