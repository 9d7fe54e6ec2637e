// What a search did, as a section of a page: chances, schedules, what the simulated hardware did,
// which features and pairs occurred and which never did, and how the findings came over the cases.
#pragma once

#include <string>

#include "scenarios/campaign/ledger.h"

namespace adamant::scenarios {

/// The section, with the id `ledger`. What nothing was counted of is left out.
std::string ledger_section(Ledger const& ledger);

}  // namespace adamant::scenarios
