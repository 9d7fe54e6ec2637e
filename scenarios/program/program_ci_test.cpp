// The files that users copy into their CI, executed as far as that is possible without the service:
// its steps in its order, with the variables that it would set.
#include <yaml-cpp/yaml.h>

#include "scenarios/program/testing/program.h"

namespace adamant::scenarios {
namespace {

std::string const source = ADAMANT_SOURCE_DIR;

class CopiedIntoCi : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    std::filesystem::create_directories(folder_ / "ci");
    std::filesystem::copy(source + "/scenarios/ci/adamant.sh", folder_ / "ci/adamant.sh");
    write("scenarios/a.yaml", passing_scenario());
    write("scenarios/b.yaml", passing_scenario());
  }
  /// The steps, as the service's shell runs them.
  Called execute(std::string const& variables, YAML::Node const& steps) const {
    std::string script;
    for (auto const& step : steps) script += step.as<std::string>() + "\n";
    write("step.sh", script);
    return shell("ADAMANT=PROGRAM " + variables + " sh -e step.sh");
  }
  /// One scenario runs an engine with a bug.
  void break_one() const { write("scenarios/b.yaml", passing_scenario("seed: 7\nbug: canary\n")); }
  std::vector<std::string> files_run() const {
    std::vector<std::string> files;
    auto const document = read_json("adamant-results/scenarios.json");
    for (auto const& result : document.at("results")) files.push_back(result.at("file"));
    return files;
  }
};

TEST_F(CopiedIntoCi, TheScriptRunsSearchesAndEndsLikeTheProgram) {
  auto const run = [&](std::string const& variables) {
    return shell("ADAMANT=PROGRAM " + variables + " sh ci/adamant.sh").status;
  };
  EXPECT_EQ(run("SEARCH=1s SEED=1"), 0);
  EXPECT_NE(read("adamant-results/scenarios.xml").find("tests=\"2\""), std::string::npos);
  EXPECT_EQ(read_json("adamant-results/search.json").at("command"), "fuzz");
  break_one();
  EXPECT_EQ(run("SEARCH=1s SEED=1"), 1);
  EXPECT_EQ(run(""), 1);
  EXPECT_EQ(files_run().front(), "scenarios/b.yaml");  // failed last time
  EXPECT_EQ(run("SCENARIOS=missing"), 2);
  EXPECT_EQ(run("RESULTS=/dev/null/results"), 2);
}

TEST_F(CopiedIntoCi, GitHubsJobsHoldAllScenariosTogether) {
  YAML::Node const job = YAML::LoadFile(source + "/scenarios/ci/github.yml")["jobs"]["scenarios"];
  YAML::Node steps;
  for (auto const& step : job["steps"])
    if (step["run"]) steps.push_back(step["run"]);
  ASSERT_EQ(job["env"]["SHARD"].as<std::string>(), "${{ matrix.part }}/4");
  ASSERT_EQ(job["strategy"]["matrix"]["part"].size(), 4U);
  break_one();
  std::vector<int> statuses;
  std::size_t files = 0;
  for (auto const& part : job["strategy"]["matrix"]["part"]) {
    std::string const shard = part.as<std::string>() + "/4";
    Called const called = execute("GITHUB_ACTIONS=true SHARD=" + shard, steps);
    statuses.push_back(called.status);
    files += files_run().size();
    bool const told = called.out.find("::error file=scenarios/b.yaml") != std::string::npos;
    EXPECT_EQ(told, called.status == 1) << called.out;
  }
  EXPECT_EQ(statuses, (std::vector<int>{0, 1, 0, 0}));
  EXPECT_EQ(files, 2U);
}

TEST_F(CopiedIntoCi, GitLabsJobsHoldAllScenariosTogether) {
  YAML::Node const job = YAML::LoadFile(source + "/scenarios/ci/gitlab.yml")["scenarios"];
  int const total = job["parallel"].as<int>();
  break_one();
  std::size_t files = 0;
  for (int index = 1; index <= total; ++index) {
    Called const called = execute(
        "CI_NODE_INDEX=" + std::to_string(index) + " CI_NODE_TOTAL=" + std::to_string(total),
        job["script"]);
    EXPECT_EQ(called.status, index == 2 ? 1 : 0) << called.out << called.err;
    files += files_run().size();
  }
  EXPECT_EQ(files, 2U);
}

TEST(OwnCi, CallsWhatTheProjectCallsItself) {
  YAML::Node const steps =
      YAML::LoadFile(source + "/.github/workflows/ci.yml")["jobs"]["run"]["steps"];
  EXPECT_EQ(steps[steps.size() - 1]["run"].as<std::string>(), ".ci/run");
}

}  // namespace
}  // namespace adamant::scenarios
