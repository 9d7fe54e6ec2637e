// The key `memory` of a result: what a run had at most, or what a dry run says that ranks would
// need.
#pragma once

#include "scenarios/language/json_text.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// Peaks of the whole run, and `by_purpose` those of the rank that had most of each; purposes that
/// had none are left out. Of a dry run peaks are sums over purposes of one rank, and `ranks` has
/// each world's ranks by what they need.
StrictJson memory_to_json(RunResult const& result);

/// The inverse. REQUIRES: `json` was made by it.
void take_memory(StrictJson const& json, RunResult& result);

}  // namespace adamant::scenarios
