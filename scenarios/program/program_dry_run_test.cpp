// `adamant run --dry-run` as its users call it.
#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

using DryRunProgram = ProgramTest;

TEST_F(DryRunProgram, PrintsBytesByPurposeAndRank) {
  write("small.yaml",
        "adamant: 1\nname: small\nseed: 7\nworld: {shard: 3}\n"
        "params: [{name: w, shape: [4, 4]}]\nprogram: [train: 1]\n");
  Called const called = call("run --dry-run small.yaml");
  ASSERT_EQ(called.status, 0) << called.err;
  EXPECT_NE(called.out.find("not executed: engine sim, seed 7, 1 operations"), std::string::npos)
      << called.out;
  EXPECT_NE(called.out.find("    ranks 0-1\n"), std::string::npos) << called.out;
  EXPECT_NE(called.out.find("    rank 2\n"), std::string::npos) << called.out;
  EXPECT_NE(called.out.find("unsharded_parameters"), std::string::npos);
}

TEST_F(DryRunProgram, CountsWhatARunThenTakes) {
  write("small.yaml", passing_scenario());
  ASSERT_EQ(call("run small.yaml --dry-run --json dry.json").status, 0);
  ASSERT_EQ(call("run small.yaml --json run.json").status, 0);
  auto const dry = read_json("dry.json").at("results").at(0);
  auto const run = read_json("run.json").at("results").at(0);
  EXPECT_EQ(dry.at("dry_run"), true);
  EXPECT_EQ(dry.at("outcome"), "pass");
  EXPECT_EQ(dry.at("met"), true);
  EXPECT_GT(dry.at("memory").at("by_purpose").size(), 4U);
  EXPECT_EQ(dry.at("memory").at("by_purpose"), run.at("memory").at("by_purpose"));
  EXPECT_FALSE(run.contains("dry_run"));
}

TEST_F(DryRunProgram, TakesAModelThatNoMachineHolds) {
  write("llama.yaml",
        "adamant: 1\nname: llama\nseed: 7\nworld: {shard: 8}\nparams: {model: llama-3-8b}\n"
        "precision: {param: bf16, main: fp32}\nprogram: [train: 1000000]\n");
  Called const called = call("run --dry-run llama.yaml --timeout 20");
  EXPECT_EQ(called.status, 0) << called.err;
  EXPECT_NE(called.out.find("    ranks 0-7\n"), std::string::npos) << called.out;
  EXPECT_NE(called.out.find("4,015,130,624"), std::string::npos) << called.out;
}

TEST_F(DryRunProgram, AMillionRanksTakeNoTime) {
  write("many.yaml",
        "adamant: 1\nname: many\nseed: 7\nworld: {shard: 1048576}\n"
        "params: {model: llama-3-8b}\nmicrobatches: 1\nprogram: [train: 1]\n");
  Called const called = call("run --dry-run many.yaml --timeout 20");
  EXPECT_EQ(called.status, 0) << called.err;
  EXPECT_NE(called.out.find("-1048575\n"), std::string::npos) << called.out;
}

TEST_F(DryRunProgram, ARefusalIsThatOfARun) {
  std::string const unknown = "seed: 7\nprecision: {param: fp32, main: fp32}\n";
  write("refused.yaml", passing_scenario(unknown));
  Called const called = call("run --dry-run refused.yaml --json out.json");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("refused.yaml:7: unsupported.duplicate_main: "), std::string::npos)
      << called.err;
  EXPECT_EQ(read_json("out.json").at("results").at(0).at("outcome"), "refused");
  write("refused.yaml", passing_scenario(unknown + "expect: {refused: unsupported}\n"));
  EXPECT_EQ(call("run --dry-run refused.yaml").status, 0);
}

TEST_F(DryRunProgram, ARefusalThatIsExpectedAndDoesNotComeIsOne) {
  write("small.yaml", passing_scenario("seed: 7\nexpect: {refused: unsupported.layout}\n"));
  EXPECT_EQ(call("run --dry-run small.yaml").status, 1);
  write("small.yaml", passing_scenario("seed: 7\nexpect: {refused: damaged_checkpoint}\n"));
  EXPECT_EQ(call("run --dry-run small.yaml").status, 0);
  write("small.yaml", passing_scenario("seed: 7\nexpect: {violates: order.race}\n"));
  EXPECT_EQ(call("run --dry-run small.yaml").status, 0);
}

TEST_F(DryRunProgram, GoesThroughFilesAndDirectories) {
  write("many/a.yaml", passing_scenario());
  write("many/deep/b.yaml", passing_scenario("speed: 9\n"));
  Called const called = call("run --dry-run many --json out.json");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("b.yaml:6: speed:"), std::string::npos) << called.err;
  auto const results = read_json("out.json").at("results");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results.at(0).at("dry_run"), true);
  EXPECT_EQ(results.at(1).at("outcome"), "error");
}

TEST_F(DryRunProgram, WritesNothingThatAnExecutionLeaves) {
  write("small.yaml", passing_scenario());
  for (char const* const option : {"--dump d", "--trace t", "--html h", "--schedules 2", "--list"})
    EXPECT_EQ(call(std::string("run --dry-run small.yaml ") + option).status, 2) << option;
  EXPECT_EQ(call("run --dry-run --quiet small.yaml").out, "");
}

}  // namespace
}  // namespace adamant::scenarios
