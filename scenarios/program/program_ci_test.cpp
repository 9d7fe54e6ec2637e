// The files that users copy into their CI, executed as far as that is possible without the service:
// its steps in its order, with the variables that it would set.
#include <yaml-cpp/yaml.h>

#include <cstdio>

#include "scenarios/program/testing/called_program.h"

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
  EXPECT_EQ(run("ENGINE=sim SEARCH=1s SEED=1"), 0);
  EXPECT_NE(read("adamant-results/scenarios.xml").find("tests=\"2\""), std::string::npos);
  EXPECT_EQ(read_json("adamant-results/search.json").at("command"), "fuzz");
  break_one();
  EXPECT_EQ(run("ENGINE=sim SEARCH=1s SEED=1"), 1);
  EXPECT_EQ(run(""), 1);
  EXPECT_EQ(files_run().front(), "scenarios/b.yaml");  // failed last time
  EXPECT_EQ(run("SCENARIOS=missing"), 2);
  EXPECT_EQ(run("RESULTS=/dev/null/results"), 2);
}

TEST_F(CopiedIntoCi, TheScriptAsksForTheEngineThatItSearches) {
  Called const none = shell("ADAMANT=PROGRAM SEARCH=1s sh ci/adamant.sh");
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err, "SEARCH needs ENGINE: without one it would search adamant's own engine\n");
  write("adamant", "echo \"$@\" >> calls\n");
  std::string const fake = "chmod +x adamant; ADAMANT=./adamant ";
  EXPECT_EQ(shell(fake + "sh ci/adamant.sh").status, 0);
  std::string const in = "adamant-results/";
  std::string const run = " --shard 0/1 --timeout 600 --cache " + in + "cache --junit " + in +
                          "scenarios.xml --json " + in + "scenarios.json";
  EXPECT_EQ(read("calls"), "run scenarios" + run + "\n");
  std::filesystem::remove(folder_ / "calls");
  std::string const mine = "ENGINE='exec:my engine' KNOWN=known.yaml HTML=1 SEARCH=5m SEED=7 ";
  EXPECT_EQ(shell(fake + mine + "sh ci/adamant.sh").status, 0);
  EXPECT_EQ(read("calls"), "run scenarios --engine exec:my engine" + run + " --html " + in +
                               "scenarios.html\nfuzz --engine exec:my engine --known known.yaml "
                               "--for 5m --seed 7 --out " +
                               in + "found --junit " + in + "search.xml --json " + in +
                               "search.json --html " + in + "search.html\n");
}

// The action's steps but the one that installs, as the workflow's jobs call it.
TEST_F(CopiedIntoCi, GitHubsJobsHoldAllScenariosTogether) {
  YAML::Node const job = YAML::LoadFile(source + "/scenarios/ci/github.yml")["jobs"]["scenarios"];
  std::string const folder = source + "/.github/actions/adamant";
  YAML::Node const action = YAML::LoadFile(folder + "/action.yml");
  YAML::Node steps;
  for (auto const& step : action["runs"]["steps"])
    if (step["run"] && step["name"].as<std::string>() != "Install") steps.push_back(step["run"]);
  ASSERT_EQ(steps.size(), 1U);
  for (auto const& input : job["steps"][1]["with"])
    EXPECT_TRUE(action["inputs"][input.first.as<std::string>()]) << input.first;
  ASSERT_EQ(job["steps"][1]["with"]["shard"].as<std::string>(), "${{ matrix.part }}/4");
  ASSERT_EQ(job["strategy"]["matrix"]["part"].size(), 4U);
  break_one();
  std::vector<int> statuses;
  std::size_t files = 0;
  for (auto const& part : job["strategy"]["matrix"]["part"]) {
    std::string const shard = part.as<std::string>() + "/4";
    Called const called = execute(
        "GITHUB_ACTIONS=true GITHUB_ACTION_PATH='" + folder + "' ENGINE= SEARCH= SHARD=" + shard,
        steps);
    statuses.push_back(called.status);
    files += files_run().size();
    bool const told = called.out.find("::error file=scenarios/b.yaml") != std::string::npos;
    EXPECT_EQ(told, called.status == 1) << called.out;
  }
  EXPECT_EQ(statuses, (std::vector<int>{0, 1, 0, 0}));
  EXPECT_EQ(files, 2U);
}

