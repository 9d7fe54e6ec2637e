#include "scenarios/language/operations.h"

namespace adamant::scenarios {

std::int64_t most_ranks(Scenario const& scenario) {
  std::int64_t ranks = scenario.world.rank_count();
  for (Load const* load : all<Load>(scenario.program))
    if (load->world) ranks = std::max(ranks, load->world->rank_count());
  return ranks;
}

std::set<std::string> loaded_from_outside(std::span<Operation const> program) {
  std::set<std::string> saved;
  std::set<std::string> outside;
  for (Operation const& operation : program) {
    if (auto const* save = std::get_if<Save>(&operation.action)) saved.insert(save->checkpoint);
    auto const* const load = std::get_if<Load>(&operation.action);
    if (load != nullptr && !saved.contains(load->from)) outside.insert(load->from);
  }
  return outside;
}

}  // namespace adamant::scenarios
