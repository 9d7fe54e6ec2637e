// What a worker process says about one scenario: how it ran, or why this program cannot run it. A
// line goes over a pipe; the parent turns it, or the worker's death, into a RunResult and a status.
#pragma once

#include <string>

#include "scenarios/language/json_text.h"
#include "scenarios/language/scenario.h"
#include "scenarios/pool/pool.h"
#include "scenarios/report/status.h"
#include "scenarios/runner/run.h"

namespace adamant::scenarios {

/// Runs the scenario, in a worker; `spoilt` where the process can run no other. Nothing is thrown:
/// what the run throws becomes part of the line.
StrictJson run_in_worker(Scenario const& scenario, RunOptions const& options);

/// The same in a search, where most cases end as expected: of those there is no result. What a
/// ledger counts is there of all, `schedule_chance` and `marks` where they are not 0.
StrictJson search_in_worker(Scenario const& scenario, RunOptions const& options);

/// A line of those two; the last one of a process that is spoilt.
Answer to_answer(StrictJson const& line);

struct Ended {
  RunResult result;
  Status status = Status::met;
};

/// The answer of run_in_worker(), in the parent.
Ended ended_with(StrictJson const& answer, Scenario const& scenario, RunOptions const& options);
/// The same for a worker that died: outcome `error`, with how it died as reason.
Ended ended_by_death(std::string const& death, Scenario const& scenario, RunOptions const& options);

}  // namespace adamant::scenarios
