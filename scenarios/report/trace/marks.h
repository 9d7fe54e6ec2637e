// Which events of a timeline the violations of a result are about.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// Do runs of this engine have timelines?
bool has_simulated_time(std::string_view engine);

/// The events of the violation's accesses, or its own. Where it has none, as one that is found by
/// comparing values: the last that its rank's host did in its operation, after which values are
/// compared; outside of all operations its last call. Empty where the timeline has nothing of all
/// this.
std::vector<int> events_of(Violation const& violation, Timeline const& timeline);

/// Is a moment, of which no slice can be made?
bool is_instant(TimelineEvent const& event);

/// Where a violation is seen: at the beginning of an access, at the end of a span.
std::uint64_t marked_ns(TimelineEvent const& event);

}  // namespace adamant::scenarios
