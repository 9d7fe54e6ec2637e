#include "scenarios/runner/runner.h"

#include <algorithm>
#include <optional>
#include <string>

namespace adamant::scenarios {

namespace {

/// The verdict, after it the dump where one is wanted, then who looks and who counts.
class VerdictAndDump final : public Observer {
 public:
  VerdictAndDump(Verdict& verdict, Dump* dump, Runner::Look const& look,
                 std::function<void()> const& count)
      : verdict_(verdict), dump_(dump), look_(look), count_(count) {
    if (dump_ == nullptr) return;
    verdict_.watch_replayed_steps(
        [this](WorldView const& world) { dump_->after({.what = Step{}}, world); });
  }

  bool started(WorldView const& world) override {
    bool const go_on = verdict_.started(world);
    if (dump_ != nullptr) dump_->started(world);
    return go_on;
  }
  bool after(Primitive const& operation, WorldView const& world) override {
    bool const go_on = verdict_.after(operation, world);
    if (dump_ != nullptr) dump_->after(operation, world);
    if (look_) look_(operation, world);
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
  Runner::Look const& look_;
  std::function<void()> const& count_;
};

std::uint64_t operations_of(Program const& program) {
  ProgramWalk walk(program);
  std::uint64_t count = 0;
  while (walk.next()) ++count;
  return count;
}

// Nothing was broken on purpose in the world around the engine, so but for memory it has no reason
// to fail.
Violation unexpected(EngineFailure const& failure) {
  return {.law = Law::error_clean,
          .breach = Breach::failed,
          .operation = failure.operation,
          .rank = failure.rank,
          .subject = failure.call,
          .text = failure.message,
          .thrown = failure.thrown};
}

void conclude(RunResult& result, std::optional<EngineFailure> const& failure) {
  result.spoilt = failure && failure->spoilt;
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
    result.failed_at =
        FailedAt{.rank = failure->rank, .operation = failure->operation, .thrown = failure->thrown};
  }
}

}  // namespace

void join_violations(RunResult& result, std::vector<Violation> found) {
  for (Violation& violation : found)
    if (!full(result.violations, violation.law)) result.violations.push_back(std::move(violation));
  std::stable_sort(
      result.violations.begin(), result.violations.end(),
      [](Violation const& a, Violation const& b) { return a.operation < b.operation; });
}

Runner::Runner(Scenario const& scenario, RunOptions const& options, std::uint64_t seed, int runs)
    : scenario_(scenario),
      options_(options),
      seed_(seed),
      program_(scenario),
      parameters_(parameter_specs(scenario)),
      engine_(make_scenario_engine(scenario.engine.name)) {
  if (options.progress) count_from(operations_of(program_) * static_cast<std::uint64_t>(runs));
}

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
    for (std::string& note : again.notes)  // of what it looked for
      if (std::ranges::count(result.notes, note) == 0) result.notes.push_back(std::move(note));
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

RunResult Runner::execute(Schedule const& schedule, bool dump, Repetition again) {
  Verdict verdict(scenario_, program_, parameters_, seed_);
  std::unique_ptr<Dump> const files = dump ? new_dump(verdict) : nullptr;
  VerdictAndDump observer(verdict, files.get(), look_, count_);
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

}  // namespace adamant::scenarios
