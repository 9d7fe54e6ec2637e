// Fewer further runs, and each of them closer to the scenario itself.
#include <cstddef>

#include "scenarios/language/further_runs.h"
#include "scenarios/language/table.h"
#include "scenarios/search/minimize/passes.h"

namespace adamant::scenarios::passes_of {

namespace {

template <typename T>
void drop_each(Candidates& candidates, std::vector<T> Scenario::*list, std::size_t count) {
  candidates.offer([&](Scenario& s) { (s.*list).clear(); });
  for (std::size_t i = 0; i < count; ++i) {
    candidates.offer([&](Scenario& s) { s.*list = {(s.*list)[i]}; });
    candidates.offer(
        [&](Scenario& s) { (s.*list).erase((s.*list).begin() + static_cast<std::ptrdiff_t>(i)); });
  }
}

/// Fewer ranks, and no replicas. `world_of` finds the world in a scenario.
template <typename WorldOf>
void shrink(Candidates& candidates, World const& world, WorldOf const& world_of) {
  candidates.offer([&](Scenario& s) { world_of(s) = {.shard = world.shard}; });
  for (std::int64_t const fewer :
       {std::int64_t{1}, std::int64_t{2}, world.shard / 2, world.shard - 1})
    if (fewer >= 1 && fewer < world.shard)
      candidates.offer([&](Scenario& s) { world_of(s).shard = fewer; });
}

void simplify(Candidates& candidates, Again const& again, std::size_t i) {
  for_each_key<Again>(
      [&](auto const& row) { candidates.offer([&](Scenario& s) { reset(s.again[i], row); }); });
  for (std::ptrdiff_t o = 0; o < std::ssize(again.options); ++o)
    candidates.offer(
        [&](Scenario& s) { s.again[i].options.erase(s.again[i].options.begin() + o); });
  for (std::size_t w = 0; w < again.through.size(); ++w) {
    candidates.offer([&](Scenario& s) {
      s.again[i].through.erase(s.again[i].through.begin() + static_cast<std::ptrdiff_t>(w));
    });
    shrink(candidates, again.through[w],
           [&](Scenario& s) -> World& { return s.again[i].through[w]; });
  }
  if (!again.resumed_after) return;
  for (std::int64_t earlier = 0; earlier < *again.resumed_after; ++earlier)
    candidates.offer([&](Scenario& s) { s.again[i].resumed_after = earlier; });
}

}  // namespace

// What a further run breaks by itself needs none.
void simplify_further_runs(Scenario const& scenario, Candidates& candidates) {
  for (FurtherRun const& run : further_runs(scenario))
    candidates.offer([&](Scenario& s) { s = run.scenario; });
  drop_each(candidates, &Scenario::other_worlds, scenario.other_worlds.size());
  drop_each(candidates, &Scenario::again, scenario.again.size());
  for (std::size_t w = 0; w < scenario.other_worlds.size(); ++w)
    shrink(candidates, scenario.other_worlds[w],
           [&](Scenario& s) -> World& { return s.other_worlds[w]; });
  for (std::size_t i = 0; i < scenario.again.size(); ++i)
    simplify(candidates, scenario.again[i], i);
}

}  // namespace adamant::scenarios::passes_of
