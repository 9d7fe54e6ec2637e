#include "scenarios/peers/script/kinds.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/script/rendered.h"
#include "scenarios/peers/script/script.h"
#include "scenarios/peers/script/session_document.h"

namespace adamant::scenarios {

namespace {

std::string joined(std::string const& reasons, std::string const& reason) {
  return reasons.empty() || reasons == reason ? reason : fmt::format("{}; {}", reasons, reason);
}

std::string session_of(Scenario const& scenario, RunResult const& result,
                       Violation const* violation) {
  if (violation == nullptr && result.outcome == Outcome::refused && !result.failed_at)
    throw NoScript(fmt::format("the scenario was refused before anything ran ({}): {}",
                               result.reason, result.message));
  return script::document_of(script::record_session(scenario, result, violation));
}

WrittenScript driven_or_session(std::string const& engine, std::string document,
                                std::string const& why, LiesInFolder lies_in_folder) {
  try {
    auto const& command = capabilities_of_peer(engine).script;
    if (command.empty()) throw NoScript("the engine names nothing that makes a script of it");
    auto made = script::rendered(command, document);
    if (made.numbers && lies_in_folder == LiesInFolder::no)
      throw NoScript("its numbers are too many for a script that lies in no folder");
    return {.kind = ScriptKind::driven_class,
            .text = std::move(made.text),
            .numbers = std::move(made.numbers)};
  } catch (NoScript const& reason) {
    return {.kind = ScriptKind::session,
            .text = std::move(document),
            .why_session = joined(why, reason.what())};
  }
}

}  // namespace

char const* words_for(ScriptKind kind) {
  constexpr std::array words = {"plain PyTorch", "the engine's class, driven by adamant_torch",
                                "a recorded session of the engine's protocol"};
  return words[static_cast<std::size_t>(kind)];
}

WrittenScript write_any_script(Scenario const& scenario, RunResult const& result,
                               Violation const* violation, RunsAgain runs_again,
                               LiesInFolder lies_in_folder) {
  std::string const& engine = scenario.engine.name;
  bool const outside = is_peer(engine);
  std::string why;
  try {
    if (engine == "torch" || !outside)  // which says why not
      return {.kind = ScriptKind::plain_torch, .text = write_script(scenario, result, violation)};
  } catch (NoScript const& reason) {
    why = reason.what();
  }
  if (!outside || runs_again == RunsAgain::no)
    throw NoScript(why.empty() ? "a session is recorded by another run" : why);
  std::string document;
  try {
    document = session_of(scenario, result, violation);
  } catch (NoScript const& reason) {
    throw NoScript(joined(why, reason.what()));
  }
  return driven_or_session(engine, std::move(document), why, lies_in_folder);
}

}  // namespace adamant::scenarios
