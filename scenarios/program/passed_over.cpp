#include "scenarios/program/passed_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "scenarios/language/plain_text.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/outputs.h"
#include "scenarios/seam/engine.h"
#include "scenarios/seam/stand_in.h"

namespace adamant::scenarios {

void PassedOver::take_bugs(std::vector<ScenarioFile>& files) {
  if (engines_have_bugs()) return;
  auto const passed = std::erase_if(files, [&](ScenarioFile const& file) {
    if (!file.scenario.bug || is_named(file)) return false;
    add(file, "this engine has no bugs");
    return true;
  });
  if (passed == 0 || arguments_.verbosity == Verbosity::quiet) return;
  print(arguments_, fmt::format("passed over {} with a bug: this engine has none\n",
                                counted(passed, "scenario")));
}

void PassedOver::take_unfit(std::vector<ScenarioFile>& files) {
  std::map<std::string, int> unfit;
  std::erase_if(files, [&](ScenarioFile const& file) {
    auto const why = unfitness_of(file);
    if (!why) return false;
    add(file, *why);
    ++unfit[*why];
    return true;
  });
  tell(unfit);
}

std::optional<std::string> PassedOver::unfitness_of(ScenarioFile const& file) const {
  std::string const& meant = file.scenario.engine.name;
  std::string const here = engine_here(meant);
  if (arguments_.engine || !file.is_read() || is_named(file) || here == meant) return std::nullopt;
  return why_not_for(file.scenario, capabilities_of(meant), capabilities_of(here));
}

Status PassedOver::take_engines(std::vector<ScenarioFile>& files) {
  std::map<std::string, int> lacking;
  std::set<std::string> missed;
  std::erase_if(files, [&](ScenarioFile const& file) {
    auto const why = lack_of(file);
    if (!why) return false;
    add(file, *why);
    if (arguments_.engine || is_named(file) || *why == machine_of_engine().lacks)
      missed.insert(*why);
    else
      ++lacking[*why];
    return true;
  });
  for (std::string const& why : missed) complain("adamant: " + why);
  tell(lacking);
  return missed.empty() ? Status::met : Status::lacking;
}

bool PassedOver::is_named(ScenarioFile const& file) const {
  auto const& named = arguments_.paths;
  return std::find(named.begin(), named.end(), file.path) != named.end();
}

/// Why the engine of this scenario cannot run here; nothing where it can.
std::optional<std::string> PassedOver::lack_of(ScenarioFile const& file) const {
  if (!file.is_read()) return std::nullopt;
  std::string const name = engine_here(arguments_.engine.value_or(file.scenario.engine.name));
  try {
    static_cast<void>(capabilities_of(name));
    auto const missing = machine_of_engine().lacks;
    bool const needs_it = capabilities_in_process(name) != nullptr && !arguments_.dry_run;
    return needs_it && !missing.empty() ? std::optional(missing) : std::nullopt;
  } catch (MachineLacks const& error) {
    if (interrupted()) throw;  // it was asked while it had to stop
    return error.what();
  }
}

void PassedOver::tell(std::map<std::string, int> const& passed) const {
  if (arguments_.verbosity == Verbosity::quiet) return;
  for (auto const& [why, count] : passed)
    print(arguments_,
          fmt::format("passed over {}: {}\n", counted(count, "scenario"), printable(why)));
}

void PassedOver::add(ScenarioFile const& file, std::string why) {
  Reported reported{.result = {}, .replay = {}, .lacking = std::move(why)};
  reported.result.name = file.scenario.name;
  reported.result.file = file.path.string();
  results_.push_back(std::move(reported));
}

}  // namespace adamant::scenarios
