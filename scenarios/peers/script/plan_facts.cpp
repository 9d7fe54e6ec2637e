#include <algorithm>

#include "scenarios/peers/script/plan.h"

namespace adamant::scenarios::script {

std::vector<Act const*> Plan::all(Act::Kind kind) const {
  std::vector<Act const*> found;
  for (World const& world : worlds)
    for (Passage const& passage : world.passages)
      for (Act const& act : passage.acts)
        if (act.kind == kind) found.push_back(&act);
  return found;
}

bool Plan::alone() const {
  return !repeated && !hangs(violation) && !has_died(violation) &&
         std::all_of(worlds.begin(), worlds.end(),
                     [](World const& world) { return world.ranks() == 1 && !world.crashes; });
}

bool has_died(Violation const& violation) {
  auto const* const call = about<Call>(violation);
  return call != nullptr && (call->ending == Ending::signal || call->ending == Ending::exit);
}

// The process group of an engine gives up after a while, that of a script not before half an hour.
bool hangs(Violation const& violation) {
  constexpr std::string_view gloo = "Timed out waiting";
  return violation.law == Law::order_deadlock || violation.text.find(gloo) != std::string::npos;
}

std::string_view option(Scenario const& scenario, std::string_view name,
                        std::string_view otherwise) {
  for (auto const& [key, value] : scenario.engine.options)
    if (key == name) return value;
  return otherwise;
}

}  // namespace adamant::scenarios::script
