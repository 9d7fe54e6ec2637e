#include "scenarios/program/script_output.h"

#include <fmt/format.h>

#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/script/kinds.h"
#include "scenarios/program/outputs.h"

namespace adamant::scenarios {

namespace {

WrittenScript script_of(Scenario const& scenario, RunResult const& result, Symptom const& symptom,
                        RunsAgain runs_again = RunsAgain::yes) {
  return write_any_script(scenario, result, violation_of(result, symptom), runs_again);
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
    WrittenScript const script = script_of(scenario, result, *symptom);
    file_->commit(script.text);
    complain(fmt::format("--script: {}", words_for(script.kind)));
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
  auto path = scenario_file;
  path.replace_extension(".py");
  try {
    // No search that still goes on has to wait for another run.
    WrittenScript const script = script_of(
        scenario, result, symptom, telling_ == Telling::nothing ? RunsAgain::no : RunsAgain::yes);
    write_whole(path, script.text);
    if (telling_ == Telling::nothing) return true;
    complain(fmt::format("{}: {}", path.string(), words_for(script.kind)));
    return true;
  } catch (NoScript const& reason) {
    if (telling_ == Telling::reasons && said_.insert(reason.what()).second)
      complain(
          fmt::format("{}: there is no script for it: {}", scenario_file.string(), reason.what()));
    return false;
  }
}

}  // namespace adamant::scenarios
