#include "scenarios/search/generate/further_runs.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

namespace {

/// Takes the place of `scenario`, unless the engine refuses it.
bool take(Drawing const& draws, Scenario& scenario, Scenario candidate) {
  if (refuse(candidate, draws.able())) return false;
  scenario = std::move(candidate);
  return true;
}

/// Gradients whose sums round, and norms, depend on the world. Where they stand in the way they are
/// drawn otherwise.
void draw_other_world(Drawing& draws, SettingsDrawing& settings, Scenario& scenario) {
  Scenario candidate = scenario;
  candidate.other_worlds = {settings.draw_small_world()};
  if (candidate.other_worlds.front() == scenario.world) return;
  if (take(draws, scenario, candidate)) return;
  candidate.gradients = GradientClass::exact;
  candidate.optimizer.clip = {};
  std::erase_if(candidate.program, [](Operation const& operation) {
    auto const* const set = std::get_if<Set>(&operation.action);
    return std::holds_alternative<ClipNorm>(operation.action) ||
           (set != nullptr && set->change.clip);
  });
  if (!candidate.program.empty()) take(draws, scenario, std::move(candidate));
}

/// After any entry after which it can be.
void draw_resumed(Drawing& draws, SettingsDrawing& settings, Scenario& scenario) {
  auto const entries = static_cast<std::int64_t>(scenario.program.size());
  std::int64_t const first = draws.below(entries + 1);
  std::vector<World> through(static_cast<std::size_t>(draws.between(0, 2)));
  for (World& world : through) world = settings.draw_small_world();
  bool const reverses = draws.chance(30) && draws.able().loads_in_any_order;
  for (std::int64_t i = 0; i <= entries; ++i) {
    Scenario candidate = scenario;
    candidate.again = {{.resumed_after = (first + i) % (entries + 1),
                        .through = through,
                        .order = reverses ? ParamOrder::reversed : ParamOrder::listed}};
    if (take(draws, scenario, std::move(candidate))) return;
  }
}

/// Another value of one option that must not matter.
EngineOptions draw_options(Drawing& draws, EngineChoice const& engine) {
  std::vector<std::pair<std::string, std::string>> others;
  for (auto const& [name, chosen] : all_options(draws.able(), engine))
    if (offers(draws.able().same_options, name))
      for (std::string const& value : find_option(draws.able(), name)->values)
        if (value != chosen) others.emplace_back(name, value);
  if (others.empty()) return {};
  return {draws.one_of(others)};
}

void draw_again(Drawing& draws, SettingsDrawing& settings, Scenario& scenario) {
  std::vector<Promise> kinds;
  for (Promise const promise : draws.able().promises)
    if (promise != Promise::worlds) kinds.push_back(promise);
  Promise const kind = draws.one_of(kinds);
  if (kind == Promise::resumed) return draw_resumed(draws, settings, scenario);
  Again again;
  if (kind == Promise::options) again.options = draw_options(draws, scenario.engine);
  if (kind == Promise::options && again.options.empty()) return;
  Scenario candidate = scenario;
  candidate.again = {std::move(again)};
  take(draws, scenario, std::move(candidate));
}

}  // namespace

void draw_further_runs(Drawing& draws, SettingsDrawing& settings, Scenario& scenario) {
  if (draws.able().promises.empty() || !scenario.faults.empty()) return;
  if (draws.feature(Feature::several_worlds, 10)) draw_other_world(draws, settings, scenario);
  if (draws.feature(Feature::again, 20)) draw_again(draws, settings, scenario);
}

}  // namespace adamant::scenarios
