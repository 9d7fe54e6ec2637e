#include "scenarios/program/refused_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/language/laws.h"
#include "scenarios/program/outputs.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

bool expects(Scenario const& scenario, Refusal const& refusal) {
  if (scenario.expect.kind != Expectation::Kind::refused) return false;
  return scenario.expect.id == "any" || matches(scenario.expect.id, refusal.id);
}

}  // namespace

std::optional<Refusal> refuse_file(std::filesystem::path const& file, Scenario const& scenario) {
  auto refusal = refuse_to_run(scenario, capabilities_of(scenario.engine.name));
  if (!refusal || refusal->id == "out_of_memory" || expects(scenario, *refusal))
    return std::nullopt;
  complain(fmt::format("{}:{}: {}: {}", file.string(), std::max(refusal->line, 1), refusal->id,
                       refusal->message));
  return refusal;
}

}  // namespace adamant::scenarios
