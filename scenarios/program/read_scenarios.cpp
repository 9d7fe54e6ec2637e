#include "scenarios/program/read_scenarios.h"

#include <iostream>
#include <set>
#include <system_error>
#include <utility>

#include "scenarios/language/yaml/load.h"
#include "scenarios/pool/interrupt.h"

namespace adamant::scenarios {

namespace {

Scenario read(std::filesystem::path const& file) {
  if (file != "-") return load_scenario_file(file);
  return load_scenario_stream(std::cin, "-");
}

class Reader {
 public:
  void add(std::filesystem::path const& path) {
    if (path == "-") return add_file(path);
    try {
      for (auto const& file : find_scenarios(path)) add_file(file);
    } catch (LoadError const& error) {
      files_.push_back({.path = path, .scenario = {}, .error = error.what()});
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
      files_.push_back({.path = file, .scenario = read(file), .error = {}});
    } catch (LoadError const& error) {
      files_.push_back({.path = file, .scenario = {}, .error = error.what()});
    }
  }

  std::vector<ScenarioFile> files_;
  std::set<std::filesystem::path> seen_;
};

}  // namespace

std::vector<ScenarioFile> read_scenarios(std::span<std::filesystem::path const> paths) {
  Reader reader;
  for (auto const& path : paths) reader.add(path);
  return reader.take();
}

}  // namespace adamant::scenarios
