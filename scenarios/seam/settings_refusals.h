// What a scenario asks of an engine by its settings and by each operation for itself, and the
// refusals of what that engine does not offer: the part of seam/refusals.h that needs no order of
// operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

/// The reason to refuse what `scenario` sets, or none.
std::optional<Refusal> refuse_settings(Scenario const& scenario, Capabilities const& capabilities);

/// The reason to refuse one of its operations, saves and loads apart, or none.
std::optional<Refusal> refuse_operations(Scenario const& scenario,
                                         Capabilities const& capabilities);

/// The first parameter whose types nothing could keep together; one with a remainder that it cannot
/// have goes before all others.
struct ConflictOfParam {
  Param const* param = nullptr;
  TypeConflict conflict;
};
std::optional<ConflictOfParam> first_conflict(Scenario const& scenario);

/// What an engine offers of number formats, for a reader: "param and grad fp32 or bf16, …".
std::string text_of(std::vector<PrecisionOffer> const& precisions);

/// Is the gradient of some parameter handed over as a copy in another type?
bool makes_cast_copy(Scenario const& scenario);

/// "replicate: 1", or up to how many.
std::string replicas(std::int64_t max);

}  // namespace adamant::scenarios
