// What a doctor asks of an engine in scenarios: the ordinary runner executes them and the ordinary
// verdict judges, so a probe here is a plan and no code.
#pragma once

#include <string>
#include <vector>

#include "scenarios/peers/doctor/offered.h"
#include "scenarios/peers/doctor/probe.h"

namespace adamant::scenarios {

/// Small scenarios over everything that an engine may offer, simplest first: values and rows on
/// every number of ranks, gradients, steps, settings, recipes, options, checkpoints, damage and
/// crashes. What this one does not offer is among them, and is refused by seam/refusals.h.
std::vector<ProbePlan> plans_for(Capabilities const& offered);

/// Runs one of them on the engine of that name. A plan that the engine does not offer is not run.
///
/// Errors: MachineLacks where the engine cannot be started.
Probe run_plan(ProbePlan const& plan, Capabilities const& offered, std::string const& engine);

}  // namespace adamant::scenarios
