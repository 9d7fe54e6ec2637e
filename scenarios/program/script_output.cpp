#include "scenarios/program/script_output.h"

#include <fmt/format.h>

#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/script/kinds.h"
#include "scenarios/program/outputs.h"

namespace adamant::scenarios {

namespace {

/// What is beside a script, and which it is, in words.
std::string write_others(std::filesystem::path const& script, WrittenScript const& written) {
  if (written.numbers) {
    auto numbers = script;
    write_whole(numbers.replace_extension(".numbers.pt"), *written.numbers);
  }
  if (written.kind != ScriptKind::session) {
    std::filesystem::remove(session_in_place_of(script));  // of a run before
    return written.words;
  }
  return fmt::format("{}, which replay.py (in share/adamant) plays, and no script: {}",
                     written.words, written.why_session);
}

}  // namespace

std::filesystem::path session_in_place_of(std::filesystem::path const& script) {
  return script.string() + ".session.json";
}

ScriptOutput::ScriptOutput(Arguments const& arguments) : path_(arguments.script.value_or("")) {
  if (arguments.script) file_.emplace(path_);
}

Status ScriptOutput::write(Scenario const& scenario, RunResult const& result,
                           std::optional<Symptom> const& symptom) {
  if (!file_) return Status::met;
  if (!symptom) {
    complain("--script: nothing is written: no law was broken");
    return Status::met;
  }
  try {
    bool const prints = is_standard_output(path_);
    WrittenScript const script = write_any_script(scenario, result, violation_of(result, *symptom),
                                                  prints ? LiesInFolder::no : LiesInFolder::yes);
    std::string const words = write_others(path_, script);
    if (script.kind == ScriptKind::session && !prints) {
      auto const session = session_in_place_of(path_);
      write_whole(session, script.text);
      complain(fmt::format("--script: {}: {}", session.string(), words));
    } else {
      file_->commit(script.text);
      complain(fmt::format("--script: {}", words));
    }
    return Status::met;
  } catch (NoScript const& reason) {
    complain(fmt::format("--script: nothing is written: {}", reason.what()));
    return Status::bad_input;
  }
}

void FindingScripts::write_beside(std::filesystem::path const& scenario_file,
                                  Scenario const& scenario, RunResult const& result,
                                  Symptom const& symptom) {
  if (!is_peer(scenario.engine.name)) return;
  auto path = scenario_file;
  path.replace_extension(".py");
  try {
    WrittenScript const script = write_any_script(scenario, result, violation_of(result, symptom));
    if (script.kind == ScriptKind::session) path = session_in_place_of(path);
    write_whole(path, script.text);
    std::string const words = write_others(path, script);
    complain(fmt::format("{}: {}", path.string(), words));
  } catch (NoScript const& reason) {
    say_once(reason.what(), scenario_file);
  }
}

void FindingScripts::leave_out(std::filesystem::path const& scenario_file,
                               Scenario const& scenario) {
  if (is_peer(scenario.engine.name))
    say_once(
        "it is not minimised, and --for is over: `adamant minimize FILE --script x.py` has one",
        scenario_file);
}

void FindingScripts::say_once(std::string const& reason,
                              std::filesystem::path const& scenario_file) {
  if (said_.insert(reason).second)
    complain(fmt::format("{}: there is no script for it: {}", scenario_file.string(), reason));
}

}  // namespace adamant::scenarios
