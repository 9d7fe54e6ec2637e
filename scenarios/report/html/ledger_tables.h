// What a search did, as a section of a page: chances, schedules, what the simulated hardware did,
// which features and pairs occurred and which never did, and how the findings came over the cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/campaign/ledger.h"

namespace adamant::scenarios {

/// The section, with the id `ledger`. What nothing was counted of is left out.
std::string ledger_section(Ledger const& ledger);

/// A curve as a picture in SVG: how many of `events` are below each number from 0 to `last`: a step
/// up at each. `title` is for who cannot see it. REQUIRES: events are not above `last`, which is
/// not 0.
std::string step_curve(std::vector<std::uint64_t> events, std::uint64_t last,
                       std::string const& title);

}  // namespace adamant::scenarios
