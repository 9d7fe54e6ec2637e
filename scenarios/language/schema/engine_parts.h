// The parts of scenarios/engine.schema.json that the tables make: what `hello`, `open`, `set` and
// `state` say of the language. The rest of the protocol stands in that file alone.
#pragma once

#include <string>
#include <vector>

#include "scenarios/language/schema/schema.h"

namespace adamant::scenarios {

/// A part by its place in the file, a JSON pointer.
struct SchemaPart {
  std::string place;
  OrderedJson json;
};

std::vector<SchemaPart> engine_schema_parts();

}  // namespace adamant::scenarios
