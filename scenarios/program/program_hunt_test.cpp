// `adamant hunt` as its users call it.
#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

using HuntProgram = ProgramTest;

TEST_F(HuntProgram, FindsABugAndTheCanaryAndWritesWhatRepeatsThem) {
  Called const called =
      call("hunt mean_not_divided --seed 3 --searches 3 --out found --json out.json");
  ASSERT_EQ(called.status, 0) << called.out << called.err;
  auto const document = read_json("out.json");
  ASSERT_EQ(document.at("results").size(), 2U) << "the canary is always hunted";
  for (auto const& result : document.at("results")) {
    EXPECT_EQ(result.at("found"), true);
    EXPECT_EQ(result.at("law"), "values.bitwise");
    EXPECT_GE(result.at("cases").get<int>(), 1);
    EXPECT_GT(result.at("seconds").get<double>(), 0);
    EXPECT_EQ(result.at("minimized_file"),
              "found/" + result.at("bug").get<std::string>() + ".yaml");
  }
  EXPECT_EQ(call("run found").status, 0);
}

TEST_F(HuntProgram, ShardsShareTheBugsAndHuntTheCanaryEach) {
  std::string bugs;
  for (char const* const shard : {"0", "1"}) {
    ASSERT_EQ(call("hunt mean_not_divided counter_off_by_one --seed 3 --searches 1 --out found "
                   "--json out.json"
                   " --shard " +
                   std::string(shard) + "/2")
                  .status,
              0);
    auto const document = read_json("out.json");
    for (auto const& result : document.at("results"))
      bugs += result.at("bug").get<std::string>() + " ";
    EXPECT_TRUE(exists(std::string("found/") + shard + "-of-2/canary.yaml"));
  }
  EXPECT_EQ(bugs, "canary counter_off_by_one canary mean_not_divided ");
}

TEST_F(HuntProgram, WhatIsNotFoundEndsWithOne) {
  Called const called = call("hunt mean_not_divided --seed 3 --searches 1 --cases 1");
  EXPECT_EQ(called.status, 1) << called.out;
  EXPECT_NE(called.out.find("1 of 2 bugs found, 1 search each: "), std::string::npos) << called.out;
  EXPECT_NE(called.out.find("MISSED  mean_not_divided"), std::string::npos) << called.out;
  EXPECT_EQ(called.err.find("the alarm is broken"), std::string::npos)
      << "the canary needs one case";
}

// It takes thousands of cases: who did not stop would find it.
TEST_F(HuntProgram, EndsASearchWhenItsTimeIsOver) {
  Called const called = shell(
      "timeout 120 PROGRAM hunt hdo_dummy_step --seed 3 --searches 1 --for 200ms --json out.json");
  EXPECT_EQ(called.status, 1) << called.out << called.err;
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("limit_seconds"), 0.2);
  EXPECT_EQ(document.at("found"), 1) << "the canary alone";
}

// A find that there is no time to minimise is written as it was found.
TEST_F(HuntProgram, LeavesAFindAsItIsWhereTimeIsOver) {
  Called const called =
      call("hunt canary --seed 3 --searches 1 --for 1ms --out found --json out.json");
  EXPECT_EQ(called.status, 0) << called.out << called.err;
  EXPECT_EQ(read_json("out.json").count("median_minimize_seconds"), 0U);
  EXPECT_NE(read("found/canary.yaml").find("not minimised"), std::string::npos);
}

TEST_F(HuntProgram, AnUnknownBugNamesTheNearest) {
  Called const called = call("hunt mean_not_devided");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("did you mean `mean_not_divided`?"), std::string::npos) << called.err;
}

TEST_F(HuntProgram, WithoutMutantsNamesTheTargetThatHasThem) {
  std::filesystem::copy(ADAMANT_PROGRAM, folder_ / "alone");
  Called const called = shell("./alone hunt --mutants");
  EXPECT_EQ(called.status, 3);
  EXPECT_NE(called.err.find("--target adamant_mutants"), std::string::npos) << called.err;
}

TEST_F(HuntProgram, AnInterruptEndsWith130) {
  Called const called =
      shell("PROGRAM hunt --searches 1000 --seed 1 --json out.json & pid=$!; " +
            until_exists(".out.json.*.tmp") + "sleep 0.5; kill -INT $pid; wait $pid");
  EXPECT_EQ(called.status, 130);
  EXPECT_EQ(read_json("out.json").at("interrupted"), true);
}

}  // namespace
}  // namespace adamant::scenarios