// The steps of the template but those that install.
TEST_F(CopiedIntoCi, GitLabsJobsHoldAllScenariosTogether) {
  auto const documents = YAML::LoadAllFromFile(source + "/scenarios/ci/gitlab.yml");
  ASSERT_EQ(documents.size(), 2U);
  YAML::Node const job = documents[1]["scenarios"];
  ASSERT_EQ(job["parallel"].as<std::string>(), "$[[ inputs.jobs ]]");
  int const total = documents[0]["spec"]["inputs"]["jobs"]["default"].as<int>();
  break_one();
  std::size_t files = 0;
  for (int index = 1; index <= total; ++index) {
    Called const called = execute("KIT=ci ENGINE= SEARCH= CI_NODE_INDEX=" + std::to_string(index) +
                                      " CI_NODE_TOTAL=" + std::to_string(total),
                                  job["script"]);
    EXPECT_EQ(called.status, index == 2 ? 1 : 0) << called.out << called.err;
    files += files_run().size();
  }
  EXPECT_EQ(files, 2U);
}

/// The file by which shards of a campaign are started, with a planted bug.
class CopiedToMachines : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    std::filesystem::copy(source + "/scenarios/ci/campaign.sh", folder_ / "campaign.sh");
  }
  /// What a merge of `campaign` says and writes.
  std::string merged(std::string const& campaign) const {
    Called const called =
        shell("rm -rf found; PROGRAM merge " + campaign + " --out found --json ledger.json");
    EXPECT_EQ(called.status, 1) << called.err;
    return called.out + read("ledger.json") + shell("tail -n +1 found/*").out;
  }
  static std::string const planted;
};

std::string const CopiedToMachines::planted = " sh campaign.sh --bug te_2795";

TEST_F(CopiedToMachines, ASlurmArrayIsAllShards) {
  // As Slurm sets them for #SBATCH --array=FIRST-LAST.
  std::string const text = read("campaign.sh");
  int first = -1;
  int last = -1;
  auto const directive = text.find("#SBATCH --array=");
  ASSERT_NE(directive, std::string::npos);
  ASSERT_EQ(std::sscanf(text.c_str() + directive, "#SBATCH --array=%d-%d", &first, &last), 2);
  int const count = last - first + 1;
  ASSERT_GT(count, 1);
  for (int id = first; id <= last; ++id) {
    Called const called = shell(
        "ADAMANT=PROGRAM CAMPAIGN=kept CASES=160 SEED=3 SLURM_ARRAY_TASK_ID=" + std::to_string(id) +
        " SLURM_ARRAY_TASK_MIN=" + std::to_string(first) +
        " SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=" + std::to_string(count) + planted);
    EXPECT_EQ(called.status, 0) << "what it finds does not take the array down" << called.err;
  }
  merged("kept");
  EXPECT_EQ(read_json("ledger.json").at("cases"), 160);
  EXPECT_EQ(read_json("ledger.json").at("shards").size(), static_cast<std::size_t>(count));
}

TEST_F(CopiedToMachines, EachLauncherSaysWhichShardItIs) {
  auto const options = [&](std::string const& variables) {
    return shell("ADAMANT=echo " + variables + " sh campaign.sh --strict").out;
  };
  std::string const before = "fuzz --campaign adamant-campaign --shard ";
  std::string const after = " --cases 1000000 --strict\n";
  // sbatch --array=3-7:2
  EXPECT_EQ(options("SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7 "
                    "SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=3"),
            before + "1/3" + after);
  // Within a batch job: its script is task 0, whatever its steps are.
  EXPECT_EQ(options("SLURM_PROCID=0 SLURM_NTASKS=4 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 "
                    "PMIX_RANK=2"),
            before + "2/4" + after);
  // mpiexec.hydra in a batch job starts one task of a step for all of its own.
  EXPECT_EQ(options("PMI_RANK=1 PMI_SIZE=2 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1"),
            before + "1/2" + after);
  EXPECT_EQ(options("SLURM_STEP_ID=0 SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=6"),
            before + "5/6" + after);
  EXPECT_EQ(options("PMIX_RANK=3 SHARDS=5"), before + "3/5" + after);
  EXPECT_EQ(options("JOB_COMPLETION_INDEX=7 SHARDS=8"), before + "7/8" + after);
  EXPECT_EQ(options("RANK=0 WORLD_SIZE=2"), before + "0/2" + after);
  EXPECT_EQ(options("SHARD=0/9 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4"),
            before + "0/9" + after);
  EXPECT_EQ(options("SHARD=0/9 SLURM_CPUS_PER_TASK=3 SEED=7 CASES=5 CAMPAIGN='a b'"),
            "fuzz --campaign a b --shard 0/9 --cases 5 --seed 7 --jobs 3 --strict\n");
}

