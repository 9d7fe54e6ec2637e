// A timeline as JSON, for the pipe from a worker to its parent. No document has it: traces and
// pages are made of the values.
#pragma once

#include "scenarios/language/json_text.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// The result's timeline, and which of its events the violations are about.
StrictJson timeline_to_json(RunResult const& result);

/// Puts both into a result without them.
///
/// Errors: those of nlohmann::json, and std::invalid_argument, where `json` was not made of it.
void add_timeline(RunResult& result, StrictJson const& json);

}  // namespace adamant::scenarios
