#include "scenarios/program/read_scenarios.h"

#include <set>
#include <system_error>

#include "scenarios/language/yaml/load.h"
#include "scenarios/pool/interrupt.h"

namespace adamant::scenarios {

namespace {

class Reader {
 public:
  void add(std::filesystem::path const& path) {
    try {
      for (auto const& file : find_scenarios(path)) add_file(file);
    } catch (LoadError const& error) {
      found_.errors.emplace_back(error.what());
    }
  }
  ReadScenarios take() { return std::move(found_); }

 private:
  void add_file(std::filesystem::path const& file) {
    std::error_code ignored;
    if (interrupted() || !seen_.insert(std::filesystem::weakly_canonical(file, ignored)).second) {
      return;
    }
    try {
      found_.files.push_back({.path = file, .scenario = load_scenario_file(file)});
    } catch (LoadError const& error) {
      found_.errors.emplace_back(error.what());
    }
  }

  ReadScenarios found_;
  std::set<std::filesystem::path> seen_;
};

}  // namespace

ReadScenarios read_scenarios(std::span<std::filesystem::path const> paths) {
  Reader reader;
  for (auto const& path : paths) reader.add(path);
  return reader.take();
}

}  // namespace adamant::scenarios
