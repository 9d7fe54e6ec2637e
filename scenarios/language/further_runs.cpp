#include "scenarios/language/further_runs.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "scenarios/language/operations.h"

namespace adamant::scenarios {

namespace {

/// The scenario as every further run of it is.
Scenario alone(Scenario scenario) {
  scenario.microbatches = scenario.microbatch_count();
  scenario.other_worlds.clear();
  scenario.again.clear();
  scenario.schedule = {};
  return scenario;
}

bool mentions(Scenario const& scenario, std::string const& checkpoint) {
  auto const names = [&](auto const& verbs, auto name) {
    return std::ranges::any_of(verbs, [&](auto const* verb) { return verb->*name == checkpoint; });
  };
  return names(all<Save>(scenario.program), &Save::checkpoint) ||
         names(all<Load>(scenario.program), &Load::from);
}

/// A checkpoint that the program does not know, the same one each time.
std::string own_checkpoint(Scenario const& scenario) {
  std::string name = "resumed";
  while (mentions(scenario, name)) name += "_";
  return name;
}

World world_at(Scenario const& scenario, std::int64_t entries) {
  World world = scenario.world;
  std::span<Operation const> const program = scenario.program;
  for (Load const* load : all<Load>(program.first(static_cast<std::size_t>(entries))))
    world = load->world.value_or(world);
  return world;
}

/// The saves and loads that come between.
std::vector<Operation> way_of(Scenario const& scenario, Again const& again) {
  std::string const checkpoint = own_checkpoint(scenario);
  std::vector<World> worlds = again.through;
  worlds.push_back(world_at(scenario, *again.resumed_after));
  std::vector<Operation> way;
  for (World const& world : worlds) {
    way.push_back({.action = Save{.checkpoint = checkpoint}});
    Load load{.from = checkpoint, .world = world, .anew = true};
    if (again.order == ParamOrder::reversed) load.order = again.order;
    way.push_back({.action = std::move(load)});
  }
  return way;
}

FurtherRun in_world(Scenario const& scenario, std::size_t number) {
  FurtherRun run{.scenario = alone(scenario), .promise = Promise::worlds, .number = number};
  run.scenario.world = scenario.other_worlds[number];
  return run;
}

FurtherRun once_more(Scenario const& scenario, std::size_t number) {
  Again const& again = scenario.again[number];
  FurtherRun run{.scenario = alone(scenario), .promise = promise_of(again), .number = number};
  replace_options(run.scenario.engine.options, again.options);
  if (!again.resumed_after) return run;
  std::vector<Operation> const way = way_of(scenario, again);
  auto& program = run.scenario.program;
  auto const place = program.begin() + *again.resumed_after;
  run.inserted_at = static_cast<int>(operation_count({program.begin(), place}));
  run.inserted = static_cast<int>(way.size());
  program.insert(place, way.begin(), way.end());
  return run;
}

}  // namespace

int FurtherRun::original(int entry) const {
  if (entry < inserted_at) return entry;
  return has_inserted(entry) ? inserted_at - 1 : entry - inserted;
}

void replace_options(EngineOptions& options, EngineOptions const& others) {
  for (auto const& other : others) {
    std::erase_if(options, [&](auto const& option) { return option.first == other.first; });
    options.push_back(other);
  }
}

std::vector<FurtherRun> further_runs(Scenario const& scenario) {
  std::vector<FurtherRun> runs;
  for (std::size_t i = 0; i < scenario.other_worlds.size(); ++i)
    runs.push_back(in_world(scenario, i));
  for (std::size_t i = 0; i < scenario.again.size(); ++i) runs.push_back(once_more(scenario, i));
  return runs;
}

}  // namespace adamant::scenarios
