// The parts of scenarios/engine.schema.json that the tables make: what `hello`, `open`, `set` and
// `state` say of the language. The rest of the protocol stands in that file alone.
#pragma once

#include "scenarios/language/schema/schema.h"

namespace adamant::scenarios {

/// The schema with all such parts as the tables have them now.
///
/// Errors: OrderedJson::exception where it has no place for one.
OrderedJson with_engine_parts(OrderedJson schema);

}  // namespace adamant::scenarios
