// How much there is to look at before anything runs, which no engine has to do with: a small file
// may ask for more than anybody waits for. A part of seam/refusals.h.
#pragma once

#include <optional>

#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

/// Of parameters, once for each setting that loads lead to, and of operations, those of captures
/// four times as often as they are recorded; all of it once for each run.
inline constexpr std::int64_t extent_max = std::int64_t{1} << 20;

/// `unsupported.extent` where there are more, at the operation that is one too many.
///
/// Time: as the file is long.
std::optional<Refusal> refuse_extent(Scenario const& scenario);

}  // namespace adamant::scenarios
