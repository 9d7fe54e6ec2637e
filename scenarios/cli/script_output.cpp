#include "scenarios/cli/script_output.h"

#include <fmt/format.h>

#include "scenarios/cli/outputs.h"
#include "scenarios/run/peer/peer_engine.h"
#include "scenarios/script/script.h"

namespace adamant::scenarios {

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
    file_->commit(write_script(scenario, result, violation_of(result, *symptom)));
    return Status::met;
  } catch (NoScript const& reason) {
    complain(fmt::format("--script: nothing is written: {}", reason.what()));
    return Status::bad_input;
  }
}

void write_script_beside(std::filesystem::path const& scenario_file, Scenario const& scenario,
                         RunResult const& result, Symptom const& symptom) {
  if (!is_peer(scenario.engine.name)) return;
  auto path = scenario_file;
  path.replace_extension(".py");
  try {
    write_whole(path, write_script(scenario, result, violation_of(result, symptom)));
  } catch (NoScript const& reason) {
    complain(
        fmt::format("{}: there is no script for it: {}", scenario_file.string(), reason.what()));
  }
}

}  // namespace adamant::scenarios
