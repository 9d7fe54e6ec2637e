#include "scenarios/program/refused_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/laws.h"
#include "scenarios/language/plain_text.h"
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

std::string distrust(Arguments const& arguments, std::filesystem::path const& file,
                     Scenario const& scenario) {
  std::string const& engine = scenario.engine.name;
  bool const runs = is_command(engine) && arguments.engine.value_or(engine) == engine;
  if (!runs || (!arguments.dry_run && (arguments.trust || arguments.engine))) return "";
  return fmt::format("{}:{}: engine.name: the file names the command `{}`, and {}", file.string(),
                     std::max(scenario.lines["engine"].value, 1), engine.substr(exec_prefix.size()),
                     arguments.dry_run ? "--dry-run runs none"
                                       : "it does not run: --engine " + shell_quoted(engine) +
                                             " runs it, or --trust what any file names");
}

}  // namespace adamant::scenarios
