// A violation as JSON: for readers in words, as ever, and value by value for programs and for the
// pipe from a worker to its parent, which takes nothing but the values back.
#pragma once

#include "scenarios/language/json_text.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// What the violation is not about is absent, but for `operation`, which is null outside of all.
StrictJson to_json(Violation const& violation);

/// What is known of an exception, as keys of `json`; and back.
void add_thrown(StrictJson& json, Thrown const& thrown);
Thrown thrown_in(StrictJson const& json);

/// The inverse of to_json(). REQUIRES: `json` was made by it.
Violation violation_from_json(StrictJson const& json);

}  // namespace adamant::scenarios
