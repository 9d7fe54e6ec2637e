// The parts of seam/refusals.h: what a scenario asks of an engine by its settings and by each
// operation for itself, without an order of operations; what steps find of gradients, told from the
// program alone; checkpoints and faults; further runs; and how much there is to look at.
//
// Each goes through what it is about in order and ends at the first reason that it finds, so a part
// that returns has none.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/further_runs.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

/// Ends a part of refuse(). It does not leave first_refusal().
struct Refused {
  Refusal refusal;
};

/// Ends it for `unsupported.<detail>` at that line.
///
/// Errors: Refused, always.
template <typename... Args>
[[noreturn]] void refuse_at(SourceLine line, std::string_view detail,
                            fmt::format_string<Args...> message, Args&&... args) {
  throw Refused{unsupported(detail, fmt::format(message, std::forward<Args>(args)...), line)};
}

/// For a reason that was found elsewhere.
///
/// Errors: Refused where there is one.
inline void refuse_where(std::optional<Refusal> found) {
  if (found) throw Refused{std::move(*found)};
}

/// The reason at which these parts of refuse() end, or none.
template <typename Parts>
std::optional<Refusal> first_refusal(Parts const& parts) {
  try {
    parts();
    return std::nullopt;
  } catch (Refused& refused) {
    return std::move(refused.refusal);
  }
}

/// Refuses what `scenario` sets. Errors: Refused.
void refuse_settings(Scenario const& scenario, Capabilities const& capabilities);

/// Refuses one of its operations, saves and loads apart. Errors: Refused.
void refuse_operations(Scenario const& scenario, Capabilities const& capabilities);

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

/// The reason to refuse how `scenario` uses gradients, or none: which parameters have one when they
/// step, whether it has been divided by a loss scale before, and whether its type lets that happen.
///
/// Both kinds of step counters count the same as long as every parameter has a gradient in every
/// step, so the other kind does there.
std::optional<Refusal> refuse_gradient_use(Scenario const& scenario,
                                           Capabilities const& capabilities);

/// Are there two saves of what the nth load of the program loads, from 1, before it?
bool has_older_save(Scenario const& scenario, std::int64_t nth);

/// Refuses what `scenario` says of saves, loads and faults. Errors: Refused.
void refuse_checkpoints(Scenario const& scenario, Capabilities const& capabilities);

/// Refuses a further run that need not come to the same, or cannot be made. Errors: Refused.
void refuse_further_run(Scenario const& scenario, FurtherRun const& run);

/// Of parameters, once for each setting that loads lead to, and of operations, those of captures
/// four times as often as they are recorded; all of it once for each run. A small file may ask for
/// more than anybody waits for.
inline constexpr std::int64_t extent_max = std::int64_t{1} << 20;

/// `unsupported.extent` where there are more, at the operation that is one too many.
///
/// Time:   as the file is long.
/// Errors: Refused.
void refuse_extent(Scenario const& scenario);

}  // namespace adamant::scenarios
