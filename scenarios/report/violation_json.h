// A violation as JSON: for readers in words, as ever, and value by value for programs and for the
// pipe from a worker to its parent, which takes nothing but the values back.
#pragma once

#include <nlohmann/json.hpp>

#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// What the violation is not about is absent, but for `operation`, which is null outside of all.
nlohmann::ordered_json to_json(Violation const& violation);

/// What is known of an exception, as keys of `json`; and back.
void add_thrown(nlohmann::ordered_json& json, Thrown const& thrown);
Thrown thrown_in(nlohmann::ordered_json const& json);

/// The inverse of to_json(). REQUIRES: `json` was made by it.
Violation violation_from_json(nlohmann::ordered_json const& json);

}  // namespace adamant::scenarios