TEST_F(CopiedToMachines, SaysWhatNoLauncherSaid) {
  auto const said = [&](std::string const& variables) {
    Called const called = shell("ADAMANT=echo " + variables + " sh campaign.sh");
    EXPECT_EQ(called.status, 2) << called.out;
    return called.err;
  };
  std::string const none =
      "campaign.sh: no launcher says which shard this is; set SHARD, such as 3/8\n";
  EXPECT_EQ(said(""), none);
  EXPECT_EQ(said("SLURM_PROCID=0 SLURM_NTASKS=8"), none) << "all but one would be missing";
  EXPECT_EQ(said("JOB_COMPLETION_INDEX=3"),
            "campaign.sh: JOB_COMPLETION_INDEX says which shard this is, and nothing says of how "
            "many; set SHARDS, such as 8\n");
}

TEST_F(CopiedToMachines, AnIndexedJobOfKubernetesIsAllShards) {
  YAML::Node const job = YAML::LoadFile(source + "/scenarios/ci/kubernetes.yml")["spec"];
  EXPECT_EQ(job["completionMode"].as<std::string>(), "Indexed");
  YAML::Node const container = job["template"]["spec"]["containers"][0];
  std::string variables = "JOB_COMPLETION_INDEX=4 ";  // as Kubernetes sets it
  for (auto const& variable : container["env"])
    variables +=
        variable["name"].as<std::string>() + "='" + variable["value"].as<std::string>() + "' ";
  EXPECT_NE(variables.find("SHARDS='" + job["completions"].as<std::string>() + "'"),
            std::string::npos);
  EXPECT_EQ(container["command"][1].as<std::string>(), "/campaign/campaign.sh");
  EXPECT_EQ(shell("ADAMANT=echo " + variables + " sh campaign.sh").out,
            "fuzz --campaign /campaign/nightly --shard 4/8 --cases 1000000\n");
}

TEST_F(CopiedToMachines, EndsLikeTheProgramButForFindings) {
  EXPECT_EQ(shell("ADAMANT=PROGRAM SHARD=0/2 CASES=4 CAMPAIGN=/dev/null/x sh campaign.sh").status,
            2);
  EXPECT_EQ(shell("ADAMANT=PROGRAM SHARD=0/2 CASES=4 sh campaign.sh").status, 0);
  EXPECT_TRUE(exists("adamant-campaign/0-of-2/journal.jsonl"));
}

TEST_F(CopiedToMachines, UnderMpirunAKilledShardGoesOn) {
  if (shell("command -v mpirun").status != 0) GTEST_SKIP() << "mpirun is not installed";
  for (char const* const shard : {"0", "1", "2"})
    EXPECT_EQ(shell("ADAMANT=PROGRAM CAMPAIGN=whole CASES=4500 SEED=3 SHARD=" + std::string(shard) +
                    "/3" + planted)
                  .status,
              0);
  // Each shard leaves its process id, so that one can be killed.
  write("adamant", "#!/bin/sh\necho $$ > pid.$OMPI_COMM_WORLD_RANK\nexec PROGRAM \"$@\"\n");
  ASSERT_EQ(shell("sed -i s:[P]ROGRAM:PROGRAM: adamant && chmod +x adamant").status, 0);
  std::string const mpirun =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ADAMANT=./adamant CAMPAIGN=kept "
      "CASES=4500 SEED=3 JOBS=1 mpirun --oversubscribe -n 3" +
      planted;
  Called const killed =
      shell(mpirun +
            " & mpi=$!; for i in $(seq 6000); do [ -s kept/1-of-3/journal.jsonl ] && break;"
            " sleep 0.01; done; kill -KILL $(cat pid.1); wait $mpi");
  EXPECT_NE(killed.status, 0) << "it was over before it was killed";
  Called const again = shell(mpirun);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(again.out.find("kept/1-of-3 goes on after "), std::string::npos) << again.out;
  std::string const expected = merged("whole");
  EXPECT_EQ(merged("kept"), expected);
}

TEST(OwnCi, CallsWhatTheProjectCallsItself) {
  YAML::Node const steps =
      YAML::LoadFile(source + "/.github/workflows/ci.yml")["jobs"]["run"]["steps"];
  EXPECT_EQ(steps[steps.size() - 1]["run"].as<std::string>(), ".ci/run");
}

}  // namespace
}  // namespace adamant::scenarios
