#include "scenarios/peers/script/kinds.h"

#include <fmt/format.h>

#include <utility>

#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/script/rendered.h"
#include "scenarios/peers/script/session_document.h"

namespace adamant::scenarios {

namespace {

std::string session_of(Scenario const& scenario, RunResult const& result,
                       Violation const* violation) {
  if (!is_peer(scenario.engine.name))
    throw NoScript(fmt::format(
        "the engine is {}; scripts show engines outside the process (--engine torch, or exec:)",
        scenario.engine.name));
  if (violation == nullptr && result.outcome == Outcome::refused && !result.failed_at)
    throw NoScript(fmt::format("the scenario was refused before anything ran ({}): {}",
                               result.reason, result.message));
  return script::document_of(script::record_session(scenario, result, violation));
}

}  // namespace

WrittenScript write_any_script(Scenario const& scenario, RunResult const& result,
                               Violation const* violation, LiesInFolder lies_in_folder) {
  std::string document = session_of(scenario, result, violation);
  try {
    auto const& command = capabilities_of_peer(scenario.engine.name).script;
    if (command.empty()) throw NoScript("the engine names nothing that makes a script of it");
    auto made = script::rendered(command, document);
    if (made.numbers && lies_in_folder == LiesInFolder::no)
      throw NoScript("its numbers are too many for a script that lies in no folder");
    return {.kind = ScriptKind::rendered,
            .text = std::move(made.text),
            .words = std::move(made.words),
            .numbers = std::move(made.numbers)};
  } catch (NoScript const& reason) {
    return {.kind = ScriptKind::session,
            .text = std::move(document),
            .words = "a recorded session of the engine's protocol",
            .why_session = reason.what()};
  }
}

}  // namespace adamant::scenarios
