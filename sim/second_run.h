// The second run of a program, with the choices of a first one that broke a law: it names lines.
#pragma once

#include <functional>

#include "sim/sim.h"

namespace adamant::sim {

/// Enters into `report` the locations of the violations of `again`, which repeats the run, or, in
/// Report::unlocated, why there are none: `again` came to other violations or another digest,
/// because the program's state outlives its runs, or it did not end.
///
/// `again` is called in a forked process without output. So it changes nothing in this one, and
/// nothing is printed twice. Where it ends that process, `so_far` says what it found.
void locate_in_child(Report& report, std::function<Report()> const& again,
                     std::function<Report()> const& so_far);

}  // namespace adamant::sim
