// `adamant minimize` as its users call it.
#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

using MinimizeProgram = ProgramTest;

constexpr char const* failing = R"(adamant: 1
name: Too large to read
seed: 5
world: {shard: 3}
params:
  - {name: embed, shape: [7, 3], group: slow}
  - {name: head, shape: [11]}
groups: {slow: {lr: 1e-4}}
optimizer: {weight_decay: 0.1}
microbatches: 5
program:
  - train: 2
  - set: {lr: 0.5}
  - backward: {without: [head]}
  - step
  - check
bug: mean_not_divided
)";

TEST_F(MinimizeProgram, PrintsWhatIsLeftOfAScenario) {
  write("large.yaml", failing);
  Called const called = call("minimize large.yaml --json out.json");
  EXPECT_EQ(called.status, 0) << called.err;
  EXPECT_EQ(called.out.rfind("# values.bitwise: operation 0, rank 0, p0/gradient[0]\n", 0), 0U)
      << called.out;
  EXPECT_NE(called.out.find("# replay: adamant run mean_not_divided.yaml\n"), std::string::npos);
  EXPECT_NE(
      called.out.find("\nadamant: 1\nname: mean_not_divided breaks values.bitwise with gradient "
                      "at backward\nseed: 0\n\n"
                      "world: {shard: 1}\nparams:\n  - {name: p0, shape: [1]}\n"
                      "microbatches: 2\n\nprogram:\n  - backward\n\n"
                      "bug: mean_not_divided\nexpect: {violates: values.bitwise}\n"),
      std::string::npos)
      << called.out;
  EXPECT_NE(called.err.find("minimised from 5 operations on 3 ranks to 1 operation on 1 rank"),
            std::string::npos)
      << called.err;
  EXPECT_NE(called.err.find(" run -\n"), std::string::npos) << "no file was written to replay";
  auto const result = read_json("out.json").at("results").at(0);
  EXPECT_EQ(result.at("operations"), 1);
  EXPECT_EQ(result.at("violations").at(0).at("law"), "values.bitwise");
}

TEST_F(MinimizeProgram, WritesAFileThatRepeatsItsDigest) {
  write("large.yaml", failing);
  Called const called = call("minimize large.yaml -o small.yaml --json out.json");
  ASSERT_EQ(called.status, 0) << called.err;
  EXPECT_NE(called.out.find("replay: "), std::string::npos) << called.out;
  auto const digest = read_json("out.json").at("results").at(0).at("digest").get<std::string>();
  EXPECT_NE(read("small.yaml").find("# digest " + digest + "\n"), std::string::npos);
  EXPECT_EQ(call("run small.yaml --json again.json").status, 0);
  EXPECT_EQ(read_json("again.json").at("results").at(0).at("digest"), digest);
  std::string const once = read("small.yaml");
  ASSERT_EQ(shell("mkdir again; PROGRAM minimize small.yaml -o again/small.yaml").status, 0);
  EXPECT_EQ(read("again/small.yaml"), once) << "a minimised scenario stays as it is";
}

TEST_F(MinimizeProgram, AFailureThatNeedsAScheduleIsLookedForUnderSeveral) {
  write("hidden.yaml", R"(adamant: 1
name: A wait that only some schedules miss
seed: 5
world: {shard: 1}
params:
  - {name: embed, shape: [2]}
program:
  - backward
  - check
bug: ds_7898
)");
  EXPECT_EQ(call("minimize hidden.yaml").status, 1) << "its own schedule hides it";
  Called const called = call("minimize hidden.yaml --schedules 20 -o small.yaml");
  ASSERT_EQ(called.status, 0) << called.err;
  std::string const once = read("small.yaml");
  EXPECT_EQ(once.find("- check"), std::string::npos) << once;
  EXPECT_EQ(call("run small.yaml").status, 0) << "the file needs no further schedules";
  ASSERT_EQ(call("minimize hidden.yaml --schedules 20 --jobs 1 -o small.yaml").status, 0);
  EXPECT_EQ(read("small.yaml"), once) << "the same each time";
}

TEST_F(MinimizeProgram, AScenarioThatDoesNotFailIsSaid) {
  write("fine.yaml", passing_scenario());
  Called const called = call("minimize fine.yaml -o small.yaml");
  EXPECT_EQ(called.status, 1);
  EXPECT_EQ(called.err,
            "fine.yaml: does not fail (expected pass, outcome pass): nothing to minimise\n");
  EXPECT_FALSE(exists("small.yaml"));
  EXPECT_EQ(call("minimize fine.yaml --schedules 2").err,
            "fine.yaml: does not fail under its own schedule and 2 more (expected pass, outcome "
            "pass): nothing to minimise\n");
}

TEST_F(MinimizeProgram, BadInputIsSaid) {
  EXPECT_EQ(call("minimize nowhere.yaml").status, 2);
  write("broken.yaml", "adamant: 1\nname: x\n");
  EXPECT_EQ(call("minimize broken.yaml").status, 2);
  write("refused.yaml", passing_scenario("seed: 7\nschedule: {strategy: exhaustive}\n"));
  Called const refused = call("minimize refused.yaml");
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("unsupported.schedule"), std::string::npos) << refused.err;
  write("fine.yaml", passing_scenario());
  EXPECT_EQ(call("minimize fine.yaml --json -").status, 2) << "two documents, one output";
  EXPECT_EQ(call("minimize fine.yaml -o nowhere/small.yaml").status, 2);
}

TEST_F(MinimizeProgram, AnInterruptEndsWith130) {
  write("large.yaml", failing);
  Called const called =
      shell("PROGRAM minimize large.yaml --jobs 1 -o small.yaml --json out.json & pid=$!; " +
            until_exists(".out.json.*.tmp") + "kill -INT $pid; wait $pid");
  // Where the machine is fast it has ended before.
  EXPECT_TRUE(called.status == 130 || called.status == 0) << called.status << called.err;
  if (called.status == 0) return;
  EXPECT_EQ(read_json("out.json").at("interrupted"), true);
}

}  // namespace
}  // namespace adamant::scenarios
