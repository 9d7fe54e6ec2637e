// The ways in which a scenario gets simpler, one small function each: it proposes simpler scenarios
// in a fixed order, the boldest first, and does not know which of them still fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/search/minimize/candidates.h"

namespace adamant::scenarios {

struct Pass {
  std::string_view name;
  void (*propose)(Scenario const& scenario, Candidates& candidates);
};

/// All passes, in the order in which minimising applies them.
std::span<Pass const> passes();

/// Shows what one pass proposes, from number `first` on; see Candidates.
void look_at_proposals(Pass const& pass, Scenario const& scenario, Capabilities const& capabilities,
                       std::size_t first, Candidates::Look const& look);

/// All that one pass proposes. All are lighter than `scenario`, well-formed and supported.
std::vector<Scenario> proposed_by(Pass const& pass, Scenario const& scenario,
                                  Capabilities const& capabilities = capabilities_of_simulation());

/// What all passes propose: the shrinker of generated scenarios.
std::vector<Scenario> simpler(Scenario const& scenario,
                              Capabilities const& capabilities = capabilities_of_simulation());

namespace passes_of {

/// Seeds that are tried in place of a scenario's own: 0 and on.
inline constexpr std::uint64_t small_seeds = 8;

// Operations, pass_operations.cpp.
void cut_program(Scenario const& scenario, Candidates& candidates);
void drop_operations(Scenario const& scenario, Candidates& candidates);
void drop_pairs(Scenario const& scenario, Candidates& candidates);
void plainer_operations(Scenario const& scenario, Candidates& candidates);
void order_operations(Scenario const& scenario, Candidates& candidates);
void join_operations(Scenario const& scenario, Candidates& candidates);
// What one operation says, pass_actions.cpp.
void simplify_actions(Scenario const& scenario, Candidates& candidates);
void replay_eagerly(Scenario const& scenario, Candidates& candidates);

// Parameters and groups, pass_params.cpp.
void drop_params(Scenario const& scenario, Candidates& candidates);
void plainer_params(Scenario const& scenario, Candidates& candidates);
void drop_groups(Scenario const& scenario, Candidates& candidates);
void order_params(Scenario const& scenario, Candidates& candidates);
void rename(Scenario const& scenario, Candidates& candidates);
// Sizes, pass_sizes.cpp.
void shrink_everything(Scenario const& scenario, Candidates& candidates);
void shrink_world(Scenario const& scenario, Candidates& candidates);
void shrink_microbatches(Scenario const& scenario, Candidates& candidates);
void shrink_shapes(Scenario const& scenario, Candidates& candidates);
void shrink_with_other_seed(Scenario const& scenario, Candidates& candidates);

// Everything that has a default, pass_settings.cpp.
void reset_settings(Scenario const& scenario, Candidates& candidates);
void usual_settings(Scenario const& scenario, Candidates& candidates);
void reset_offload(Scenario const& scenario, Candidates& candidates);
void simplify_faults(Scenario const& scenario, Candidates& candidates);
// Further runs, pass_further_runs.cpp.
void simplify_further_runs(Scenario const& scenario, Candidates& candidates);
// Number formats, pass_precision.cpp.
void reset_precision(Scenario const& scenario, Candidates& candidates);
void usual_precision(Scenario const& scenario, Candidates& candidates);
// Chance, pass_chance.cpp.
void simplify_schedule(Scenario const& scenario, Candidates& candidates);
void smaller_seed(Scenario const& scenario, Candidates& candidates);

}  // namespace passes_of

}  // namespace adamant::scenarios
