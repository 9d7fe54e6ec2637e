// One run of a program in a world of its own: set up, run, reported, taken down.
#pragma once

#include <exception>
#include <functional>

#include "sim/sim.h"

namespace adamant::sim {

/// How a run ended: where an exception left a rank, there is a report as well.
struct Ended {
  Report report;
  std::exception_ptr failure;
};

/// REQUIRES: not inside a run.
Ended run_once(int ranks, std::function<void(int)> const& main, Options const& options);

// ---- of a run whose process ends inside of it ----

/// What was found until now.
Report report_so_far();
/// The next run of this process, which is about to end inside of a run, is in another world.
void leave_world();

}  // namespace adamant::sim
