#include "scenarios/search/minimize/passes.h"

#include <array>
#include <iterator>
#include <utility>

namespace adamant::scenarios {

// First what makes runs short, then what readers see first, last what only the normal form asks
// for.
std::span<Pass const> passes() {
  using namespace passes_of;
  static constexpr std::array all{
      Pass{"schedule", simplify_schedule},
      Pass{"further runs", simplify_further_runs},
      Pass{"everything small", shrink_everything},
      Pass{"program's end", cut_program},
      Pass{"operations", drop_operations},
      Pass{"parameters", drop_params},
      Pass{"parts and other names", plainer_params},
      Pass{"settings", reset_settings},
      Pass{"precision", reset_precision},
      Pass{"offload", reset_offload},
      Pass{"faults", simplify_faults},
      Pass{"groups", drop_groups},
      Pass{"world", shrink_world},
      Pass{"microbatches", shrink_microbatches},
      Pass{"shapes", shrink_shapes},
      Pass{"what operations say", simplify_actions},
      Pass{"eager replays", replay_eagerly},
      Pass{"pairs of operations", drop_pairs},
      Pass{"plainer operations", plainer_operations},
      Pass{"joined operations", join_operations},
      Pass{"order of operations", order_operations},
      Pass{"order of parameters", order_params},
      Pass{"usual settings", usual_settings},
      Pass{"usual precision", usual_precision},
      Pass{"seed", smaller_seed},
      Pass{"shapes under other seeds", shrink_with_other_seed},
      Pass{"names", rename},
  };
  return all;
}

void look_at_proposals(Pass const& pass, Scenario const& scenario, Capabilities const& capabilities,
                       std::size_t first, Candidates::Look const& look) {
  Candidates candidates(scenario, capabilities, first, look);
  pass.propose(scenario, candidates);
}

std::vector<Scenario> proposed_by(Pass const& pass, Scenario const& scenario,
                                  Capabilities const& capabilities) {
  std::vector<Scenario> all;
  look_at_proposals(pass, scenario, capabilities, 0, [&](Scenario candidate, std::size_t) {
    all.push_back(std::move(candidate));
    return true;
  });
  return all;
}

std::vector<Scenario> simpler(Scenario const& scenario, Capabilities const& capabilities) {
  std::vector<Scenario> all;
  for (Pass const& pass : passes()) {
    std::vector<Scenario> proposed = proposed_by(pass, scenario, capabilities);
    all.insert(all.end(), std::make_move_iterator(proposed.begin()),
               std::make_move_iterator(proposed.end()));
  }
  return all;
}

}  // namespace adamant::scenarios
