// The text of a line of the source, read when the page is made.
#pragma once

#include <string>

#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// Without blanks before and behind it; empty where it cannot be read. A relative file is looked
/// for in the folder in which the program was called, then in the one it was built from.
std::string source_at(Location const& location);

}  // namespace adamant::scenarios
