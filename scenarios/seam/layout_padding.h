// How much of a layout's buffers is padding, as the oracle lays them out. Refusals and the search
// ask.
#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

/// Elements of all buffers of a setting that belong to no parameter, or nothing where a buffer has
/// too many of them. REQUIRES: so few ranks that an int counts them.
std::optional<std::int64_t> padding_of(Scenario const& setting);

/// `unsupported.layout_padding` where a buffer of the setting has more than 2^31 such elements.
std::optional<Refusal> refuse_padding(Scenario const& setting, SourceLine line);

}  // namespace adamant::scenarios
