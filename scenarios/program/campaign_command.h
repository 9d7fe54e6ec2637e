// `adamant fuzz --campaign DIR`: a search that keeps what it does, shares its cases with other
// processes, and goes on where it was.
#pragma once

#include <chrono>
#include <optional>

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// One shard's part, which ends at `until` where that is given (--for). Ends with 1 if the shard
/// has found anything, now or earlier.
///
/// Errors: CannotWrite; CampaignError.
Status campaign_command(Arguments const& arguments,
                        std::optional<std::chrono::steady_clock::time_point> until);

/// `adamant merge DIR…`: what all shards have found, each defect once, and their ledger. Ends with
/// 1 if that is anything.
///
/// Errors: CannotWrite; CampaignError.
Status merge_command(Arguments const& arguments);

}  // namespace adamant::scenarios
