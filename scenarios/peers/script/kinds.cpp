#include "scenarios/peers/script/kinds.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/script/driver_script.h"
#include "scenarios/peers/script/script.h"
#include "scenarios/peers/script/session_script.h"

namespace adamant::scenarios {

namespace {

std::vector<ScriptKind> kinds_for(std::string_view engine, RunsAgain runs_again) {
  std::vector<ScriptKind> kinds;
  bool const outside = is_peer(engine);
  if (engine == "torch" || !outside)
    kinds.push_back(ScriptKind::plain_torch);  // which says why not
  if (runs_again == RunsAgain::no || !outside) return kinds;
  if (capabilities_of_peer(engine).engine_class) kinds.push_back(ScriptKind::driven_class);
  kinds.push_back(ScriptKind::session);
  return kinds;
}

std::string text_of(ScriptKind kind, Scenario const& scenario, RunResult const& result,
                    Violation const* violation) {
  switch (kind) {
    case ScriptKind::plain_torch:
      return write_script(scenario, result, violation);
    case ScriptKind::driven_class:
      return write_driver_script(scenario, result, violation);
    case ScriptKind::session:
      break;
  }
  return write_session_script(scenario, result, violation);
}

}  // namespace

char const* words_for(ScriptKind kind) {
  constexpr std::array words = {"plain PyTorch", "the engine's class, driven by adamant_torch",
                                "a recorded session of the engine's protocol"};
  return words[static_cast<std::size_t>(kind)];
}

WrittenScript write_any_script(Scenario const& scenario, RunResult const& result,
                               Violation const* violation, RunsAgain runs_again) {
  std::string reasons;
  std::string last;
  for (ScriptKind const kind : kinds_for(scenario.engine.name, runs_again)) {
    try {
      return {.kind = kind, .text = text_of(kind, scenario, result, violation)};
    } catch (NoScript const& reason) {
      if (last == reason.what()) continue;
      last = reason.what();
      reasons += reasons.empty() ? last : fmt::format("; as {}: {}", words_for(kind), last);
    }
  }
  throw NoScript(reasons.empty() ? "a session is recorded by another run" : reasons);
}

}  // namespace adamant::scenarios
