// A scenario that nothing refuses, run under one schedule after the other: an engine executes it
// beside the oracle, and a verdict compares the two after every operation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "scenarios/judge/dump/dump.h"
#include "scenarios/judge/verdict.h"
#include "scenarios/runner/run.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class Runner {
 public:
  /// `runs`: how many are planned, for who waits for them.
  /// REQUIRES: scenario and options outlive it.
  Runner(Scenario const& scenario, RunOptions const& options, std::uint64_t seed, int runs);
  Runner(Scenario const&, RunOptions const&&, std::uint64_t, int) = delete;

  /// Called after each operation of the runs from here on, once it was judged.
  using Look = std::function<void(Primitive const& operation, WorldView const& world)>;
  void watch(Look look) { look_ = std::move(look); }

  /// One run; a dump is written only where the caller wants one of this run.
  RunResult run(Schedule const& schedule, bool dump);
  /// Enters into `result` what is kept of no run unless somebody wants it: the lines of the source
  /// that violations are about, which the engine then has to watch for, and the timeline. Runs it
  /// again, by its choices.
  void look_again(RunResult& result, bool timeline);

 private:
  /// Of a run that is repeated.
  struct Repetition {
    std::shared_ptr<LinesSought const> lines_sought = nullptr;
    bool timeline = false;
  };
  /// `verdict` outlives it.
  std::unique_ptr<Dump> new_dump(Verdict const& verdict) const;
  RunResult execute(Schedule const& schedule, bool dump, Repetition again);
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
  Look look_;
};

/// Enters what was found in the order of operations, and of one operation what the world saw first:
/// a wrong value is often only its consequence.
void join_violations(RunResult& result, std::vector<Violation> found);

}  // namespace adamant::scenarios
