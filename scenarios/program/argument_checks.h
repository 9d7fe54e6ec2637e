// What is wrong with options only together: two outputs into one file, shards that could not be put
// together again. It knows how options are called, and not how they are parsed.
#pragma once

#include "scenarios/program/arguments.h"

namespace adamant::scenarios {

/// Refuses what does not go together, and gives each shard of a search its own directory.
///
/// Errors: EndOfProgram with status 2.
void check_together(Arguments& arguments);

}  // namespace adamant::scenarios
