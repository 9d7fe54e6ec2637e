// Which adamant this is.
#pragma once

#include "scenarios/report/provenance.h"

namespace adamant::scenarios {

/// As it signs what it writes.
Writer const& this_program();

}  // namespace adamant::scenarios
