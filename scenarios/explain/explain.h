// The operations and roundings behind one value. The scenario runs beside the oracle as ever, and
// of the operation that is asked for the oracle's arithmetic is told, number by number. It judges
// nothing: where the engine is wrong, what is told is what would have been right.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "oracle/explain/told.h"
#include "scenarios/language/json_text.h"
#include "scenarios/language/scenario.h"
#include "scenarios/runner/run.h"

namespace adamant::scenarios {

/// One primitive operation that made an element what it is.
struct Explanation {
  int operation = -1;  // index of the program's entry; -1: none has changed it yet
  std::string_view primitive = "";
  std::string_view arithmetic = "";
  oracle::Told told = {};
};

/// What an entry of the program did to the element (KEY[INDEX]), each primitive of it by itself:
/// the last entry that may change it, up to `operation` and up to the first broken law.
///
/// REQUIRES: refuse_to_run() has nothing against the scenario.
/// Errors: oracle::NoSuchElement; MachineLacks.
std::vector<Explanation> explain(Scenario const& scenario, RunOptions const& options,
                                 std::string_view element, std::optional<std::int64_t> operation);

std::string describe(Explanation const& explanation, std::string_view element);
StrictJson to_json(Explanation const& explanation);

}  // namespace adamant::scenarios
