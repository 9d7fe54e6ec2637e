// The engine that has all bugs and none of them selected is the one that is shipped: over the whole
// corpus it ends alike, digest for digest.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "scenarios/language/yaml/load.h"
#include "scenarios/runner/run.h"

namespace adamant::properties {
namespace {

namespace fs = std::filesystem;

using scenarios::RunResult;
using scenarios::Scenario;

struct InCorpus {
  Scenario scenario;
  fs::path folder;
};

std::vector<InCorpus> simulated_scenarios() {
  std::vector<InCorpus> all;
  for (fs::path const& path : fs::recursive_directory_iterator("scenarios/corpus")) {
    if (path.extension() != ".yaml") continue;
    Scenario scenario = scenarios::load_scenario_file(path.string());
    if (scenario.engine.name == "sim") all.push_back({std::move(scenario), path.parent_path()});
  }
  return all;
}

/// Without where the project is: a compiler cache hands its compiler another path than we do.
std::string from_root(std::string const& message) {
  static std::regex const root(R"(\S*/real/)");
  return std::regex_replace(message, root, "real/");
}

void expect_same(RunResult const& woven, RunResult const& shipped) {
  EXPECT_EQ(woven.outcome, shipped.outcome) << shipped.name;
  EXPECT_EQ(woven.digest, shipped.digest) << shipped.name;
  EXPECT_EQ(woven.choices, shipped.choices) << shipped.name;
  EXPECT_EQ(woven.reason, shipped.reason) << shipped.name;
  EXPECT_EQ(from_root(woven.message), from_root(shipped.message)) << shipped.name;
}

class Woven : public testing::TestWithParam<char const*> {};

TEST_P(Woven, WithoutABugIsTheShippedEngine) {
  scenarios::RunOptions options;
  options.engine = GetParam();
  auto all = simulated_scenarios();
  EXPECT_GT(all.size(), 250U);
  for (auto& [scenario, folder] : all) {
    options.checkpoints = folder;
    scenario.bug.reset();
    RunResult const shipped = run_scenario(scenario, options);
    scenario.bug = "";  // the engine that has them, and none
    expect_same(run_scenario(scenario, options), shipped);
  }
}

std::string checking_of(testing::TestParamInfo<char const*> const& engine) {
  return std::string(engine.param) == "sim" ? "checked" : "unchecked";
}

INSTANTIATE_TEST_SUITE_P(Engines, Woven, testing::Values("sim", "sim-unchecked"), checking_of);

}  // namespace
}  // namespace adamant::properties
