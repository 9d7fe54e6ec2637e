#include "scenarios/program/read_scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/laws.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/inputs.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/seed.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

ScenarioFile read(std::filesystem::path const& file) {
  std::string const text = file == "-" ? read_scenario_text(std::cin) : read_scenario_text(file);
  LoadOptions const options{.models_directory = {}, .checkpoints_directory = folder_of(file)};
  return {.path = file,
          .scenario = load_scenario_text(text, file.string(), options),
          .written = provenance_in(text)};
}

class Reader {
 public:
  void add(std::filesystem::path const& path) {
    if (path == "-") return add_file(path);
    try {
      for (auto const& file : find_scenarios(path)) add_file(file);
    } catch (LoadError const& error) {
      files_.push_back({.path = path, .error = error.what()});
    }
  }
  std::vector<ScenarioFile> take() { return std::move(files_); }

 private:
  void add_file(std::filesystem::path const& file) {
    std::error_code ignored;
    if (interrupted() || !seen_.insert(std::filesystem::weakly_canonical(file, ignored)).second) {
      return;
    }
    try {
      files_.push_back(read(file));
    } catch (LoadError const& error) {
      files_.push_back({.path = file, .error = error.what()});
    }
  }

  std::vector<ScenarioFile> files_;
  std::set<std::filesystem::path> seen_;
};

bool expects(Scenario const& scenario, Refusal const& refusal) {
  if (scenario.expect.kind != Expectation::Kind::refused) return false;
  return scenario.expect.id == "any" || matches(scenario.expect.id, refusal.id);
}

}  // namespace

std::filesystem::path folder_of(std::filesystem::path const& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

std::string adapter_around(std::filesystem::path const& file) {
  constexpr std::string_view prefix = "adamant_";
  std::error_code unread;
  auto folder = std::filesystem::weakly_canonical(file, unread).parent_path();
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    std::set<std::string> names;  // an adapter may have further packages, as of another engine
    for (auto const& entry : std::filesystem::directory_iterator(folder, unread)) {
      std::string const name = entry.path().filename();
      if (name.starts_with(prefix) && std::filesystem::exists(entry.path() / "__main__.py", unread))
        names.insert(name.substr(prefix.size()));
    }
    if (!names.empty()) return *names.begin();
  }
  return "";
}

std::vector<ScenarioFile> read_scenarios(std::span<std::filesystem::path const> paths) {
  Reader reader;
  for (auto const& path : paths) reader.add(path);
  return reader.take();
}

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

std::optional<OneScenario> read_one_scenario(Arguments const& arguments) {
  std::vector<ScenarioFile> found = read_scenarios(arguments.paths);
  if (found.size() > 1)
    complain(fmt::format("{}: a directory with several scenarios; name one file",
                         arguments.paths.front().string()));
  if (found.size() != 1) return std::nullopt;  // none: interrupted
  ScenarioFile& file = found.front();
  if (file.is_read()) file.error = distrust(arguments, file.path, file.scenario);
  if (!file.is_read()) {
    complain(file.error);
    return std::nullopt;
  }
  Inputs inputs(arguments);
  inputs.add(file);
  inputs.refuse_as_outputs(arguments);
  OneScenario one{.name = file.path.string(), .scenario = std::move(file.scenario)};
  if (arguments.engine) one.scenario.engine.replace(*arguments.engine);
  if (arguments.seed) one.scenario.seed = arguments.seed;
  if (arguments.bug) one.scenario.bug = *arguments.bug;
  if (!one.scenario.seed) one.scenario.seed = draw_and_say_seed(arguments);
  if (refuse_file(one.name, one.scenario)) return std::nullopt;
  return one;
}

}  // namespace adamant::scenarios
