// Bytes by purpose as tables for people. It prints nothing itself.
#pragma once

#include <string>
#include <vector>

#include "scenarios/seam/memory.h"

namespace adamant::scenarios {

/// The most that one rank of a run had, purpose by purpose; indented.
std::string table_of(BytesByPurpose const& peak);

/// A table for each set of ranks that need the same, headed by which they are; indented.
std::string tables_of(std::vector<PlannedMemory> const& planned);

}  // namespace adamant::scenarios
