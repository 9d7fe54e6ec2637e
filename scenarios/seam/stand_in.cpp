#include "scenarios/seam/stand_in.h"

#include <algorithm>

#include "scenarios/language/laws.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

namespace {

/// Is no law that is expected to be broken one that is judged by what a world shows?
bool watched_by_worlds_alone(Expectation const& expectation) {
  if (expectation.kind != Expectation::Kind::violates) return false;
  auto const judged = [&](Meaning const& law) {
    return matches(expectation.id, law.id) && !is_of_simulation(*law_of(law.id));
  };
  return std::ranges::none_of(laws(), judged);
}

}  // namespace

std::optional<std::string> why_not_for(Scenario const& scenario, Capabilities const& meant,
                                       Capabilities const& here) {
  if (auto const refusal = refuse(scenario, here)) {
    auto const there = refuse(scenario, meant);
    if (there && there->id == refusal->id) return std::nullopt;
    return refusal->id + ": " + refusal->message;
  }
  if (meant.schedules && !here.schedules && watched_by_worlds_alone(scenario.expect))
    return "engine " + here.engine + " does not watch " + scenario.expect.id +
           ", as simulated worlds do";
  return std::nullopt;
}

}  // namespace adamant::scenarios
