#include "scenarios/program/script_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/script/script.h"
#include "scenarios/program/outputs.h"

namespace adamant::scenarios {

namespace {

void note_length(std::string const& name, std::string const& script) {
  auto const lines = static_cast<std::size_t>(std::count(script.begin(), script.end(), '\n'));
  if (lines <= script_lines_max) return;
  complain(fmt::format("{}: {} lines; {} are what people read: a smaller scenario has fewer", name,
                       lines, script_lines_max));
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
    std::string const script = write_script(scenario, result, violation_of(result, *symptom));
    file_->commit(script);
    note_length("--script", script);
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
    std::string const script = write_script(scenario, result, violation_of(result, symptom));
    write_whole(path, script);
    if (telling_ == Telling::reasons) note_length(path.string(), script);
    return true;
  } catch (NoScript const& reason) {
    if (telling_ == Telling::reasons && said_.insert(reason.what()).second)
      complain(
          fmt::format("{}: there is no script for it: {}", scenario_file.string(), reason.what()));
    return false;
  }
}

}  // namespace adamant::scenarios
