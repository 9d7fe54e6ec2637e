#include "scenarios/program/script_output.h"

#include <fmt/format.h>

#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/script/script.h"
#include "scenarios/peers/script/session_script.h"
#include "scenarios/program/outputs.h"

namespace adamant::scenarios {

namespace {

/// PyTorch's own calls, or what was said to the engine.
bool is_recorded(Scenario const& scenario) {
  return is_peer(scenario.engine.name) && scenario.engine.name != "torch";
}

char const* kind_of(Scenario const& scenario) {
  return is_recorded(scenario) ? "a recorded session of the engine's protocol" : "plain PyTorch";
}

std::string script_of(Scenario const& scenario, RunResult const& result, Symptom const& symptom) {
  Violation const* const violation = violation_of(result, symptom);
  return is_recorded(scenario) ? write_session_script(scenario, result, violation)
                               : write_script(scenario, result, violation);
}

}  // namespace

ScriptOutput::ScriptOutput(Arguments const& arguments) {
  if (arguments.script) file_.emplace(*arguments.script);
}

Status ScriptOutput::write(Scenario const& scenario, RunResult const& result,
                           std::optional<Symptom> const& symptom) {
  if (!file_) return Status::met;
  if (!symptom) {
    complain("--script: nothing is written: no law was broken");
    return Status::met;
  }
  try {
    file_->commit(script_of(scenario, result, *symptom));
    complain(fmt::format("--script: {}", kind_of(scenario)));
    return Status::met;
  } catch (NoScript const& reason) {
    complain(fmt::format("--script: nothing is written: {}", reason.what()));
    return Status::bad_input;
  }
}

bool FindingScripts::write_beside(std::filesystem::path const& scenario_file,
                                  Scenario const& scenario, RunResult const& result,
                                  Symptom const& symptom) {
  if (!is_peer(scenario.engine.name)) return false;
  // A session is recorded by another run, for which no search that still goes on has to wait.
  if (telling_ == Telling::nothing && is_recorded(scenario)) return false;
  auto path = scenario_file;
  path.replace_extension(".py");
  try {
    write_whole(path, script_of(scenario, result, symptom));
    if (telling_ == Telling::nothing) return true;
    complain(fmt::format("{}: {}", path.string(), kind_of(scenario)));
    return true;
  } catch (NoScript const& reason) {
    if (telling_ == Telling::reasons && said_.insert(reason.what()).second)
      complain(
          fmt::format("{}: there is no script for it: {}", scenario_file.string(), reason.what()));
    return false;
  }
}

}  // namespace adamant::scenarios
